import type { ChunkStart, LedgerChunk } from '../model.ts';
import type { ReasonCode } from '../reasons.ts';

/** Offsets (0 to 249) of one chunk to add to its ledger item. */
export interface LedgerMarks {
  succeeded: readonly number[];
  cancelled: readonly number[];
  failed: ReadonlyMap<ReasonCode, readonly number[]>;
}

/** The ledger items of a submission. Adding an offset twice changes nothing. */
export interface LedgerStore {
  /** Adds outcomes; returns the whole item after it. */
  mark(submissionId: string, chunk: number, marks: LedgerMarks, expiresAtSeconds: number): Promise<LedgerChunk>;
  /** Notes where chunks begin, before fan-out sends them, and their checksums. A checksum that is noted stays without a new one. */
  noteStarts(
    submissionId: string,
    starts: readonly (ChunkStart & { chunk: number })[],
    expiresAtSeconds: number,
  ): Promise<void>;
  /** Fixes the number of records of the last chunk; returns the whole item after it. */
  setSize(submissionId: string, chunk: number, size: number, expiresAtSeconds: number): Promise<LedgerChunk>;
  /** Takes offsets out of every failure and cancelled set (never out of `succeeded`); returns the whole item after it. */
  reopen(submissionId: string, chunk: number, offsets: readonly number[]): Promise<LedgerChunk>;
  get(submissionId: string, chunk: number): Promise<LedgerChunk | undefined>;
}
