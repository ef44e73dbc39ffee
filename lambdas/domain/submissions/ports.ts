import type {
  ClosedState,
  FinalCounts,
  FinalizeProgress,
  Lane,
  LedgerChunk,
  PreparedSource,
  StopOrder,
  Submission,
  SubmissionState,
} from '../model.ts';
import type { SchemaSet } from './schemas.ts';
import type { CsvDialect } from '../files/reader.ts';

/** The head items. All writes are conditional and return the item as stored after them. */
export interface SubmissionStore {
  /** Creates it unless one with this id exists; returns the stored one either way. */
  create(submission: Submission): Promise<{ created: boolean; stored: Submission }>;
  /** Consistent read. Expired items are `undefined`. */
  get(submissionId: string): Promise<Submission | undefined>;
  /** Consistent read of the head and every ledger item, in chunk order. */
  getWithLedger(submissionId: string): Promise<{ submission: Submission; ledger: LedgerChunk[] } | undefined>;
  /**
   * Consistent read of up to `limit` ledger items in chunk order, from chunk `from` on. `next` is the chunk to go on from, where there may be more.
   */
  ledgerPage(
    submissionId: string,
    query: { from: number; limit: number },
  ): Promise<{ chunks: LedgerChunk[]; next?: number }>;
  /**
   * Newest first. `cursor` is opaque to the caller; throws InvalidDataError for one that this tenant's list did not give.
   * With a `state`, a page may be short or empty and still have a `nextCursor`.
   */
  listByTenant(query: {
    tenantId: string;
    state?: SubmissionState;
    limit: number;
    cursor?: string;
  }): Promise<TolerantPage<Submission>>;
  /** Every submission that has not expired, in no particular order: for operators, since it reads a whole index. */
  listAll(query: { limit: number; cursor?: string }): Promise<TolerantPage<Submission>>;
  /**
   * Open submissions whose next check is due, oldest first, from every shard of the sparse index. Eventually consistent. Leaves out what
   * cannot be read: `listOpen` tells of it.
   */
  listDue(query: { nowMs: number; limit: number }): Promise<Submission[]>;
  /** Every open submission, for backlog and age figures. Eventually consistent. */
  listOpen(query: { limit: number; cursor?: string }): Promise<TolerantPage<Submission>>;

  /** Stores a set of schemas under the hash of its content; one that is there stays. It does not expire. */
  keepSchemas(hash: string, schemas: SchemaSet): Promise<void>;
  getSchemas(hash: string): Promise<SchemaSet | undefined>;

  markRelayed(submissionId: string): Promise<void>;
  scheduleCheck(submissionId: string, nextCheckAtMs: number): Promise<void>;

  /**
   * Takes the fan-out lease and moves `accepted` to `processing` (`cancelling` stays). `busy` while another owner's lease runs (by `nowMs`);
   * `over` when fan-out is done or the submission is closed or finalizing; `missing` when there is none.
   */
  claimFanOut(claim: { submissionId: string; owner: string; nowMs: number; leaseMs: number }): Promise<Claim>;
  /** Writes the lane once; returns the one that stands. Throws LeaseLostError when `owner` lost the lease. */
  decideLane(submissionId: string, owner: string, lane: Lane): Promise<Lane>;
  /**
   * Stores progress, never backwards, and renews the lease; `release` gives it up. Throws LeaseLostError when `owner` lost it.
   */
  checkpointFanOut(
    submissionId: string,
    owner: string,
    progress: { byteOffset: number; records: number; line: number; dialect?: CsvDialect },
    lease: { nowMs: number; leaseMs: number } | 'release',
  ): Promise<Submission>;
  /**
   * Notes what the source was prepared to and gives the fan-out lease up, while nothing was read. Throws LeaseLostError when `owner` lost it.
   */
  setPrepared(submissionId: string, owner: string, prepared: PreparedSource, nowMs: number): Promise<Submission>;
  /** Ends fan-out: `records` becomes the total. Throws LeaseLostError when `owner` lost the lease. */
  completeFanOut(submissionId: string, owner: string, records: number, nowMs: number): Promise<Submission>;
  /**
   * Ends the submission as `rejected`, only while nothing was sent: no lane, no records. Otherwise nothing changes, which the
   * returned state tells. Throws LeaseLostError when `owner` lost the lease.
   */
  reject(
    submissionId: string,
    owner: string,
    rejection: { code: string; detail: string },
    nowMs: number,
  ): Promise<Submission>;

  /** Adds chunks to the closed ones. */
  closeChunks(submissionId: string, chunks: readonly number[], nowMs: number): Promise<Submission>;
  /**
   * `processing` or `cancelling` to `finalizing`, only when fan-out is done and the number of closed chunks is `chunks`
   * (of the submission as just read). True for exactly one caller per generation, and for none when it got no answer and
   * repeats the call: the reconciler then sends the finalize message.
   */
  beginFinalizing(submissionId: string, chunks: number, nowMs: number): Promise<boolean>;
  /** Takes the finalize lease while `finalizing`; `over` in every other state. */
  claimFinalize(claim: { submissionId: string; owner: string; nowMs: number; leaseMs: number }): Promise<Claim>;
  checkpointFinalize(
    submissionId: string,
    owner: string,
    progress: Pick<FinalizeProgress, 'nextPart' | 'partAtMs'>,
    lease: { nowMs: number; leaseMs: number } | 'release',
  ): Promise<Submission>;
  /** `finalizing` to a closed state; removes it from the open index. Throws LeaseLostError when `owner` lost the lease. */
  finish(
    submissionId: string,
    owner: string,
    end: { state: ClosedState; resultsVersion: number; counts: FinalCounts; nowMs: number },
  ): Promise<Submission>;
  /** `finalizing` to `rejected`, without new results; removes it from the open index. Throws LeaseLostError when `owner` lost the lease. */
  finishWithoutResults(
    submissionId: string,
    owner: string,
    rejection: { code: string; detail: string },
    nowMs: number,
  ): Promise<Submission>;

  /** Notes that an operator gave up the results of a generation that is `finalizing`. False, and nothing changes, where it is not. */
  giveUpResults(submissionId: string, generation: number): Promise<boolean>;
  /**
   * Sets the stop order of an open submission unless one is set; `cancelled` also moves a state other than `finalizing` to
   * `cancelling`. Returns the item as stored.
   */
  requestStop(submissionId: string, stop: StopOrder): Promise<Submission | undefined>;
  /**
   * Takes chunks out of the closed ones and moves any state but `rejected` back to `processing` (with the next check at
   * `nowMs` + a minute, a cleared stop order where it was closed and `generation` is higher than the stored one, and a deadline not before `deadlineAtMs`).
   * Used by a replay (`generation` = stored + 1 or the same when repeated) and by the finalizer that found an open record (same generation,
   * and its lease is gone). Nothing changes for an older generation.
   */
  reopen(
    submissionId: string,
    change: { chunks: readonly number[]; generation: number; nowMs: number; deadlineAtMs: number },
  ): Promise<Submission>;
}

export type Claim =
  | { outcome: 'claimed'; submission: Submission }
  | { outcome: 'busy'; untilMs: number }
  | { outcome: 'over'; submission: Submission }
  | { outcome: 'missing' };

export interface Page<T> {
  items: T[];
  nextCursor?: string;
}

/** A page that is there although some of its items cannot be read: those are told of instead. */
export interface TolerantPage<T> extends Page<T> {
  unreadable: readonly UnreadableItem[];
}

/** An item that was written by another version, or by hand. */
export interface UnreadableItem {
  submissionId: string;
  error: Error;
}
