import { estimateCompletion, pacePerSecondOf, type EstimateInput } from '../../../lambdas/domain/api/estimate.ts';
import type { Backlog } from '../../../lambdas/domain/tenants/ports.ts';
import type { Submission } from '../../../lambdas/domain/model.ts';
import { makeProcessing, makeSubmission } from '../../support/factories.ts';
import { START_MS } from '../../support/memory/index.ts';

const countsOf = (total: number | null, pending: number, succeeded = 0) => ({
  total,
  pending,
  succeeded,
  failed: 0,
  cancelled: 0,
});
/** When the submissions of these tests were accepted: before any snapshot. */
const CREATED_MS = START_MS - 600_000;
const backlogOf = (small: number, bulk: number, ageMs = 0, openSubmissions = 9): Backlog => ({
  asOfMs: START_MS - ageMs,
  openRecords: { small, bulk },
  openSubmissions,
  troubledAtMs: 0,
});
const secondsLeft = (overrides: Partial<EstimateInput>): number | undefined => {
  const atMs = estimateCompletion({
    submission: makeProcessing(1_000, { lane: 'bulk', createdAtMs: CREATED_MS }),
    counts: countsOf(1_000, 1_000),
    backlog: undefined,
    pacePerSecond: 100,
    smallLaneShare: 0.5,
    nowMs: START_MS,
    ...overrides,
  });
  return atMs === undefined ? undefined : (atMs - START_MS) / 1_000;
};
/** From acceptance to the first record, and from the last one to the results. */
const OVERHEAD = 3;

describe('the pace', () => {
  test('is that of the slowest provider, a little below its limit', () => {
    expect(pacePerSecondOf({ company: 200, geo: 50 })).toBeCloseTo(50 * 0.985);
  });
});

describe('a submission that is counted', () => {
  test.each([
    ['alone', undefined, 10],
    ['alone, and part of the snapshot', backlogOf(0, 1_000), 10],
    ['alone, half a minute after the snapshot', backlogOf(0, 4_000, 30_000), 10],
    ['behind others in its lane', backlogOf(0, 3_000), 30],
    ['behind others, a part of which is done since the snapshot', backlogOf(0, 3_000, 10_000), 20],
    ['with little work in the other lane', backlogOf(200, 1_000), 12],
    ['with endless work in the other lane, of which it gets its share', backlogOf(100_000, 1_000), 20],
    ['where the snapshot is of a clock ahead', backlogOf(0, 1_000, -5_000), 10],
    ['alone, at a tenth of the pace that is configured', { ...backlogOf(0, 1_000), pacePerSecond: 10 }, 100],
    ['alone, at the pace that is configured, lower than before', { ...backlogOf(0, 1_000), pacePerSecond: 500 }, 10],
    ['when everything in the snapshot is done by now', backlogOf(0, 500, 60_000), 10],
  ])('%s', (_how, backlog, expected) => {
    expect(secondsLeft({ backlog })).toBeCloseTo(expected + OVERHEAD, 1);
  });

  test.each([
    ['small', 0.25, 'with endless work in the other lane', backlogOf(1_000, 100_000), 40],
    ['bulk', 0.25, 'with endless work in the other lane', backlogOf(100_000, 1_000), 1_000 / 75],
    // Within eight seconds both lanes worked: 200 of the small lane's are done, and 600 of the other's.
    ['small', 0.25, 'some seconds after the snapshot', backlogOf(1_000, 100_000, 8_000), 40],
    ['small', 0.8, 'with little work in the other lane', backlogOf(1_000, 100), 11],
  ] as const)(
    'in the %s lane, a share of %d for the small one, %s',
    (lane, smallLaneShare, _how, backlog, expected) => {
      const submission = makeProcessing(1_000, { lane, createdAtMs: CREATED_MS });
      expect(secondsLeft({ submission, backlog, smallLaneShare })).toBeCloseTo(expected + OVERHEAD, 1);
    },
  );

  // All but a few of its records are done, in any order: hardly a chunk is closed, and the snapshot has nearly all of them.
  const nearlyDone = { counts: countsOf(10_000, 500, 9_500) };
  const inAnyOrder = (overrides: Partial<Submission> = {}): Submission =>
    makeProcessing(10_000, { lane: 'bulk', createdAtMs: CREATED_MS, closedChunks: new Set([3, 9]), ...overrides });
  test.each([
    ['alone', backlogOf(0, 10_000, 10_000, 1), 5],
    ['alone in its lane', backlogOf(2_000, 10_000, 0, 2), 10],
    ['behind others in its lane, of whom there are as many as the snapshot has more', backlogOf(0, 11_500, 0, 2), 25],
    ['beside others, all of whom are done by now', backlogOf(0, 10_100, 10_000, 2), 5],
  ])('is not behind its own records, whatever the order: %s', (_how, backlog, expected) => {
    expect(secondsLeft({ submission: inAnyOrder(), ...nearlyDone, backlog })).toBeCloseTo(expected + OVERHEAD, 1);
  });

  test('is not in an older snapshot: all of that is ahead of it', () => {
    const submission = makeProcessing(1_000, { lane: 'bulk', createdAtMs: START_MS });
    expect(secondsLeft({ submission, backlog: backlogOf(0, 3_000, 10_000, 1) })).toBeCloseTo(30 + OVERHEAD, 1);
  });

  test('counts only what it has left', () => {
    expect(secondsLeft({ counts: countsOf(1_000, 200, 800) })).toBe(2 + OVERHEAD);
  });

  test('in the small lane does not wait for the bulk lane', () => {
    const submission = makeProcessing(50, { lane: 'small', createdAtMs: CREATED_MS });
    const counts = countsOf(50, 50);
    expect(secondsLeft({ submission, counts, backlog: backlogOf(50, 40_000) })).toBe(1 + OVERHEAD);
  });

  // A drain at the pace: every figure that is told on the way must be within a fifth of what is left.
  test.each([0, 7, 31, 59, 61, 119, 300, 390])('is right within a fifth after %d seconds of a drain', (elapsed) => {
    const [total, pace] = [40_000, 100];
    const left = total - elapsed * pace;
    const snapshotAge = elapsed % 60;
    const told = secondsLeft({
      submission: makeProcessing(total, { lane: 'bulk', createdAtMs: CREATED_MS }),
      counts: countsOf(total, left, total - left),
      backlog: backlogOf(0, left + snapshotAge * pace, snapshotAge * 1_000),
    });
    const truth = left / pace;
    expect(Math.abs(told! - truth)).toBeLessThanOrEqual(Math.max(truth * 0.2, OVERHEAD));
  });
});

describe('a submission that is still read', () => {
  const source = { key: 'k', etag: 'e', sizeBytes: 300_000 };

  test('is estimated by its size before anything is read', () => {
    expect(secondsLeft({ submission: makeSubmission({ source }), counts: countsOf(null, 0) })).toBe(10 + OVERHEAD);
  });

  test('is estimated by what its customer expects, where that is more', () => {
    const submission = makeSubmission({ source, expectedRecords: 2_000 });
    expect(secondsLeft({ submission, counts: countsOf(null, 0) })).toBe(20 + OVERHEAD);
  });

  test('is estimated by the part that is read', () => {
    const fanOut = { done: false, byteOffset: 30_000, records: 500, line: 502 };
    const submission = makeSubmission({ state: 'processing', lane: 'bulk', source, fanOut });
    expect(secondsLeft({ submission, counts: countsOf(null, 400, 100) })).toBe(49 + OVERHEAD);
  });
});

test('a submission that is about to end says so', () => {
  const submission = makeProcessing(1_000, { state: 'finalizing' });
  expect(secondsLeft({ submission, counts: countsOf(1_000, 0), backlog: backlogOf(0, 90_000) })).toBe(OVERHEAD);
});

test.each(['complete', 'rejected', 'cancelled', 'expired', 'failed', 'partially_failed'] as const)(
  'a submission that is %s has no completion ahead',
  (state) => {
    expect(secondsLeft({ submission: makeProcessing(10, { state }) })).toBeUndefined();
  },
);
