import { isStopped, isTooLate, KEEP_OUTCOMES_MS } from '../../../lambdas/domain/submissions/stop.ts';
import { makeSubmission } from '../../support/factories.ts';
import { START_MS } from '../../support/memory/index.ts';

const stop = { kind: 'cancelled', atMs: START_MS } as const;
const LATE_MS = START_MS + KEEP_OUTCOMES_MS + 1;

test('a stop order ends the generations up to its own, and outcomes of them only after a while', () => {
  const stopped = makeSubmission({ generation: 1, stop });
  expect([0, 1, 2].map((generation) => isStopped(stopped, generation))).toEqual([true, true, false]);
  expect([0, 1, 2].map((generation) => isTooLate(stopped, generation, LATE_MS))).toEqual([true, true, false]);
  expect(isTooLate(stopped, 1, LATE_MS - 1)).toBe(false);
});

test('a replay lifts the order, but what it has ended is not worked any more', () => {
  const replayed = makeSubmission({ generation: 2, stoppedGeneration: 1 });
  expect([0, 1, 2].map((generation) => isStopped(replayed, generation))).toEqual([true, true, false]);
  expect([0, 1, 2].map((generation) => isTooLate(replayed, generation, START_MS))).toEqual([true, true, false]);
});

test('without a stop order nothing is stopped', () => {
  expect(isStopped(makeSubmission({}), 0)).toBe(false);
  expect(isTooLate(makeSubmission({}), 0, LATE_MS)).toBe(false);
});
