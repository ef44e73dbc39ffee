import { isComplete, isFull } from '../ledger/ledger.ts';
import { encodeBody, MESSAGE_VERSION, type FinalizeMessage } from '../queues/messages.ts';
import { chunkCount, type LedgerChunk, type Submission } from '../model.ts';
import type { QueueSender } from '../queues/ports.ts';
import type { SubmissionStore } from './ports.ts';
import type { Telemetry } from '../telemetry.ts';
import { DependencyUnavailableError } from '../errors.ts';
import type { Clock } from '../time.ts';

export interface CompletionDeps {
  submissions: SubmissionStore;
  finalizeQueue: QueueSender;
  telemetry: Telemetry;
  clock: Clock;
}

/**
 * Closes the chunks among `chunks` that are full, and when that was the last of the submission, starts its finalization.
 * Whoever updates a ledger item calls this with what the update returned: the end is found by the one who makes it.
 */
export async function closeFullChunks(
  deps: CompletionDeps,
  submissionId: string,
  chunks: readonly LedgerChunk[],
): Promise<void> {
  const full = chunks.filter(isFull).map((chunk) => chunk.chunk);
  if (full.length === 0) return;
  const submission = await deps.submissions.closeChunks(submissionId, full, deps.clock.now());
  await finalizeIfComplete(deps, submission);
}

/** Starts finalization when fan-out has ended and every chunk is closed. Exactly one caller per generation sends the message. */
export async function finalizeIfComplete(deps: CompletionDeps, submission: Submission): Promise<void> {
  if (!isComplete(submission)) return;
  const { submissionId } = submission;
  const won = await deps.submissions.beginFinalizing(
    submissionId,
    chunkCount(submission.fanOut.records),
    deps.clock.now(),
  );
  if (!won) return;
  deps.telemetry.emit({ name: 'submission_finalizing', level: 'info', submissionId, tenantId: submission.tenantId });
  await requestResults(deps, submission);
}

/** Sends the message that makes the finalizer begin or continue. The reconciler repeats it when it got lost. */
export async function requestResults(
  deps: Pick<CompletionDeps, 'finalizeQueue'>,
  { submissionId, tenantId }: Pick<Submission, 'submissionId' | 'tenantId'>,
): Promise<void> {
  const message: FinalizeMessage = { v: MESSAGE_VERSION, kind: 'results', submissionId, tenantId };
  const failures = await deps.finalizeQueue.send([{ body: encodeBody(message), group: tenantId }]);
  const failure = failures[0];
  if (failure)
    throw new DependencyUnavailableError(`The finalize message of ${submissionId} was not sent: ${failure.code}.`);
}
