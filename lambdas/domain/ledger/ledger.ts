import {
  CHUNK_RECORDS,
  chunkCount,
  isOpen,
  recordNoAt,
  type Counts,
  type LedgerChunk,
  type Submission,
} from '../model.ts';
import { REASON_CODES, type ReasonCode } from '../reasons.ts';

/** A chunk of which nothing is stored yet. */
export const emptyChunk = (chunk: number): LedgerChunk => ({
  chunk,
  succeeded: new Set(),
  cancelled: new Set(),
  failed: new Map(),
});

/** Records that a chunk holds when it is complete. */
export const chunkSize = (chunk: LedgerChunk): number => chunk.size ?? CHUNK_RECORDS;

/** What became of one offset of a chunk: a success wins over a failure, a failure over a cancellation. */
export function outcomeAt(chunk: LedgerChunk, offset: number): 'succeeded' | 'failed' | 'cancelled' | 'pending' {
  if (chunk.succeeded.has(offset)) return 'succeeded';
  if (reasonAt(chunk, offset) !== undefined) return 'failed';
  return chunk.cancelled.has(offset) ? 'cancelled' : 'pending';
}

/** The reason a failed offset counts under: the first of the catalogue's order, unknown ones last, so that a number in two sets counts once. */
export function reasonAt(chunk: LedgerChunk, offset: number): ReasonCode | undefined {
  const isCounted = (reason: ReasonCode): boolean => chunk.failed.get(reason)?.has(offset) ?? false;
  return REASON_CODES.find(isCounted) ?? [...chunk.failed.keys()].toSorted().find(isCounted);
}

/** Offsets with an outcome, in ascending order. */
export function finishedOffsets(chunk: LedgerChunk): number[] {
  const all = new Set([...chunk.succeeded, ...chunk.cancelled]);
  for (const offsets of chunk.failed.values()) for (const offset of offsets) all.add(offset);
  return [...all].sort((a, b) => a - b);
}

/** True when every record of the chunk has an outcome. An offset beyond its end counts for none. */
export const isFull = (chunk: LedgerChunk): boolean => openOffsets(chunk, chunkSize(chunk)).length === 0;

/** Offsets below `size` without an outcome, in ascending order. */
export function openOffsets(chunk: LedgerChunk, size: number): number[] {
  const finished = new Set(finishedOffsets(chunk));
  return Array.from({ length: size }, (_, offset) => offset).filter((offset) => !finished.has(offset));
}

export interface Tally {
  counts: Counts;
  /** Failed records by reason code. */
  failures: Record<string, number>;
}

/**
 * Counts a whole submission from its ledger. `pending` is what fan-out has seen and nobody has finished. Offsets beyond the end of
 * the file are not counted: the counts add up to the total whatever a forged or wrong message has marked.
 */
export function tally(submission: Pick<Submission, 'fanOut'>, ledger: readonly LedgerChunk[]): Tally {
  const { done, records } = submission.fanOut;
  const end = done ? records : Infinity;
  const failures: Record<string, number> = {};
  let succeeded = 0;
  let failed = 0;
  let cancelled = 0;
  for (const chunk of ledger) {
    for (const offset of finishedOffsets(chunk)) {
      if (recordNoAt(chunk.chunk, offset) > end) continue;
      const outcome = outcomeAt(chunk, offset);
      if (outcome === 'succeeded') succeeded++;
      else if (outcome === 'cancelled') cancelled++;
      else {
        failed++;
        const reason = reasonAt(chunk, offset);
        if (reason !== undefined) failures[reason] = (failures[reason] ?? 0) + 1;
      }
    }
  }
  // Workers may be ahead of fan-out's last checkpoint: nothing is ever pending below zero.
  const pending = Math.max(0, records - succeeded - failed - cancelled);
  return { counts: { total: done ? records : null, pending, succeeded, failed, cancelled }, failures };
}

/** What the head of a closed submission says of its records; undefined where only the ledger can. */
export function finalTally({ state, finalCounts }: Submission): Tally | undefined {
  // One whose results were given up keeps the counts of the results before.
  if (finalCounts === undefined || isOpen(state) || state === 'rejected') return undefined;
  const { failures, ...counts } = finalCounts;
  if (failures === undefined && counts.failed > 0) return undefined;
  return { counts, failures: { ...failures } };
}

/** True when fan-out has ended and every chunk is closed. */
export const isComplete = (submission: Submission): boolean =>
  submission.fanOut.done && submission.closedChunks.size >= chunkCount(submission.fanOut.records);
