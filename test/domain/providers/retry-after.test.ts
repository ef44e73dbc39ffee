import { describe, expect, it } from '@jest/globals';
import { retryAfterMs } from '../../../lambdas/domain/providers/retry-after.ts';

const NOW = Date.UTC(2026, 0, 6, 12, 15, 0);

describe('Retry-After', () => {
  it.each([
    ['seconds', '30', 30_000],
    ['a fraction of a second, rounded up to the shortest block', '0.2', 1_000],
    ['zero: at least a second', '0', 1_000],
    ['a huge number: at most fifteen minutes', '99999999999', 900_000],
    ['a date in the future', 'Tue, 06 Jan 2026 12:15:42 GMT', 42_000],
    ['a date in the past: at least a second', 'Tue, 06 Jan 2026 12:00:00 GMT', 1_000],
    ['a date far away: at most fifteen minutes', 'Tue, 06 Jan 2099 12:15:42 GMT', 900_000],
    ['the obsolete form of a date with a two-digit year', 'Tuesday, 06-Jan-26 12:15:42 GMT', 42_000],
    ['the form of asctime, which is in GMT too', 'Tue Jan  6 12:15:42 2026', 42_000],
    ['spaces around it', ' 7 ', 7_000],
  ])('understands %s', (_, value, expected) => {
    expect(retryAfterMs({ 'retry-after': value }, NOW)).toBe(expected);
  });

  it.each(['soon', '', '-5', '1e3', '120, 60', 'NaN', '2026-01-06T12:16:00Z', 'Tue, 99 Jan 2026 12:15:42 GMT'])(
    'makes nothing of %p',
    (value) => {
      expect(retryAfterMs({ 'retry-after': value }, NOW)).toBeUndefined();
    },
  );

  it('is undefined without the header', () => {
    expect(retryAfterMs({}, NOW)).toBeUndefined();
  });

  it("measures a date by the answer's own clock, because ours may differ by minutes", () => {
    const headers = { 'retry-after': 'Tue, 06 Jan 2026 12:30:10 GMT', date: 'Tue, 06 Jan 2026 12:30:00 GMT' };
    expect(retryAfterMs(headers, NOW)).toBe(10_000);
  });
});
