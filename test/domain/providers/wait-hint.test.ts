import { describe, expect, it } from '@jest/globals';
import { readWaitHint, unreadableWait } from '../../../lambdas/domain/providers/wait-hint.ts';

const NOW = Date.UTC(2026, 0, 6, 12, 15, 0);
const EPOCH = String(NOW / 1_000 + 42);

describe('Retry-After', () => {
  it.each([
    ['seconds', '30', 30_000],
    ['a fraction of a second, rounded up to the shortest wait', '0.2', 1_000],
    ['zero: at least a second', '0', 1_000],
    ['a huge number: at most fifteen minutes', '99999999', 900_000],
    ['a time in seconds since 1970', EPOCH, 42_000],
    ['a time in milliseconds since 1970', `${EPOCH}000`, 42_000],
    ['a time that has passed', '1764500000', 1_000],
    ['a date in the future', 'Tue, 06 Jan 2026 12:15:42 GMT', 42_000],
    ['a date in the past: at least a second', 'Tue, 06 Jan 2026 12:00:00 GMT', 1_000],
    ['a date far away: at most fifteen minutes', 'Tue, 06 Jan 2099 12:15:42 GMT', 900_000],
    ['the obsolete form of a date with a two-digit year', 'Tuesday, 06-Jan-26 12:15:42 GMT', 42_000],
    ['the form of asctime, which is in GMT too', 'Tue Jan  6 12:15:42 2026', 42_000],
    ['an ISO date', '2026-01-06T12:16:00Z', 60_000],
    ['spaces around it', ' 7 ', 7_000],
  ])('understands %s', (_, value, waitMs) => {
    expect(readWaitHint({ 'retry-after': value }, NOW)).toMatchObject({ header: 'retry-after', waitMs });
  });

  it.each(['soon', '', '-5', '1e3', '120, 60', 'NaN', 'Tue, 99 Jan 2026 12:15:42 GMT'])(
    'makes nothing of %p, and says so',
    (value) => {
      const headers = { 'retry-after': value };
      expect(readWaitHint(headers, NOW)).toBeUndefined();
      expect(unreadableWait(headers, NOW)).toBe(`retry-after "${value}" cannot be read.`);
    },
  );

  it('is undefined without the header', () => {
    expect(readWaitHint({}, NOW)).toBeUndefined();
    expect(unreadableWait({}, NOW)).toBeUndefined();
  });

  it("measures a date by the answer's own clock, because ours may differ by minutes", () => {
    const date = 'Tue, 06 Jan 2026 12:30:00 GMT';
    expect(readWaitHint({ 'retry-after': 'Tue, 06 Jan 2026 12:30:10 GMT', date }, NOW)?.waitMs).toBe(10_000);
    expect(readWaitHint({ 'retry-after': String(Date.parse(date) / 1_000 + 10), date }, NOW)?.waitMs).toBe(10_000);
  });

  it.each([
    ['30', undefined],
    ['600000', 'retry-after "600000" asks for more than 900 s: 900 s.'],
    [EPOCH, `retry-after "${EPOCH}" was read as a time: 42 s.`],
    ['4102444800', 'retry-after "4102444800" was read as a time and asks for more than 900 s: 900 s.'],
  ])('of %s says in the log how it was read', (value, note) => {
    expect(readWaitHint({ 'retry-after': value }, NOW)?.note).toBe(note);
  });

  it('puts nothing but printable characters into the log, and few of them', () => {
    const text = unreadableWait({ 'retry-after': `ä\n${'x'.repeat(200)}` }, NOW);
    expect(text).toMatch(/^retry-after "\?\?x{58}" cannot be read\.$/);
  });
});

describe('other headers that say when calls are welcome again', () => {
  it.each([
    ['x-ratelimit-reset', '12', 12_000],
    ['x-ratelimit-reset', EPOCH, 42_000],
    ['x-ratelimit-reset', 'Tue, 06 Jan 2026 12:15:42 GMT', 42_000],
    ['x-rate-limit-reset', '12', 12_000],
    ['ratelimit-reset', '12', 12_000],
    ['ratelimit', '"default";r=0;t=12', 12_000],
    ['ratelimit', 'limit=100, remaining=0, reset=12', 12_000],
  ])('%s: %s', (header, value, waitMs) => {
    expect(readWaitHint({ [header]: value }, NOW)).toMatchObject({ header, waitMs });
  });

  it('count only where Retry-After says nothing usable', () => {
    expect(readWaitHint({ 'retry-after': '5', 'x-ratelimit-reset': '12' }, NOW)?.waitMs).toBe(5_000);
    expect(readWaitHint({ 'retry-after': 'soon', 'x-ratelimit-reset': '12' }, NOW)?.waitMs).toBe(12_000);
  });

  it('without a time are no hint', () => {
    expect(readWaitHint({ ratelimit: '"default";r=0' }, NOW)).toBeUndefined();
  });
});
