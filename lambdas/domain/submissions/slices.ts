import {
  InvalidDataError,
  LeaseLostError,
  type SluiceError,
  isPassingFailure,
  misconfigurationIn,
  unverifiedInputIn,
} from '../errors.ts';
import { encodeBody } from '../queues/messages.ts';
import { notSent } from '../queues/not-sent.ts';
import type { OutgoingMessage, QueueSender } from '../queues/ports.ts';
import { MAX_QUEUE_DELAY_MS, type Clock, type Random, type TimeBudget } from '../time.ts';

/*
 * Long work on a submission is done in slices: a lease on the submission decides who works, a message on the queue brings the
 * next slice. Between two slices of a big file other submissions get their turn.
 */

export interface SliceSettings {
  /** How long a lease holds without a renewal: what a crash costs before another owner may continue. */
  leaseMs: number;
  /** Work for about this long, then let others have their turn. */
  sliceMs: number;
  /** Stop when less than this is left of the invocation. */
  reserveMs: number;
  /** Wait before the next slice after a dependency failed. */
  retryDelayMs: number;
  /** The same after a dependency refused what a person must allow or correct first. Half as much again is random. */
  misconfiguredDelayMs: number;
  /** The same after a source was not what fan-out had sent: a person must restore it. */
  unverifiedDelayMs: number;
}

/** Lease and slice lengths of fan-out and finalizer. A function's timeout must be well above `sliceMs + reserveMs`. */
export const SLICE_DEFAULTS: SliceSettings = {
  leaseMs: 60_000,
  sliceMs: 60_000,
  reserveMs: 20_000,
  retryDelayMs: 5_000,
  misconfiguredDelayMs: 30_000,
  unverifiedDelayMs: 300_000,
};

/** The head of a submission was deleted: the message goes to the dead-letter queue, whose alarm rings, and waits there for the head. */
export const headMissing = (submissionId: string): InvalidDataError =>
  new InvalidDataError(
    `The submission ${submissionId} is not in the submissions table: restore its items, then redrive the dead letter.`,
  );

/** A name for one owner of a lease, new for every invocation: two deliveries of one message are two owners. */
export const newOwner = (random: Random): string =>
  Array.from({ length: 4 }, () =>
    Math.floor(random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0'),
  ).join('');

/** Tells whether the slice that begins now should end. */
export function sliceTimer(clock: Clock, budget: TimeBudget, settings: SliceSettings): () => boolean {
  const endMs = clock.now() + settings.sliceMs;
  return () => clock.now() >= endMs || budget.remainingMs() < settings.reserveMs;
}

/** Sends one message, also again after it was sent already. Throws DependencyUnavailableError when the queue does not take it. */
export async function sendOne(
  queue: QueueSender,
  message: { submissionId?: string | undefined; tenantId: string },
  delayMs = 0,
  attributes: OutgoingMessage['attributes'] = {},
): Promise<void> {
  const delay = Math.min(Math.max(delayMs, 0), MAX_QUEUE_DELAY_MS);
  const failures = await queue.send([
    { body: encodeBody(message), group: message.tenantId, delayMs: delay, attributes },
  ]);
  const failure = failures[0];
  if (failure)
    throw notSent(`The message that continues ${message.submissionId ?? `work of ${message.tenantId}`} was`, failure);
}

/** Wait before the slice that follows one which ended with `cause`. */
export function retryDelay(
  cause: Error,
  {
    random,
    settings,
  }: { random: Random; settings: Pick<SliceSettings, 'retryDelayMs' | 'misconfiguredDelayMs' | 'unverifiedDelayMs'> },
): number {
  if (unverifiedInputIn(cause)) return settings.unverifiedDelayMs;
  if (misconfigurationIn(cause) === undefined) return settings.retryDelayMs;
  return Math.round(settings.misconfiguredDelayMs * (1 + random() / 2));
}

/** Wait until a lease that another owner holds has ended by every clock of the fleet. */
export const untilLeaseEnds = (untilMs: number, clock: Clock): number => Math.max(untilMs - clock.now(), 0) + 1_000;

/**
 * True for what a later slice may get past: a dependency that failed, and a lost lease. The latter also when the lease
 * was given up by this very owner, whose reply was lost: another message costs little, a missing one stalls the submission.
 */
export const isPassing = (error: unknown): error is SluiceError =>
  error instanceof LeaseLostError || isPassingFailure(error);
