import { LeaseLostError, unverifiedInputIn } from '../errors.ts';
import type { FinalizeMessage } from '../queues/messages.ts';
import { chunkCount, type Submission } from '../model.ts';
import {
  headMissing,
  isPassing,
  newOwner,
  retryDelay,
  sendOne,
  sliceTimer,
  untilLeaseEnds,
} from '../submissions/slices.ts';
import { dialectOf } from '../source/source.ts';
import type { TimeBudget } from '../time.ts';
import type { FinalizeDeps, Finalizing } from './deps.ts';
import { afterFinish, finishResults, finishWithoutResults } from './ending.ts';
import { FinalizeLease } from './lease.ts';
import { readPartManifest, writePartManifest, type PartManifest } from './manifest.ts';
import { writePart, type OpenChunk, type PartRange } from './part.ts';

/**
 * Works on the results of one submission for about `settings.sliceMs`, part by part. A repeated slice
 * writes the same bytes to the same keys; parts that are complete are not written again.
 *
 * Returns when the message can be acknowledged: it is done, or another message will continue it. Throws otherwise.
 */
export async function finalizeSlice(deps: FinalizeDeps, message: FinalizeMessage, budget: TimeBudget): Promise<void> {
  const owner = newOwner(deps.random);
  let finalizing: Finalizing | undefined;
  try {
    const { submissionId } = message;
    const { leaseMs } = deps.settings;
    const claim = await deps.submissions.claimFinalize({ submissionId, owner, nowMs: deps.clock.now(), leaseMs });
    if (claim.outcome === 'missing') throw headMissing(submissionId);
    if (claim.outcome === 'busy') {
      return await sendOne(deps.finalizeQueue, message, untilLeaseEnds(claim.untilMs, deps.clock));
    }
    if (claim.outcome === 'over') return await afterFinish(deps, claim.submission);
    const { submission } = claim;
    const lease = new FinalizeLease(deps, submission, owner);
    finalizing = { deps, submission, lease, version: versionOf(submission) };
    await work(finalizing, message, sliceTimer(deps.clock, budget, deps.settings));
  } catch (error) {
    if (!isPassing(error)) throw error;
    const cause = await endIfGivenUp(finalizing, error);
    if (cause !== undefined) await giveBack(deps, message, finalizing, cause);
  }
}

/** Ends what an operator has given up and what still cannot be verified. Answers why it goes on, where it does. */
async function endIfGivenUp(finalizing: Finalizing | undefined, cause: Error): Promise<Error | undefined> {
  const isGivenUp = finalizing?.submission.givenUpGeneration === finalizing?.submission.generation;
  if (finalizing === undefined || !isGivenUp || unverifiedInputIn(cause) === undefined) return cause;
  try {
    await finishWithoutResults(finalizing);
    return undefined;
  } catch (error) {
    if (!isPassing(error)) throw error;
    return error;
  }
}

/**
 * Version of the results that are being made: above the newest finished one, and another one for every generation of the rows,
 * so that a slow finalizer of an earlier generation overwrites nothing.
 */
const versionOf = ({ resultsVersion, generation }: Submission): number => Math.max(resultsVersion, generation) + 1;

/** The parts of a submission. One without records has one part too: its files are there, and empty. */
function partsOf({ fanOut }: Submission, partChunks: number): PartRange[] {
  const chunks = chunkCount(fanOut.records);
  return Array.from({ length: Math.max(1, Math.ceil(chunks / partChunks)) }, (_, index) => {
    const firstChunk = index * partChunks;
    return { part: index + 1, firstChunk, chunks: Math.min(partChunks, chunks - firstChunk) };
  });
}

async function work(finalizing: Finalizing, message: FinalizeMessage, isOver: () => boolean): Promise<void> {
  const { deps, submission, version, lease } = finalizing;
  const dialect = await dialectOf(deps, submission);
  const parts: PartManifest[] = [];
  let written = 0;
  for (const range of partsOf(submission, deps.settings.partChunks)) {
    const earlier = await completedPart(finalizing, range);
    if (earlier) {
      parts.push(earlier);
      continue;
    }
    if (written > 0 && isOver()) {
      await lease.release();
      return sendOne(deps.finalizeQueue, message);
    }
    const outcome = await deps.turns.write(range.chunks, deps.settings, { lease, isOver }, async () =>
      writePart(finalizing, range, dialect),
    );
    if (outcome === undefined) {
      await lease.release();
      return sendOne(deps.finalizeQueue, message, deps.settings.retryDelayMs);
    }
    if ('open' in outcome) return reopen(finalizing, outcome.open);
    await writePartManifest(deps.objects, submission, version, outcome.done);
    await lease.complete(range.part);
    reportPart(finalizing, outcome.done);
    parts.push(outcome.done);
    written += 1;
  }
  await finishResults(finalizing, parts);
}

/** What an earlier slice wrote of a part. A part of another size is not this one: it changed with a deployment. */
async function completedPart(
  { deps, submission, version, lease }: Finalizing,
  { part, chunks }: PartRange,
): Promise<PartManifest | undefined> {
  if (part >= lease.nextPart) return undefined;
  const manifest = await readPartManifest(deps.objects, submission, version, part);
  return manifest?.chunks === chunks ? manifest : undefined;
}

function reportPart({ deps, submission }: Finalizing, { counts }: PartManifest): void {
  const { submissionId, tenantId } = submission;
  deps.telemetry.emit({ name: 'results_part_written', level: 'info', submissionId, tenantId, count: counts.total });
}

/** Some records have no outcome after all: opens their chunks again. The reconciler finds what became of their messages. */
async function reopen({ deps, submission, lease }: Finalizing, open: readonly OpenChunk[]): Promise<void> {
  const { submissionId, tenantId, generation, deadlineAtMs } = submission;
  // Only while the lease holds: a replay that came in between has opened what it needs.
  await lease.confirm();
  for (const { chunk, openOffsets } of open) await deps.ledger.reopen(submissionId, chunk, openOffsets);
  await deps.submissions.reopen(submissionId, {
    chunks: open.map(({ chunk }) => chunk),
    generation,
    nowMs: deps.clock.now(),
    deadlineAtMs,
  });
  const count = open.reduce((sum, { openOffsets }) => sum + openOffsets.length, 0);
  deps.telemetry.emit({ name: 'submission_reopened', level: 'error', submissionId, tenantId, generation, count });
}

/** After a failure that passes: another message, and the lease given up so that it need not wait for its end. */
async function giveBack(
  deps: FinalizeDeps,
  message: FinalizeMessage,
  finalizing: Finalizing | undefined,
  cause: Error,
): Promise<void> {
  const { leaseMs } = deps.settings;
  const { submissionId, tenantId } = message;
  const isHeld = message.kind === 'results' && !(await released(finalizing, cause));
  await sendOne(deps.finalizeQueue, message, isHeld ? leaseMs : retryDelay(cause, deps));
  const outcome = cause.name;
  deps.telemetry.emit({ name: 'finalize_restarted', level: 'warn', submissionId, tenantId, outcome, error: cause });
}

async function released(finalizing: Finalizing | undefined, cause: Error): Promise<boolean> {
  if (!finalizing || cause instanceof LeaseLostError) return false;
  try {
    await finalizing.lease.release();
    return true;
  } catch (error) {
    if (!isPassing(error)) throw error;
    return false;
  }
}
