import type {
  Counts,
  Lane,
  LedgerChunk,
  RecordKey,
  RecordRow,
  SourceObject,
  Submission,
  SubmissionState,
} from './model.ts';
import type { ClosedState, FinalizeProgress, StopOrder } from './model.ts';
import type { CsvDialect } from './files/reader.ts';
import type { ReasonCode } from './reasons.ts';

/*
 * What the domain asks of the world. Every method may throw DependencyUnavailableError (throttled, failed, no answer), also
 * after the write was applied: the caller repeats or gives the work back. Every method is idempotent when repeated, but for
 * `reserve` (a repetition reserves more slots; the first ones pass unused) and `addFailures` (a repetition counts again).
 */

/** The head items. All writes are conditional and return the item as stored after them. */
export interface SubmissionStore {
  /** Creates it unless one with this id exists; returns the stored one either way. */
  create(submission: Submission): Promise<{ created: boolean; stored: Submission }>;
  /** Consistent read. Expired items are `undefined`. */
  get(submissionId: string): Promise<Submission | undefined>;
  /** Consistent read of the head and every ledger item, in chunk order. */
  getWithLedger(submissionId: string): Promise<{ submission: Submission; ledger: LedgerChunk[] } | undefined>;
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
    progress: Pick<FinalizeProgress, 'nextPart'>,
    lease: { nowMs: number; leaseMs: number } | 'release',
  ): Promise<Submission>;
  /** `finalizing` to a closed state; removes it from the open index. Throws LeaseLostError when `owner` lost the lease. */
  finish(
    submissionId: string,
    owner: string,
    end: { state: ClosedState; resultsVersion: number; counts: Counts; nowMs: number },
  ): Promise<Submission>;

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
  /** Notes where chunks begin. Fan-out's bookkeeping, before it sends the chunk. */
  noteStarts(
    submissionId: string,
    starts: readonly { chunk: number; byteOffset: number; line: number }[],
    expiresAtSeconds: number,
  ): Promise<void>;
  /** Fixes the number of records of the last chunk; returns the whole item after it. */
  setSize(submissionId: string, chunk: number, size: number, expiresAtSeconds: number): Promise<LedgerChunk>;
  /** Takes offsets out of every failure and cancelled set (never out of `succeeded`); returns the whole item after it. */
  reopen(submissionId: string, chunk: number, offsets: readonly number[]): Promise<LedgerChunk>;
  get(submissionId: string, chunk: number): Promise<LedgerChunk | undefined>;
}

/** The rows of the records table. */
export interface RecordStore {
  /** Consistent reads by key, in any number. Missing and expired rows are absent from the answer. */
  getMany(keys: readonly RecordKey[]): Promise<RecordRow[]>;
  /**
   * Writes the row unless the stored one stands above it. The stored one stands when it has `succeeded`, when its generation
   * is higher, or when it has the same generation and is terminal. Where the stored one gives way, but is not the one that was
   * `seen` when `row` was made, what its writer bought and counted is merged into the row, see `mergeOver`; or, `ifUnchanged`, it stands
   * as well. Returns what is stored afterwards: `applied` is true also when this very row (same content) was already there.
   */
  put(
    row: RecordRow,
    seen?: RecordRow,
    options?: { ifUnchanged?: boolean },
  ): Promise<{ applied: boolean; stored: RecordRow }>;
  /** Every row of a chunk in record order. */
  chunkRows(submissionId: string, chunk: number): Promise<RecordRow[]>;
}

export interface OutgoingMessage {
  /** ASCII JSON, see encodeBody. */
  body: string;
  /** Message group = tenant: SQS shares a standard queue fairly between groups. */
  group: string;
  /** 0 to 900,000 ms; rounded up to whole seconds. */
  delayMs?: number;
  attributes?: Readonly<Record<string, string>>;
}

export interface SendFailure {
  /** Index into the messages that were given. */
  index: number;
  /** True when the message itself is at fault: no repetition will help. */
  senderFault: boolean;
  code: string;
}

export interface QueueSender {
  /** Sends any number of messages, split by count and bytes; repeats what failed; answers what could not be sent in the end. Throws only for programming errors. */
  send(messages: readonly OutgoingMessage[]): Promise<SendFailure[]>;
}

/** One delivery of a message. */
export interface Delivery {
  messageId: string;
  receipt: string;
  body: string;
  /** 1 for the first time. Counts crashes, since every planned return is a new message. */
  receiveCount: number;
  attributes: Readonly<Record<string, string>>;
  sentAtMs: number;
}

/** Acknowledging before the invocation ends, which crash isolation needs. */
export interface QueueAcknowledger {
  /** Deletes deliveries; answers the message ids that could not be deleted. */
  acknowledge(deliveries: readonly Pick<Delivery, 'messageId' | 'receipt'>[]): Promise<string[]>;
}

export interface QueueReceiver extends QueueAcknowledger {
  /** Up to `max` (1 to 10) messages, hidden from others for `visibilityMs`. An empty answer proves nothing on a busy queue. */
  receive(max: number, visibilityMs: number): Promise<Delivery[]>;
  /** Lets others receive deliveries again at once. What this fails for is visible after its time anyway. */
  release(deliveries: readonly Pick<Delivery, 'receipt'>[]): Promise<void>;
  /** Approximate number of visible messages. */
  depth(): Promise<number>;
}

export interface ObjectInfo {
  etag: string;
  sizeBytes: number;
}

export interface ObjectWriter {
  write(chunk: Uint8Array): Promise<void>;
  /** Completes the object: it appears only now, whole. */
  close(): Promise<void>;
  /** Gives up: nothing appears. */
  abort(): Promise<void>;
}

export interface ObjectStore {
  head(key: string): Promise<ObjectInfo | undefined>;
  /**
   * Streams from `fromByte` to the end. Throws ObjectMissingError, ObjectChangedError when the ETag differs, and
   * ShortReadError from the iteration when fewer bytes come than announced.
   */
  read(source: Pick<SourceObject, 'key' | 'etag' | 'sizeBytes'>, fromByte: number): Promise<AsyncIterable<Uint8Array>>;
  /** Whole small objects only (manifests): at most `maxBytes`. */
  getSmall(key: string, maxBytes: number): Promise<Uint8Array | undefined>;
  put(key: string, body: Uint8Array, contentType: string): Promise<ObjectInfo>;
  /** Writes an object once: what stands under the key already stays, and is what the answer describes. */
  create(key: string, body: Uint8Array, contentType: string): Promise<ObjectInfo>;
  writer(key: string, contentType: string): ObjectWriter;
}

/** Pacer and breaker of one provider as stored: one item, shared by the fleet. Times in epoch milliseconds. */
export interface ProviderState {
  /** When the next call may start. 0 when never used. */
  nextAtMs: number;
  /** No call starts before this time: the provider said so (Retry-After) or refuses our credential. */
  blockedUntilMs: number;
  blockedReason?: 'provider_throttled' | 'provider_auth';
  breaker: 'closed' | 'open';
  /** Raised by every opening; a success from an earlier epoch closes nothing. */
  epoch: number;
  /** While open: when a probe may be made. */
  openUntilMs: number;
  /** Outage-class failures in a row while closed. */
  failures: number;
  /** Openings in a row without a closing: the wait grows with it. */
  openings: number;
  probeOwner?: string;
  probeLeaseUntilMs?: number;
}

/** The providers table. Each method is one conditional update and returns the state after it (or, where the condition failed, as it stands). */
export interface ProviderStore {
  get(provider: string): Promise<ProviderState>;
  /**
   * Reserves `slots` consecutive slots. Granted only when the breaker is closed, `blockedUntilMs` has passed, and `nextAtMs` lies in the
   * past (first slot = now) or at most `maxWaitMs` ahead (first slot = `nextAtMs`). Otherwise nothing changes.
   */
  reserve(request: {
    provider: string;
    slots: number;
    intervalMs: number;
    nowMs: number;
    maxWaitMs: number;
  }): Promise<{ granted: true; firstSlotMs: number; state: ProviderState } | { granted: false; state: ProviderState }>;
  /** Raises `blockedUntilMs`; never lowers it. */
  block(provider: string, untilMs: number, reason: 'provider_throttled' | 'provider_auth'): Promise<ProviderState>;
  /** Adds outage-class failures seen in `epoch`; nothing changes when the epoch moved on or the breaker is open. */
  addFailures(provider: string, epoch: number, failures: number): Promise<ProviderState>;
  /** Resets the row of failures after a success in `epoch`, breaker closed. */
  clearFailures(provider: string, epoch: number): Promise<ProviderState>;
  /** closed to open (epoch + 1, openings + 1), only in `epoch`; or, by the probe's owner, a longer opening of the same kind. */
  open(provider: string, change: { epoch: number; openUntilMs: number; probeOwner?: string }): Promise<ProviderState>;
  /** Claims the one probe of `epoch`, when `openUntilMs` has passed and no other probe's lease runs. */
  claimProbe(
    provider: string,
    claim: { epoch: number; owner: string; nowMs: number; leaseMs: number },
  ): Promise<{ claimed: boolean; state: ProviderState }>;
  /** open to closed, only by the owner of the probe of `epoch`. */
  close(provider: string, epoch: number, owner: string, nowMs: number): Promise<ProviderState>;
}

/** Open work per tenant, and of the whole system: what admission and estimates go by. */
export interface AdmissionStore {
  /** Open submissions of the tenant with their estimated or counted records. */
  openWork(tenantId: string): Promise<OpenWork[]>;
  /** Sets (idempotently) what a submission holds open. */
  setOpenWork(tenantId: string, work: OpenWork): Promise<void>;
  clearOpenWork(tenantId: string, submissionId: string): Promise<void>;
  /** The newest snapshot of the whole system's backlog, made by the reconciler. */
  backlog(): Promise<Backlog | undefined>;
  saveBacklog(backlog: Backlog): Promise<void>;
}

export interface OpenWork {
  submissionId: string;
  records: number;
  lane?: Lane;
}

export interface Backlog {
  asOfMs: number;
  /** Records without an outcome, by lane; those of submissions without a lane yet count as bulk. */
  openRecords: Record<Lane, number>;
  openSubmissions: number;
  /** When a provider was last seen blocked, or with an open breaker whose probe was not due; 0 when never. */
  troubledAtMs: number;
}

/** A raw answer over HTTP, or the reason why there is none. */
export type TransportResult =
  | {
      kind: 'response';
      status: number;
      headers: Readonly<Record<string, string>>;
      body: Uint8Array;
      truncated: boolean;
    }
  | { kind: 'failure'; cause: TransportFailure; detail: string };
export type TransportFailure = 'timeout' | 'connect' | 'reset' | 'dns' | 'tls' | 'aborted' | 'refused_target';

export interface HttpTransport {
  /** One request with one deadline over connect, headers and body. Follows no redirect. Never throws for what the network does. */
  request(request: {
    method: 'GET' | 'POST';
    url: string;
    headers: Readonly<Record<string, string>>;
    body?: string;
    timeoutMs: number;
    maxBodyBytes: number;
  }): Promise<TransportResult>;
}

/** Credentials of the providers, by provider name. */
export interface CredentialSource {
  /** Cached; throws DependencyUnavailableError only when there is no last good value. */
  get(provider: string): Promise<string>;
  /** Reads the secret again, once for all who ask at the same time; true when the provider's value differs from `refused`. */
  refresh(provider: string, refused: string): Promise<boolean>;
}

/** What happened, for logs and metrics. Names are stable; fields are an allow-list without record content. */
export interface Telemetry {
  emit(event: DomainEvent): void;
}

export interface EventFields {
  submissionId?: string;
  tenantId?: string;
  recordNo?: number;
  attempt?: number;
  lane?: Lane;
  provider?: string;
  /** A reason code, or the code of a rejected file. */
  reason?: string;
  outcome?: string;
  generation?: number;
  count?: number;
  durationMs?: number;
  ageMs?: number;
  detail?: string;
}

export interface DomainEvent extends EventFields {
  name:
    | 'record_finished'
    | 'record_attempt_failed'
    | 'record_deferred'
    | 'record_discarded'
    | 'record_resent'
    | 'message_parked'
    | 'suspect_started'
    | 'provider_call'
    | 'provider_blocked'
    | 'credential_refused'
    | 'pacer_wait'
    | 'breaker_opened'
    | 'breaker_closed'
    | 'probe_started'
    | 'fanout_started'
    | 'fanout_checkpoint'
    | 'fanout_continued'
    | 'fanout_finished'
    | 'submission_accepted'
    | 'submission_rejected'
    | 'submission_finalizing'
    | 'submission_finished'
    | 'submission_reopened'
    | 'submission_stopped'
    | 'outbox_relayed'
    | 'fanout_restarted'
    | 'finalize_restarted'
    | 'ledger_repaired'
    | 'conservation_broken'
    | 'results_part_written'
    | 'callback_delivered'
    | 'callback_failed'
    | 'reconciled'
    | 'redriven'
    | 'gauge'
    | 'unexpected_error';
  level: 'debug' | 'info' | 'warn' | 'error';
  error?: unknown;
}
