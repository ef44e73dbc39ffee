/*
 * One measurement of the slices benchmark, in a process of its own so that its memory is its own: as many slices as an invocation works
 * side by side, each over the same file. Bundled before it is started.
 */
import { createQueueSender } from '../../lambdas/adapters/queue.ts';
import { SLICES_PER_INVOCATION } from '../../lambdas/domain/capacity.ts';
import { fanOutSlice } from '../../lambdas/domain/fan-out/fan-out-slice.ts';
import { finalizeSlice } from '../../lambdas/domain/finalize/finalize-slice.ts';
import { PartTurns } from '../../lambdas/domain/finalize/part-turns.ts';
import { systemClock as clock } from '../../lambdas/runtime/clock.ts';
import { createFanOutPorts } from './fan-out-ports.ts';
import { createFinalizePorts } from './finalize-ports.ts';
import { stubSqs } from './stub-clients.ts';

const turns = new PartTurns(clock);
const budget = { remainingMs: () => 3_600_000 };

/** Answers the records that were sent. */
async function fanOut(path: string): Promise<number> {
  const { deps, submission, sent } = createFanOutPorts(
    path,
    createQueueSender(stubSqs(), 'https://sqs.eu-central-1.amazonaws.com/1/lane', clock),
  );
  const { submissionId, tenantId } = submission;
  await fanOutSlice(deps, { v: 1, submissionId, tenantId }, budget);
  return sent();
}

/** Answers the bytes that were written. */
async function finalize(path: string, records: number, answerBytes: number): Promise<number> {
  const { deps, submission, written } = createFinalizePorts(path, { records, answerBytes, turns });
  const { submissionId, tenantId } = submission;
  await finalizeSlice(deps, { v: 1, kind: 'results', submissionId, tenantId }, budget);
  return written();
}

const [mode, path, records, answerBytes] = process.argv.slice(2);
if ((mode !== 'fan-out' && mode !== 'finalize') || path === undefined) {
  throw new RangeError(
    'Start it with fan-out or finalize, a file, its records, and the bytes of the answers about each.',
  );
}
const startedAt = performance.now();
const done = await Promise.all(
  Array.from({ length: SLICES_PER_INVOCATION }, async () =>
    mode === 'fan-out' ? fanOut(path) : finalize(path, Number(records), Number(answerBytes)),
  ),
);
const seconds = (performance.now() - startedAt) / 1_000;
const peakBytes = process.resourceUsage().maxRSS * 1024;
console.log(JSON.stringify({ least: Math.min(...done), seconds, peakBytes }));
