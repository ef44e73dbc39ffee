import { retryDelayMs, spreadMs } from '../backoff.ts';
import { MAX_ATTEMPTS } from '../limits.ts';
import { encodeBody, type RecordMessage } from '../queues/messages.ts';
import { MAX_DETAIL_LENGTH, type ProviderAnswers, type RecordRow, type RowState } from '../model.ts';
import type { ReasonCode } from '../reasons.ts';
import type { Clock, Random } from '../time.ts';
import { receivesOf, type Item } from './deliveries.ts';

/** One record with what is known about it before it is worked. */
export interface Job {
  item: Item;
  /** The item's message, brought up to what its row says. */
  message: RecordMessage;
  row?: RecordRow;
  /** Answers already paid for, from row and message. */
  answers: ProviderAnswers;
}

/** What is to become of a record. */
export type Resolution =
  /** It has its outcome; with `deadLetter` it also goes to the dead-letter queue. `carry` brings it back when that cannot be written. */
  | { kind: 'finish'; row: RecordRow; seen?: RecordRow; deadLetter: boolean; carry: RecordMessage }
  /** It goes back to the queue, and its row says so where there is one; when that cannot be written, `carry` goes instead. */
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
  /** This message has nothing more to say; `stored` is accounted for once more, in case nobody did. */
  | { kind: 'discard'; because: string; stored?: RecordRow; deadLetterAgain?: boolean };

export interface ResolutionDeps {
  clock: Clock;
  random: Random;
}

/** A wait beyond this is written to the row, so that the record's status tells what it waits for. */
const NOTED_WAIT_MS = 60_000;
/** The least that a record waits for which there was no time, no slot or no answer from AWS. */
const LEAST_WAIT_MS = 1_000;
const LEAST_SPREAD_MS = 3_000;
/** The longest wait for our own platform: a record that nothing can be noted of must not look lost meanwhile. */
const LONGEST_STUMBLE_MS = 120_000;

type Outcome = Pick<RecordRow, 'state' | 'attempts'> &
  Partial<Pick<RecordRow, 'reason' | 'detail' | 'waitingOn' | 'waitingUntilMs' | 'isolatedReceives'>>;

/** A row of the job's record. What is not given is cleared, above all an earlier mark of having been started alone. */
export function rowOf({ message, row, answers }: Job, clock: Clock, outcome: Outcome): RecordRow {
  const { submissionId, recordNo, generation, redrives, firstEnqueuedAtMs, expiresAtSeconds, content } = message;
  const recordId = content.kind === 'record' ? idOf(content.fields['record_id']) : undefined;
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
    ...outcome,
    ...(outcome.detail === undefined ? {} : { detail: outcome.detail.slice(0, MAX_DETAIL_LENGTH) }),
  };
}

const MAX_ID_LENGTH = 200;
const idOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, MAX_ID_LENGTH) : undefined;

const seenBy = ({ row }: Job): { seen?: RecordRow } => (row === undefined ? {} : { seen: row });

export const succeed = (job: Job, { clock }: ResolutionDeps): Resolution => ({
  kind: 'finish',
  row: rowOf(job, clock, { state: 'succeeded', attempts: job.message.attempt }),
  ...seenBy(job),
  deadLetter: false,
  carry: again(job, job.message.attempt),
});

/** Ends the record for good; `attempts` is one less where none was made. */
export function fail(
  job: Job,
  { clock }: ResolutionDeps,
  end: { reason: ReasonCode; detail?: string; state?: Extract<RowState, 'failed' | 'cancelled'>; tried?: boolean },
): Resolution {
  const { reason, detail, state = 'failed', tried = true } = end;
  const attempts = job.message.attempt - (tried ? 0 : 1);
  const outcome = { state, reason, attempts, ...(detail === undefined ? {} : { detail }) };
  const carry = again(job, job.message.attempt);
  return { kind: 'finish', row: rowOf(job, clock, outcome), ...seenBy(job), deadLetter: false, carry };
}

/** An attempt failed: another one after a backoff, or the dead-letter queue after the last. */
export function retry(
  job: Job,
  { clock, random }: ResolutionDeps,
  failure: { reason: ReasonCode; detail: string; waitingOn?: string; untilMs?: number },
): Resolution {
  const { reason, detail, waitingOn, untilMs = 0 } = failure;
  const { attempt } = job.message;
  const carry = again(job, attempt);
  if (attempt >= MAX_ATTEMPTS) {
    const last = `The last of ${attempt} attempts ended with ${reason}: ${detail}`;
    const row = rowOf(job, clock, {
      state: 'dead_lettered',
      reason: 'attempts_exhausted',
      detail: last,
      attempts: attempt,
    });
    return { kind: 'finish', row, ...seenBy(job), deadLetter: true, carry };
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
  const message = onward(again(job, attempt + 1));
  return announced({ kind: 'return', reason, message, waitMs, row, ...seenBy(job), carry }, waitingUntilMs);
}

/** Nothing failed, but the record cannot be worked now: it comes back without having lost an attempt. */
export function defer(
  job: Job,
  { clock, random }: ResolutionDeps,
  wait: { reason: ReasonCode; untilMs?: number; waitingOn?: string },
): Resolution {
  const { reason, untilMs = 0, waitingOn } = wait;
  const carry = again(job, job.message.attempt);
  const stumbled = reason === 'dependency_unavailable' ? stumble(carry) : undefined;
  const message = stumbled?.message ?? onward(carry);
  const leastMs = Math.max(stumbled?.leastMs ?? LEAST_WAIT_MS, untilMs - clock.now());
  const waitMs = spreadMs(leastMs, random, LEAST_SPREAD_MS);
  // A suspect's marks must not outlive its being worked, and answers that do not fit into a message need the row.
  const isMarked = receivesOf(job.item) > 1 || job.row?.isolatedReceives !== undefined;
  const isNoted = waitMs > NOTED_WAIT_MS || isMarked || !fitsQueue(message);
  if (!isNoted) return { kind: 'return', reason, message, waitMs, carry };
  const waitingUntilMs = Math.ceil(clock.now() + waitMs);
  const row = rowOf(job, clock, {
    state: 'deferred',
    reason,
    attempts: job.message.attempt - 1,
    ...(waitingOn === undefined ? {} : { waitingOn }),
    waitingUntilMs,
  });
  return announced({ kind: 'return', reason, message, waitMs, row, ...seenBy(job), carry }, waitingUntilMs);
}

/**
 * A wait that is on the row is on the message too: by it the one message that goes on with the record is told from copies
 * that were left behind, whatever the clocks say.
 */
function announced(resolution: Extract<Resolution, { kind: 'return' }>, waitingUntilMs: number): Resolution {
  const tell = (message: RecordMessage): RecordMessage => ({
    ...message,
    notBeforeMs: Math.max(message.notBeforeMs ?? 0, waitingUntilMs),
  });
  // The row may stand although its writer was told that it could not be written.
  return { ...resolution, message: tell(resolution.message), carry: tell(resolution.carry) };
}

/** Characters of a body that leave room for attributes below SQS's 1 MiB, see encodeBody. */
const MAX_BODY_LENGTH = 1_000_000;

const fitsQueue = (message: RecordMessage): boolean => encodeBody(message).length <= MAX_BODY_LENGTH;

/** The body of a message; without the answers it carries where they make it too large: then the row has them. */
export function bodyOf(message: RecordMessage): string {
  const body = encodeBody(message);
  if (body.length <= MAX_BODY_LENGTH) return body;
  const { answers: _onTheRow, ...rest } = message;
  return encodeBody(rest);
}

/** Brings a record back of which nothing is known, because its row could not be read: nothing is written over it. */
export function giveBack(item: Item, deps: Pick<ResolutionDeps, 'random'>): Resolution {
  // As a new message it has no receives that would tell that it is not a copy.
  const message: RecordMessage = receivesOf(item) > 1 ? { ...item.message, redelivered: true } : item.message;
  return sendAgain(message, deps);
}

/** Brings a record back whose row could not be written. */
export const handBack = (job: Job, deps: Pick<ResolutionDeps, 'random'>): Resolution =>
  sendAgain(again(job, job.message.attempt), deps);

function sendAgain(message: RecordMessage, deps: Pick<ResolutionDeps, 'random'>): Resolution {
  return { kind: 'return', reason: 'dependency_unavailable', ...afterPlatformFailure(message, deps), carry: message };
}

/**
 * Brings a message back because something of our own failed: with every time in a row it waits twice as long, so that a
 * lost permission or a throttled table is not asked for every record every few seconds.
 */
export function afterPlatformFailure(
  message: RecordMessage,
  { random }: Pick<ResolutionDeps, 'random'>,
): { message: RecordMessage; waitMs: number } {
  const { message: next, leastMs } = stumble(message);
  return { message: next, waitMs: spreadMs(leastMs, random, LEAST_SPREAD_MS) };
}

function stumble(message: RecordMessage): { message: RecordMessage; leastMs: number } {
  const platformRetries = (message.platformRetries ?? 0) + 1;
  const leastMs = Math.min(LONGEST_STUMBLE_MS, LEAST_WAIT_MS * 2 ** (platformRetries - 1));
  return { message: { ...message, platformRetries }, leastMs };
}

/** A message that goes on for another reason has not stumbled. */
function onward({ platformRetries: _over, ...message }: RecordMessage): RecordMessage {
  return message;
}

/** The message that brings the record back, with what was paid for. */
function again({ message, answers }: Job, attempt: number): RecordMessage {
  return { ...message, attempt, ...(Object.keys(answers).length === 0 ? {} : { answers }) };
}
