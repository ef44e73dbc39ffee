import { describe, expect, test } from '@jest/globals';
import { CallCounters } from '../../../local/providers/counters.ts';
import { parseChange, SettingsTimeline, type Settings } from '../../../local/providers/settings.ts';
import { TokenBucket } from '../../../local/providers/token-bucket.ts';

const INITIAL: Settings = { latencyMs: 20, ratePerSecond: 100, burst: 5, mode: 'ok' };

describe('a change of the settings', () => {
  test.each([
    ['{"mode":"broken"}', 'mode must be one of ok, outage, hang', '"broken"'],
    ['{"latency":5}', 'Unknown field "latency"', 'latencyMs, ratePerSecond, burst, mode, status, retryAfter, forMs'],
    ['{"ratePerSecond":0}', 'ratePerSecond must be a number above 0', 'it was 0'],
    ['{"burst":1.5}', 'burst must be a whole number from 1', '1.5'],
    ['{"status":99}', 'status must be an HTTP status from 200 to 599', '99'],
    ['[]', 'The body must be an object', 'latencyMs'],
    ['mode=ok', 'The body is not JSON', 'mode'],
  ])('%s is refused by name, with what is allowed', (body, sentence, detail) => {
    expect(() => parseChange(body)).toThrow(sentence);
    expect(() => parseChange(body)).toThrow(detail);
  });

  test('leaves alone what it does not name', () => {
    const timeline = new SettingsTimeline(INITIAL);
    timeline.change({ ratePerSecond: 7 }, 0);
    timeline.change({ mode: 'outage' }, 0);
    expect(timeline.at(1)).toMatchObject({ ratePerSecond: 7, mode: 'outage', burst: 5, latencyMs: 20 });
  });

  test('with a duration ends by itself and gives back what was set before', () => {
    const timeline = new SettingsTimeline(INITIAL);
    timeline.change({ mode: 'outage', latencyMs: 900, forMs: 30_000 }, 1000);
    expect(timeline.at(30_999)).toMatchObject({ mode: 'outage', latencyMs: 900 });
    expect(timeline.at(31_000)).toEqual(INITIAL);
  });

  test('that is lasting ends a temporary one', () => {
    const timeline = new SettingsTimeline(INITIAL);
    timeline.change({ mode: 'outage', forMs: 30_000 }, 0);
    timeline.change({ mode: 'ok' }, 10);
    expect(timeline.at(20).mode).toBe('ok');
  });

  test('to another mode forgets the status of the fault before', () => {
    const timeline = new SettingsTimeline(INITIAL);
    timeline.change({ mode: 'outage', status: 500, retryAfter: 9 }, 0);
    timeline.change({ mode: 'ok' }, 1);
    expect(timeline.at(2)).toMatchObject({ mode: 'ok', status: undefined, retryAfter: undefined });
  });
});

describe('the rate limit', () => {
  test('tolerates the burst, then one call per interval', () => {
    const bucket = new TokenBucket();
    const limit = { ratePerSecond: 10, burst: 3 };
    expect([0, 0, 0, 0].map((ms) => bucket.take(limit, ms))).toEqual([0, 0, 0, 100]);
    expect(bucket.take(limit, 99)).toBeCloseTo(1);
    expect(bucket.take(limit, 100)).toBe(0);
  });

  test('never saves up more than the burst', () => {
    const bucket = new TokenBucket();
    const limit = { ratePerSecond: 10, burst: 2 };
    bucket.take(limit, 0);
    expect([60_000, 60_000, 60_000].map((ms) => bucket.take(limit, ms) === 0)).toEqual([true, true, false]);
  });
});

describe('the counters', () => {
  test('find the busiest second wherever it begins', () => {
    const counters = new CallCounters();
    for (const ms of [0, 600, 1100, 1200, 1300, 2100, 9000]) counters.arrived('key', ms);
    expect(counters.totals()).toMatchObject({ calls: 7, peakPerSecond: 4 });
  });

  test('start again from zero after a reset', () => {
    const counters = new CallCounters();
    counters.arrived('key', 0);
    counters.ended('ok');
    counters.reset();
    counters.arrived('other', 10);
    expect(counters.totals()).toEqual({ calls: 1, ok: 0, throttled: 0, failed: 0, peakPerSecond: 1 });
    expect(counters.byKey()).toEqual({ other: 1 });
  });
});
