import type { ReasonCode } from './reasons.ts';
import type { CsvDialect, FileFormat } from './files/reader.ts';
import type { PreparedFrom } from './prepare/ports.ts';
import type { Terms } from './submissions/terms.ts';
import type { UnknownCode } from './versions.ts';

/** Number of records in one chunk: one ledger item, one key of the records table. Part of the stored data: never change it. */
export const CHUNK_RECORDS = 250;

export type Lane = 'small' | 'bulk';
export const LANES: readonly Lane[] = ['small', 'bulk'];

export const OPEN_STATES = ['accepted', 'processing', 'finalizing', 'cancelling'] as const;
export const CLOSED_STATES = ['complete', 'partially_failed', 'failed', 'cancelled', 'rejected', 'expired'] as const;
export type OpenState = (typeof OPEN_STATES)[number];
export type ClosedState = (typeof CLOSED_STATES)[number];
export type SubmissionState = OpenState | ClosedState;
export const SUBMISSION_STATES: readonly SubmissionState[] = [...OPEN_STATES, ...CLOSED_STATES];

export const isOpen = (state: SubmissionState): state is OpenState => OPEN_STATES.some((open) => open === state);

/** The accepted source object. Every later read names the ETag, so that a changed object is noticed and never mixed in. */
export interface SourceObject {
  key: string;
  etag: string;
  sizeBytes: number;
}

/** An ordinary text in UTF-8 that was made from the accepted source. */
export interface PreparedSource {
  source: SourceObject;
  format: FileFormat;
  from: PreparedFrom;
}

/** The text that records are read from, and its format. */
export const textOf = ({
  source,
  format,
  prepared,
}: Pick<Submission, 'source' | 'format' | 'prepared'>): Pick<PreparedSource, 'source' | 'format'> =>
  prepared ?? { source, format };

/** Why the work on a submission is to stop before every record was tried. */
export interface StopOrder {
  kind: 'cancelled' | 'expired';
  atMs: number;
}

/** Where fan-out stands. The position is that of the next record to send; everything before it has been sent. */
export interface FanOutProgress {
  done: boolean;
  byteOffset: number;
  /** Records read so far; once `done`, the number of records of the file. */
  records: number;
  /** Physical line at which the next record begins, 1-based. */
  line: number;
  dialect?: CsvDialect;
  leaseOwner?: string;
  leaseUntilMs?: number;
}

/** Where finalization of the current results version stands. */
export interface FinalizeProgress {
  /** 1-based number of the next part to write. */
  nextPart: number;
  /** When finalization began, or the newest part was complete. Leases do not move it, as they do `progressAtMs`. */
  partAtMs?: number;
  leaseOwner?: string;
  leaseUntilMs?: number;
}

/** The head item of a submission: its identity, its state and the progress of the parts that work on it. Times in epoch milliseconds. */
export interface Submission {
  submissionId: string;
  tenantId: string;
  state: SubmissionState;
  /** The state as stored, where a newer version wrote one that is not known here: `state` is then what comes nearest. */
  storedState?: UnknownCode;
  /** Set when the file was rejected: a stable code such as `EMPTY_FILE`, and a sentence. */
  rejection?: { code: string; detail: string };
  /** Absent until fan-out has decided, then fixed. */
  lane?: Lane;
  /** What the customer sent. What is read is {@link textOf}. */
  source: SourceObject;
  /** What it was unpacked or decoded to, where it is not text in UTF-8 itself. */
  prepared?: PreparedSource;
  terms: Terms;
  format: FileFormat;
  fileName?: string;
  expectedRecords?: number;
  reference?: string;
  callbackUrl?: string;
  /** SHA-256 (hex) of the accepted request: the same idempotency key with another one is refused. */
  requestHash: string;
  /** The same by the content of an uploaded file instead of its upload id; absent where the store knows no checksum. */
  contentHash?: string;
  fanOut: FanOutProgress;
  /** Chunks in which every record has an outcome; in a closed submission all are, and since 0.2.0 none is listed. */
  closedChunks: ReadonlySet<number>;
  stop?: StopOrder;
  /** The newest generation that a stop order has ended: a replay lifts the order, not what it ended. */
  stoppedGeneration?: number;
  /** An operator gave up the results of this generation: where they cannot be verified, it ends without them. */
  givenUpGeneration?: number;
  /** True until the fan-out message is known to be sent. */
  outboxPending: boolean;
  /** Raised by every replay; results of version n were made from generation n - 1 or later. */
  generation: number;
  /** Version of the newest finished results; 0 before the first. */
  resultsVersion: number;
  finalize?: FinalizeProgress;
  /** Counts at the time the newest results were finished; absent before. */
  finalCounts?: FinalCounts;
  createdAtMs: number;
  updatedAtMs: number;
  /** Last time that anything moved (fan-out, an outcome that closed a chunk, a replay): what the reconciler judges stalls by. */
  progressAtMs: number;
  deadlineAtMs: number;
  /** When the reconciler looks at it next; absent once closed. */
  nextCheckAtMs?: number;
  /** Shared by the submission, its ledger and its records. Epoch seconds, as DynamoDB's TTL wants them. */
  expiresAtSeconds: number;
}

export interface Counts {
  /** Null until fan-out has read the whole file. */
  total: number | null;
  pending: number;
  succeeded: number;
  failed: number;
  cancelled: number;
}

export interface FinalCounts extends Counts {
  /** Failed records by reason code; absent in what 0.1.0 finished. Beside the counts, so that nothing replaces one without the other. */
  failures?: Readonly<Record<string, number>>;
}

/** Where a chunk begins in its source. `crc` is the CRC-32 of its bytes, from its first record to its last: noted when all were read. */
export interface ChunkStart {
  byteOffset: number;
  line: number;
  crc?: number;
}

/** Outcomes of the records of one chunk, as sets of offsets in the chunk (0 to 249). `succeeded` wins over any failure. */
export interface LedgerChunk {
  chunk: number;
  /** Position in the source of the chunk's first record; absent when a worker was faster than fan-out's bookkeeping. */
  start?: ChunkStart;
  /** Records in this chunk where that is less than {@link CHUNK_RECORDS} or fan-out has ended; absent = CHUNK_RECORDS. */
  size?: number;
  succeeded: ReadonlySet<number>;
  cancelled: ReadonlySet<number>;
  failed: ReadonlyMap<ReasonCode, ReadonlySet<number>>;
}

export const RECORD_STATES = [
  'pending',
  'retrying',
  'deferred',
  'succeeded',
  'failed',
  'dead_lettered',
  'cancelled',
] as const;
export type RecordState = (typeof RECORD_STATES)[number];
/** States that have a row: absence of a row is `pending`. */
export type RowState = Exclude<RecordState, 'pending'>;
const TERMINAL_STATES: readonly RecordState[] = ['succeeded', 'failed', 'dead_lettered', 'cancelled'];
export const isTerminal = (state: RecordState): boolean => TERMINAL_STATES.includes(state);

/**
 * What one provider said about one record, kept so that no retry buys it again. `ageSeconds` is there where it was bought for another
 * record: its age when it was used.
 */
export type ProviderAnswer = { ageSeconds?: number } & (
  | { kind: 'found'; data: Record<string, unknown> }
  | { kind: 'not_found' }
  /** The record lacks the provider's lookup key: no call was made. */
  | { kind: 'not_applicable' }
  /** Of a newer version: kept, shown as it is, and not asked for again. */
  | { kind: UnknownCode; data?: Record<string, unknown> }
);

/** What a provider found; undefined where it found nothing. */
export const dataOf = (answer: ProviderAnswer | undefined): Record<string, unknown> | undefined =>
  answer !== undefined && 'data' in answer ? answer.data : undefined;

export type ProviderAnswers = Readonly<Record<string, ProviderAnswer>>;

export interface RecordKey {
  submissionId: string;
  /** 1-based: the n-th record of the file. */
  recordNo: number;
}

/** A row of the records table: the outcome of a record, or the trouble it is in. Never the record itself: the source object has that. */
export interface RecordRow extends RecordKey {
  state: RowState;
  /** The state as stored, where a newer version wrote one that is not known here: the record counts as waiting. */
  storedState?: UnknownCode;
  /** Absent only when the state is `succeeded`. */
  reason?: ReasonCode;
  /** One sentence about this very failure, bounded to {@link MAX_DETAIL_LENGTH} characters, without record content. */
  detail?: string;
  /** Failed attempts so far plus the one that ended it. */
  attempts: number;
  generation: number;
  /** Times this record was replayed by redrive. */
  redrives: number;
  answers: ProviderAnswers;
  /** The record's own identifier, where it has one. */
  recordId?: string;
  waitingOn?: string;
  waitingUntilMs?: number;
  /** Since when a provider has not been ready for the record. */
  notReadySinceMs?: number;
  /** Receives at which it was started alone and never heard of again, each written before the start: what kills workers is known by it. */
  isolatedReceives?: number;
  /** Times the reconciler sent it again because its message was lost. */
  resends?: number;
  firstEnqueuedAtMs: number;
  updatedAtMs: number;
  expiresAtSeconds: number;
  /** Members that a newer version stored: whoever writes the row again keeps them. */
  others?: Readonly<Record<string, unknown>>;
}

export const MAX_DETAIL_LENGTH = 300;

/** 0-based chunk of a record. */
export const chunkOf = (recordNo: number): number => Math.floor((recordNo - 1) / CHUNK_RECORDS);
/** Offset of a record in its chunk, 0 to 249. */
export const offsetOf = (recordNo: number): number => (recordNo - 1) % CHUNK_RECORDS;
export const recordNoAt = (chunk: number, offset: number): number => chunk * CHUNK_RECORDS + offset + 1;
export const chunkCount = (records: number): number => Math.ceil(records / CHUNK_RECORDS);
