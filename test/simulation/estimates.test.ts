import { describe, expect, it, jest } from '@jest/globals';
import type { EstimatesOptions } from './estimated-drain.ts';
import { FULL_ESTIMATES, isWithin, runEstimates, SHARED_ESTIMATES } from './estimates.ts';

jest.setTimeout(120_000);

/** The same drain with a quarter of the records, of the rate and of the workers: it lasts as long. */
const smaller = (options: EstimatesOptions): EstimatesOptions => ({
  ...options,
  records: { small: 0, bulk: options.records.bulk / 4 },
  workers: { small: 0, bulk: Math.ceil(options.workers.bulk / 4) },
  ratePerSecond: options.ratePerSecond / 4,
});

describe('the estimated completion of a submission that is being drained', () => {
  it.each([
    ['alone, in any order, of records that are shorter than believed', smaller(FULL_ESTIMATES)],
    [
      'alone, in any order, of records that are longer than believed',
      smaller({ ...FULL_ESTIMATES, bytesPerRecord: 900 }),
    ],
    ['beside another lane, at a share of a quarter', SHARED_ESTIMATES],
  ])('is within a fifth of what remains, or the fixed overhead: %s', async (_how, options) => {
    const result = await runEstimates(options);
    const lanes = new Set(result.samples.map(({ lane }) => lane));
    expect([lanes.size, result.samples.length > 40]).toEqual([options.records.small > 0 ? 2 : 1, true]);
    expect(result.samples.some(({ snapshotAgeMs = 0 }) => snapshotAgeMs > 20_000)).toBe(true);
    expect(result.samples.filter((sample) => !isWithin(sample))).toEqual([]);
  });
});
