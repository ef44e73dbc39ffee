import { retryDelayMs, spreadMs } from '../backoff.ts';
import { MAX_ATTEMPTS } from '../limits.ts';
import { encodeBody, type RecordMessage } from '../queues/messages.ts';
import { isTerminal, MAX_DETAIL_LENGTH, type ProviderAnswers, type RecordRow, type RowState } from '../model.ts';
import type { ReasonCode } from '../reasons.ts';
import { usedFieldsOf } from '../records/content.ts';
import type { SchemaChecks } from '../submissions/schemas.ts';
import type { Clock, Random } from '../time.ts';
import { receivesOf, type Item } from './deliveries.ts';

/** One record that is to be processed, with what is stored about it. */
export interface Job {
  item: Item;
  /** The item's message, updated with what its row says. */
  message: RecordMessage;
  row?: RecordRow;
  /** Answers already paid for, from row and message. */
  answers: ProviderAnswers;
  /** Names of the providers that the submission is asked at; all that are configured where it was accepted by 0.1.0. */
  asked?: readonly string[] | undefined;
  /** By the schemas that the submission was accepted with. */
  checks: SchemaChecks;
}

/** Why a message that can be read is not processed, as its attribute in the dead-letter queue says. */
export type RejectReason = 'submission_missing' | 'foreign_message';

/** What to do with a record. */
export type Resolution =
  /** Store its outcome; with `deadLetter` also send it to the dead-letter queue. If the outcome cannot be written, `carry` is sent to the lane. */
  | { kind: 'finish'; row: RecordRow; seen?: RecordRow; deadLetter: boolean; carry: RecordMessage }
  /** Store `row` where there is one, and send `message` to the lane; if the row cannot be written, send `carry` instead. */
  | {
      kind: 'return';
      reason: ReasonCode;
      message: RecordMessage;
      waitMs: number;
      row?: RecordRow;
      /** The stored row that the new one was made from. */
      seen?: RecordRow;
      carry: RecordMessage;
    }
  /** Send the message to the dead-letter queue unprocessed: its submission does not know of it. */
  | { kind: 'reject'; reason: RejectReason; detail: string }
  /** Acknowledge the message without work; `stored` is marked in the ledger once more, in case its worker ended before it did. */
  | { kind: 'discard'; because: string; stored?: RecordRow; deadLetterAgain?: boolean };

/** One record and what to do with it. */
export interface Resolved {
  item: Item;
  resolution: Resolution;
}

export interface ResolutionDeps {
  clock: Clock;
  random: Random;
}

/** A wait beyond this is written to the row, so that the record's status shows what it waits for. */
const STORED_WAIT_MS = 60_000;
/** The shortest wait of a record for which there was no time, no slot or no answer from AWS. */
const LEAST_WAIT_MS = 1_000;
const LEAST_SPREAD_MS = 3_000;
/** The longest wait after a failed call to AWS: the reconciler must not take a record for lost whose row could not be written. */
const LONGEST_PLATFORM_WAIT_MS = 120_000;

type Outcome = Pick<RecordRow, 'state' | 'attempts'> &
  Partial<Pick<RecordRow, 'reason' | 'detail' | 'waitingOn' | 'waitingUntilMs' | 'isolatedReceives'>>;

/** A row of the job's record. What is not given is cleared, `isolatedReceives` included. */
export function rowOf({ message, row, answers, checks }: Job, clock: Clock, outcome: Outcome): RecordRow {
  const {
    submissionId,
    recordNo,
    generation,
    redrives,
    firstEnqueuedAtMs,
    expiresAtSeconds,
    content,
    notReadySinceMs,
  } = message;
  const recordId = idOf(usedFieldsOf(content)?.[checks.idField]);
  return {
    submissionId,
    recordNo,
    generation,
    redrives,
    answers,
    ...(recordId === undefined ? {} : { recordId }),
    ...(row?.resends === undefined ? {} : { resends: row.resends }),
    firstEnqueuedAtMs,
    updatedAtMs: clock.now(),
    expiresAtSeconds,
    ...(isTerminal(outcome.state) || notReadySinceMs === undefined ? {} : { notReadySinceMs }),
    ...outcome,
    ...(outcome.detail === undefined ? {} : { detail: outcome.detail.slice(0, MAX_DETAIL_LENGTH) }),
  };
}

const MAX_ID_LENGTH = 200;
const idOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, MAX_ID_LENGTH) : undefined;

const seenOf = ({ row }: Job): { seen?: RecordRow } => (row === undefined ? {} : { seen: row });

export const succeed = (job: Job, { clock }: ResolutionDeps): Resolution => ({
  kind: 'finish',
  row: rowOf(job, clock, { state: 'succeeded', attempts: job.message.attempt }),
  ...seenOf(job),
  deadLetter: false,
  carry: nextMessage(job, job.message.attempt),
});

/** Ends the record; without `tried` this attempt is not counted. */
export function fail(
  job: Job,
  { clock }: ResolutionDeps,
  end: { reason: ReasonCode; detail?: string; state?: Extract<RowState, 'failed' | 'cancelled'>; tried?: boolean },
): Resolution {
  const { reason, detail, state = 'failed', tried = true } = end;
  const attempts = job.message.attempt - (tried ? 0 : 1);
  const outcome = { state, reason, attempts, ...(detail === undefined ? {} : { detail }) };
  const carry = nextMessage(job, job.message.attempt);
  return { kind: 'finish', row: rowOf(job, clock, outcome), ...seenOf(job), deadLetter: false, carry };
}

/** An attempt failed: another one after a backoff, or the dead-letter queue after the last. */
export function retry(
  job: Job,
  { clock, random }: ResolutionDeps,
  failure: { reason: ReasonCode; detail: string; waitingOn?: string; untilMs?: number },
): Resolution {
  const { reason, detail, waitingOn, untilMs = 0 } = failure;
  const { attempt } = job.message;
  const carry = nextMessage(job, attempt);
  if (attempt >= MAX_ATTEMPTS) {
    const last = `The last of ${attempt} attempts ended with ${reason}: ${detail}`;
    const row = rowOf(job, clock, {
      state: 'dead_lettered',
      reason: 'attempts_exhausted',
      detail: last,
      attempts: attempt,
    });
    return { kind: 'finish', row, ...seenOf(job), deadLetter: true, carry };
  }
  const waitMs = Math.ceil(Math.max(retryDelayMs(attempt, random), untilMs - clock.now()));
  const waitingUntilMs = Math.ceil(clock.now() + waitMs);
  const row = rowOf(job, clock, {
    state: 'retrying',
    reason,
    detail,
    attempts: attempt,
    ...(waitingOn === undefined ? {} : { waitingOn }),
    waitingUntilMs,
  });
  const message = withoutPlatformRetries(nextMessage(job, attempt + 1));
  return withNotBefore({ kind: 'return', reason, message, waitMs, row, ...seenOf(job), carry }, waitingUntilMs);
}

/** The waits of a record that a provider is not ready for grow with the time that it has waited, between these. */
const SHORTEST_NOT_READY_MS = 2_000;
const LONGEST_NOT_READY_MS = 120_000;

/** A provider is not ready for this record: it waits without an attempt until its time budget is used up, then it is dead-lettered. */
export function awaitReady(
  job: Job,
  deps: ResolutionDeps,
  wait: { detail: string; waitingOn: string; budgetMs: number; untilMs?: number },
): Resolution {
  const { detail, waitingOn, budgetMs } = wait;
  const nowMs = deps.clock.now();
  const notReadySinceMs = job.message.notReadySinceMs ?? Math.floor(nowMs);
  const endMs = notReadySinceMs + budgetMs;
  if (nowMs >= endMs) {
    const reason = 'provider_not_ready';
    const text = `Not ready for ${Math.round((nowMs - notReadySinceMs) / 1_000)} s: ${detail}`;
    const attempts = job.message.attempt - 1;
    const row = rowOf(job, deps.clock, { state: 'dead_lettered', reason, detail: text, attempts });
    return { kind: 'finish', row, ...seenOf(job), deadLetter: true, carry: nextMessage(job, job.message.attempt) };
  }
  const backoffMs = Math.min(LONGEST_NOT_READY_MS, Math.max(SHORTEST_NOT_READY_MS, (nowMs - notReadySinceMs) / 2));
  const untilMs = Math.min(endMs, wait.untilMs ?? nowMs + backoffMs);
  const waiting: Job = { ...job, message: { ...job.message, notReadySinceMs } };
  return defer(waiting, deps, { reason: 'provider_not_ready', untilMs, waitingOn });
}

/** Nothing failed, but the record cannot be processed now: it is sent again at no attempt. */
export function defer(
  job: Job,
  { clock, random }: ResolutionDeps,
  wait: { reason: ReasonCode; untilMs?: number; waitingOn?: string },
): Resolution {
  const { reason, untilMs = 0, waitingOn } = wait;
  const carry = nextMessage(job, job.message.attempt);
  const retried = reason === 'dependency_unavailable' ? nextPlatformRetry(carry) : undefined;
  const message = retried?.message ?? withoutPlatformRetries(carry);
  const leastMs = Math.max(retried?.leastMs ?? LEAST_WAIT_MS, untilMs - clock.now());
  const waitMs = spreadMs(leastMs, random, LEAST_SPREAD_MS);
  // The count of isolated receives must be cleared once the record was processed, and answers that do not fit into a message need the row.
  const wasIsolated = receivesOf(job.item) > 1 || job.row?.isolatedReceives !== undefined;
  const isStored = waitMs > STORED_WAIT_MS || wasIsolated || !fitsQueue(message);
  if (!isStored) return { kind: 'return', reason, message, waitMs, carry };
  const waitingUntilMs = Math.ceil(clock.now() + waitMs);
  const row = rowOf(job, clock, {
    state: 'deferred',
    reason,
    attempts: job.message.attempt - 1,
    ...(waitingOn === undefined ? {} : { waitingOn }),
    waitingUntilMs,
  });
  return withNotBefore({ kind: 'return', reason, message, waitMs, row, ...seenOf(job), carry }, waitingUntilMs);
}

/**
 * Writes the wait of the row to the message, too: a message without it has been superseded by the one that has it, whatever the
 * clocks say.
 */
function withNotBefore(resolution: Extract<Resolution, { kind: 'return' }>, waitingUntilMs: number): Resolution {
  const delayed = (message: RecordMessage): RecordMessage => ({
    ...message,
    notBeforeMs: Math.max(message.notBeforeMs ?? 0, waitingUntilMs),
  });
  // The row may be stored although the call that wrote it returned an error.
  return { ...resolution, message: delayed(resolution.message), carry: delayed(resolution.carry) };
}

/** Characters of a body that leave room for attributes below SQS's 1 MiB, see encodeBody. */
const MAX_BODY_LENGTH = 1_000_000;

const fitsQueue = (message: RecordMessage): boolean => encodeBody(message).length <= MAX_BODY_LENGTH;

/** The body of a message, without its answers where they make it too large: then the row has them. */
export function bodyOf(message: RecordMessage): string {
  const body = encodeBody(message);
  if (body.length <= MAX_BODY_LENGTH) return body;
  const { answers: _inRow, ...rest } = message;
  return encodeBody(rest);
}

/** Sends a record again whose row or head could not be read; nothing is written to its row. */
export function returnUnread(item: Item, deps: Pick<ResolutionDeps, 'random'>): Resolution {
  // A new message has a receive count of 1: without the mark it could be discarded as superseded.
  const message: RecordMessage = receivesOf(item) > 1 ? { ...item.message, redelivered: true } : item.message;
  return sendAgain(message, deps);
}

/** Sends a record again whose row could not be written. */
export const returnUnwritten = (job: Job, deps: Pick<ResolutionDeps, 'random'>): Resolution =>
  sendAgain(nextMessage(job, job.message.attempt), deps);

function sendAgain(message: RecordMessage, deps: Pick<ResolutionDeps, 'random'>): Resolution {
  return { kind: 'return', reason: 'dependency_unavailable', ...afterPlatformFailure(message, deps), carry: message };
}

/**
 * The message to send after a call to AWS failed. Every retry in a row waits twice as long, so that a lost permission or a throttled
 * table is not called for every record every few seconds.
 */
export function afterPlatformFailure(
  message: RecordMessage,
  { random }: Pick<ResolutionDeps, 'random'>,
): { message: RecordMessage; waitMs: number } {
  const { message: next, leastMs } = nextPlatformRetry(message);
  return { message: next, waitMs: spreadMs(leastMs, random, LEAST_SPREAD_MS) };
}

function nextPlatformRetry(message: RecordMessage): { message: RecordMessage; leastMs: number } {
  const platformRetries = (message.platformRetries ?? 0) + 1;
  const leastMs = Math.min(LONGEST_PLATFORM_WAIT_MS, LEAST_WAIT_MS * 2 ** (platformRetries - 1));
  return { message: { ...message, platformRetries }, leastMs };
}

/** Platform retries are counted in a row: a message that is sent for another reason starts again at none. */
function withoutPlatformRetries({ platformRetries: _over, ...message }: RecordMessage): RecordMessage {
  return message;
}

/** The next message of the record, with the answers that were paid for. */
function nextMessage({ message, answers }: Job, attempt: number): RecordMessage {
  return { ...message, attempt, ...(Object.keys(answers).length === 0 ? {} : { answers }) };
}
