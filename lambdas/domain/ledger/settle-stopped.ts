import pLimit from 'p-limit';
import { CHUNK_RECORDS, chunkCount, type LedgerChunk, type StopOrder, type Submission } from '../model.ts';
import { closeFullChunks, finalizeIfComplete, type CompletionDeps } from './settlement.ts';
import { isDraining } from '../submissions/stop.ts';
import { chunkSize, emptyChunk, openOffsets } from './ledger.ts';
import type { LedgerMarks, LedgerStore } from './ports.ts';

/*
 * A stopped submission (cancelled, or past its deadline) is settled chunk by chunk: one update of the ledger item gives every record
 * without an outcome its end. No row is written, so the ledger decides about a record that has no row, or only a waiting one. A worker may
 * still hold records that it received before the stop: their outcomes prevail, see submissions/stop.ts.
 */

const PARALLEL_WRITES = 25;

export interface StopDeps extends CompletionDeps {
  ledger: LedgerStore;
}

/** An item for every chunk of the file: where no worker has written one yet, an empty one. Fan-out must have ended. */
export function allChunks({ fanOut: { records } }: Submission, ledger: readonly LedgerChunk[]): LedgerChunk[] {
  const stored = new Map(ledger.map((chunk) => [chunk.chunk, chunk]));
  return Array.from({ length: chunkCount(records) }, (_, chunk) => {
    const size = Math.min(CHUNK_RECORDS, records - chunk * CHUNK_RECORDS);
    return { ...(stored.get(chunk) ?? emptyChunk(chunk)), size };
  });
}

/**
 * Gives every record of a stopped submission without an outcome its end, with one write per chunk, and closes the chunks once the
 * submission has drained. Fan-out must have ended. Repeating it is safe.
 *
 * @returns how many records it settled.
 * @throws DependencyUnavailableError when something could not be written; the reconciler repeats it.
 */
export async function settleStopped(
  deps: StopDeps,
  submission: Submission,
  ledger: readonly LedgerChunk[],
  isOver: () => boolean = () => false,
): Promise<number> {
  const { submissionId, tenantId, lane, stop, expiresAtSeconds } = submission;
  if (stop === undefined) return 0;
  let settled = 0;
  const full: LedgerChunk[] = [];
  await pLimit(PARALLEL_WRITES).map(allChunks(submission, ledger), async (chunk) => {
    const open = openOffsets(chunk, chunkSize(chunk));
    if (open.length > 0 && isOver()) return;
    const marks = marksFor(stop, open);
    const stored =
      open.length === 0 ? chunk : await deps.ledger.mark(submissionId, chunk.chunk, marks, expiresAtSeconds);
    settled += open.length;
    full.push({ ...stored, size: chunkSize(chunk) });
  });
  if (settled > 0) {
    const about = { submissionId, tenantId, ...(lane && { lane }) };
    deps.telemetry.emit({ name: 'records_stopped', level: 'info', ...about, outcome: stop.kind, count: settled });
  }
  if (isDraining(submission, deps.clock.now())) return settled;
  if (chunkCount(submission.fanOut.records) === 0) await finalizeIfComplete(deps, submission);
  await closeFullChunks(deps, submissionId, full);
  return settled;
}

const marksFor = (stop: StopOrder, offsets: readonly number[]): LedgerMarks =>
  stop.kind === 'cancelled'
    ? { succeeded: [], cancelled: offsets, failed: new Map() }
    : { succeeded: [], cancelled: [], failed: new Map([['deadline_passed', offsets]]) };
