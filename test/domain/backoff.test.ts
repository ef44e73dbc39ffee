import { describe, expect, it } from '@jest/globals';
import { retryDelayMs, spreadMs } from '../../lambdas/domain/backoff.ts';

const most = () => 0.999_999;
const least = () => 0;

describe('the wait before another attempt', () => {
  it('may be as long as twice the one before', () => {
    expect([1, 2, 3, 4].map((attempt) => retryDelayMs(attempt, most))).toEqual([2_000, 4_000, 8_000, 16_000]);
  });
  it('is spread over its whole length, so that what failed together does not return together', () => {
    expect(retryDelayMs(4, least)).toBe(0);
    expect(retryDelayMs(4, () => 0.5)).toBe(8_000);
  });
  it('is bounded', () => {
    expect(retryDelayMs(60, most)).toBeLessThanOrEqual(300_000);
  });
});

describe('a wait for a moment that many wait for', () => {
  it('never ends before it, and spreads with its length', () => {
    expect(spreadMs(60_000, least)).toBe(60_000);
    expect(spreadMs(60_000, most)).toBe(75_000);
    expect(spreadMs(900_000, most)).toBe(960_000);
    expect(spreadMs(0, most, 3_000)).toBe(3_000);
    expect(spreadMs(-5, least)).toBe(0);
  });
});
