import { closeFullChunks, finalizeIfComplete, requestResults } from '../ledger/settlement.ts';
import { announceEnd } from '../webhooks/announce.ts';
import { CHUNK_RECORDS, chunkCount, isOpen, type LedgerChunk, type Submission } from '../model.ts';
import type { UnreadableSourceError } from '../source/unreadable-source.ts';
import type { Claimed, FanOutDeps } from './deps.ts';
import { settleStopped } from '../ledger/settle-stopped.ts';
import { MESSAGE_VERSION, type FanOutMessage } from '../queues/messages.ts';
import { sendOne } from '../submissions/slices.ts';
import { DRAIN_MS } from '../submissions/stop.ts';

/** Ends fan-out with `records` records, all of them sent, and the submission too if every record has an outcome by now. */
export async function completeFanOut({ deps, submission, owner }: Claimed, records: number): Promise<void> {
  const { submissionId, tenantId, lane } = submission;
  const last = await fixLastChunk(deps, submission, records);
  // Before the end: afterwards the finalizer may have cleared it already.
  await deps.admission.setOpenWork(tenantId, { submissionId, records, ...(lane && { lane }) });
  const ended = await deps.submissions.completeFanOut(submissionId, owner, records, deps.clock.now());
  deps.telemetry.emit({
    name: 'fanout_finished',
    level: 'info',
    submissionId,
    tenantId,
    ...(ended.lane && { lane: ended.lane }),
    ...(ended.stop && { outcome: ended.stop.kind }),
    count: records,
    durationMs: deps.clock.now() - ended.createdAtMs,
  });
  if (ended.stop) return endStopped(deps, ended);
  if (last) await closeFullChunks(deps, submissionId, [last]);
  await finalizeIfComplete(deps, ended);
}

/** Settles what is left of a stopped submission, now and once more when the workers have drained: then its results can be written. */
async function endStopped(deps: FanOutDeps, { submissionId, tenantId }: Submission): Promise<void> {
  const found = await deps.submissions.getWithLedger(submissionId);
  if (found?.submission.stop === undefined) return;
  await settleStopped(deps, found.submission, found.ledger);
  const waitMs = found.submission.stop.atMs + DRAIN_MS - deps.clock.now();
  const message: FanOutMessage = { v: MESSAGE_VERSION, submissionId, tenantId };
  if (waitMs > 0) await sendOne(deps.fanOutQueue, message, waitMs);
}

async function fixLastChunk(
  { ledger }: FanOutDeps,
  { submissionId, expiresAtSeconds }: Submission,
  records: number,
): Promise<LedgerChunk | undefined> {
  const size = records % CHUNK_RECORDS;
  if (size === 0) return undefined;
  return ledger.setSize(submissionId, chunkCount(records) - 1, size, expiresAtSeconds);
}

/** Refuses the file: nothing of it was sent. */
export async function rejectFile(
  { deps, submission, owner }: Claimed,
  { code, message }: UnreadableSourceError,
): Promise<void> {
  const rejection = { code, detail: message };
  const stored = await deps.submissions.reject(submission.submissionId, owner, rejection, deps.clock.now());
  if (stored.state === 'rejected') await afterRejection(deps, stored);
}

async function afterRejection(deps: FanOutDeps, submission: Submission): Promise<void> {
  const { submissionId, tenantId, rejection } = submission;
  deps.telemetry.emit({
    name: 'submission_rejected',
    level: 'info',
    submissionId,
    tenantId,
    ...(rejection && { reason: rejection.code }),
  });
  await deps.admission.clearOpenWork(tenantId, submissionId);
  await announceEnd(deps, submission);
}

/** Repeats what follows the end of fan-out: the message that is here now may be the one of an invocation that died just before. */
export async function repeatEnding(deps: FanOutDeps, submission: Submission): Promise<void> {
  const { submissionId, tenantId, state, fanOut } = submission;
  if (state === 'rejected') return afterRejection(deps, submission);
  // An owner that lost its lease may have counted the open work after the submission had ended.
  if (!isOpen(state)) return deps.admission.clearOpenWork(tenantId, submissionId);
  if (!fanOut.done) return;
  if (state === 'finalizing') return requestResults(deps, submission);
  if (submission.stop) return endStopped(deps, submission);
  const last = fanOut.records > 0 ? await deps.ledger.get(submissionId, chunkCount(fanOut.records) - 1) : undefined;
  if (last) await closeFullChunks(deps, submissionId, [last]);
  await finalizeIfComplete(deps, submission);
}
