import { isPassingFailure } from '../errors.ts';
import { accountFor, settle, type HasTime, type Settlement } from '../ledger/settlement.ts';
import type { RecordRow, Submission } from '../model.ts';
import type { RecordMessage } from '../queues/messages.ts';
import { reportUnsent } from '../queues/not-sent.ts';
import type { Delivery, OutgoingMessage, QueueSender } from '../queues/ports.ts';
import type { ReasonCode } from '../reasons.ts';
import type { DomainEvent } from '../telemetry.ts';
import { MAX_QUEUE_DELAY_MS } from '../time.ts';
import { logFieldsOf, type Item } from './deliveries.ts';
import type { WorkerDeps } from './process-batch.ts';
import { afterPlatformFailure, bodyOf, type Resolution, type Resolved } from './resolution.ts';
import { isTooLate, KEEP_OUTCOMES_MS } from '../submissions/stop.ts';

/** When a batch began, and whether another write fits into its invocation. */
export interface BatchTime {
  startedAtMs: number;
  hasTime: HasTime;
}

/** A message to send for one record. */
interface Sending {
  queue: 'lane' | 'deadLetters';
  item: Item;
  message: OutgoingMessage;
}

/**
 * Writes resolutions in the order that survives a crash at any point: rows, then the ledger, then the queues. A record that could
 * not be written is sent to the lane again with the answers it has, at no attempt.
 *
 * @returns the deliveries that could be neither finished nor sent again: only they must not be acknowledged.
 */
export async function complete(
  deps: WorkerDeps,
  reached: readonly Resolved[],
  { startedAtMs, hasTime }: BatchTime,
): Promise<Set<Delivery>> {
  const resolved = await dropWhatIsLate(deps, reached, startedAtMs);
  const resolutions = resolved.map(({ resolution }) => resolution);
  const [settlements, unaccounted] = await Promise.all([
    settle(deps, resolutions.flatMap(newRow), new Map(resolutions.flatMap(seenRow)), hasTime),
    accountFor(deps, resolutions.flatMap(storedRow), hasTime),
  ]);
  const byRow = new Map(settlements.map((settlement) => [settlement.row, settlement]));
  const sendings = resolved.flatMap(({ item, resolution }): Sending[] => {
    if (resolution.kind === 'reject') return afterReject(deps, item, resolution);
    if (resolution.kind === 'discard') return afterDiscard(deps, item, resolution, unaccounted);
    const settlement = resolution.row && byRow.get(resolution.row);
    if (resolution.kind === 'finish') return afterFinish(deps, item, resolution, settlement);
    return afterReturn(deps, item, resolution, settlement);
  });
  const unsent = [...(await send(deps, 'deadLetters', sendings)), ...(await send(deps, 'lane', sendings))];
  return new Set(unsent.flatMap(({ deliveries }) => deliveries));
}

/** An outcome that comes long after its submission was stopped would change results that are being written: the ledger has ended it. */
async function dropWhatIsLate(
  deps: WorkerDeps,
  reached: readonly Resolved[],
  startedAtMs: number,
): Promise<Resolved[]> {
  // What was stopped since this batch began was not stopped long ago.
  if (deps.clock.now() - startedAtMs <= KEEP_OUTCOMES_MS) return [...reached];
  const finished = Map.groupBy(
    reached.filter(({ resolution }) => resolution.kind === 'finish'),
    ({ item }) => item.message.submissionId,
  );
  const heads = new Map<string, Submission | undefined | 'unknown'>();
  await Promise.all(
    [...finished.keys()].map(async (submissionId) => {
      try {
        heads.set(submissionId, await deps.submissions.get(submissionId));
      } catch (error) {
        deps.telemetry.emit({ name: 'unexpected_error', level: isPassingFailure(error) ? 'warn' : 'error', error });
        heads.set(submissionId, 'unknown');
      }
    }),
  );
  return reached.map(({ item, resolution }) => {
    const head = heads.get(item.message.submissionId);
    if (resolution.kind !== 'finish' || head === undefined) return { item, resolution };
    if (head === 'unknown') {
      const next = afterPlatformFailure(resolution.carry, deps);
      return { item, resolution: { kind: 'return', reason: 'dependency_unavailable', ...next, carry: next.message } };
    }
    const isLate = isTooLate(head, item.message.generation, deps.clock.now());
    return { item, resolution: isLate ? { kind: 'discard', because: 'stopped' } : resolution };
  });
}

const newRow = (resolution: Resolution): RecordRow[] =>
  'row' in resolution && resolution.row !== undefined ? [resolution.row] : [];
const seenRow = (resolution: Resolution): [RecordRow, RecordRow][] =>
  'row' in resolution && resolution.row !== undefined && resolution.seen !== undefined
    ? [[resolution.row, resolution.seen]]
    : [];
const storedRow = (resolution: Resolution): RecordRow[] =>
  resolution.kind === 'discard' && resolution.stored !== undefined ? [resolution.stored] : [];

type Finish = Extract<Resolution, { kind: 'finish' }>;
type Return = Extract<Resolution, { kind: 'return' }>;
type Discard = Extract<Resolution, { kind: 'discard' }>;
type Reject = Extract<Resolution, { kind: 'reject' }>;

function afterFinish(
  deps: WorkerDeps,
  item: Item,
  { row, deadLetter, carry }: Finish,
  settlement?: Settlement,
): Sending[] {
  if (settlement?.outcome !== 'settled') return sendAgain(deps, item, carry, settlement?.outcome.unavailable);
  const { stored, applied } = settlement;
  if (applied) logFinished(deps, item, row);
  else logDiscarded(deps, item, 'settled');
  const isDead = deadLetter && stored.state === 'dead_lettered' && stored.generation === row.generation;
  return isDead ? [toDeadLetters(item, carry, stored)] : [];
}

function afterReturn(deps: WorkerDeps, item: Item, resolution: Return, settlement?: Settlement): Sending[] {
  const { message, waitMs, reason, row, carry } = resolution;
  if (settlement !== undefined && settlement.outcome !== 'settled') {
    return sendAgain(deps, item, carry, settlement.outcome.unavailable);
  }
  // A waiting row gives way only to an outcome or a newer generation: this message is done.
  if (settlement?.applied === false) {
    logDiscarded(deps, item, 'settled');
    return [];
  }
  if (row?.state === 'retrying') logAttemptFailed(deps, item, row, waitMs);
  else logDeferred(deps, item, reason, waitMs);
  return [toLane(item, message, waitMs)];
}

function afterDiscard(
  deps: WorkerDeps,
  item: Item,
  { because, stored, deadLetterAgain }: Discard,
  unaccounted: ReadonlyMap<RecordRow, unknown>,
): Sending[] {
  if (stored !== undefined && unaccounted.has(stored)) {
    return sendAgain(deps, item, item.message, unaccounted.get(stored));
  }
  logDiscarded(deps, item, because);
  return stored !== undefined && deadLetterAgain === true ? [toDeadLetters(item, item.message, stored)] : [];
}

/** The message as it was received, with the reason: an operator decides what becomes of it. */
function afterReject(deps: WorkerDeps, item: Item, { reason, detail }: Reject): Sending[] {
  const { message, deliveries } = item;
  deps.telemetry.emit({
    name: 'message_dead_lettered',
    level: 'error',
    ...logFieldsOf(deps, message),
    reason,
    detail,
    count: deliveries.length,
  });
  const { submissionId, tenantId, recordNo, generation, redrives } = message;
  const attributes = {
    reason,
    submissionId,
    recordNo: String(recordNo),
    generation: String(generation),
    redrives: String(redrives),
  };
  return [{ queue: 'deadLetters', item, message: { body: deliveries[0].body, group: tenantId, attributes } }];
}

/** A write failed: the record is sent again, and whoever receives it repeats all writes. */
function sendAgain(deps: WorkerDeps, item: Item, message: RecordMessage, error: unknown): Sending[] {
  // A write that fails for another reason than the service's state needs a person; the record waits meanwhile.
  const level = isPassingFailure(error) ? 'warn' : 'error';
  deps.telemetry.emit({ name: 'unexpected_error', level, ...logFieldsOf(deps, message), error });
  const { message: next, waitMs } = afterPlatformFailure(message, deps);
  logDeferred(deps, item, 'dependency_unavailable', waitMs);
  return [toLane(item, next, waitMs)];
}

/** A wait beyond the queue's longest delay takes several sends: the message says until when, and a worker that receives it earlier sends it again. */
function toLane(item: Item, message: RecordMessage, waitMs: number): Sending {
  const delayMs = Math.min(Math.max(waitMs, 0), MAX_QUEUE_DELAY_MS);
  return { queue: 'lane', item, message: { body: bodyOf(message), group: message.tenantId, delayMs } };
}

function toDeadLetters(item: Item, message: RecordMessage, { reason, attempts }: RecordRow): Sending {
  const { submissionId, tenantId, recordNo, generation, redrives } = message;
  const attributes = {
    reason: reason ?? 'internal_error',
    submissionId,
    recordNo: String(recordNo),
    attempts: String(attempts),
    generation: String(generation),
    redrives: String(redrives),
  };
  // A replay of it has its whole time again.
  const { notReadySinceMs: _over, ...body } = message;
  return { queue: 'deadLetters', item, message: { body: bodyOf(body), group: tenantId, attributes } };
}

/** Sends the messages for one queue; returns the items whose message was not accepted. */
async function send(deps: WorkerDeps, target: Sending['queue'], all: readonly Sending[]): Promise<Item[]> {
  const sendings = all.filter(({ queue }) => queue === target);
  if (sendings.length === 0) return [];
  const queue: QueueSender = target === 'lane' ? deps.laneQueue : deps.deadLetterQueue;
  try {
    const failures = await queue.send(sendings.map(({ message }) => message));
    reportUnsent(deps.telemetry, failures, { lane: deps.lane });
    return failures.flatMap(({ index }) => sendings[index]?.item ?? []);
  } catch (error) {
    deps.telemetry.emit({ name: 'unexpected_error', level: 'error', error, count: sendings.length });
    return sendings.map(({ item }) => item);
  }
}

const LEVELS: Partial<Record<RecordRow['state'], DomainEvent['level']>> = { failed: 'warn', dead_lettered: 'error' };

/** The fields of a row that explain it, where it has them. */
function explanationOf({ reason, detail }: RecordRow) {
  return { ...(reason !== undefined && { reason }), ...(detail !== undefined && { detail }) };
}

function logFinished(deps: WorkerDeps, { message }: Item, row: RecordRow): void {
  deps.telemetry.emit({
    name: 'record_finished',
    level: LEVELS[row.state] ?? 'info',
    ...logFieldsOf(deps, message),
    attempt: row.attempts,
    outcome: row.state,
    ...explanationOf(row),
    ageMs: deps.clock.now() - row.firstEnqueuedAtMs,
  });
}

/** An attempt failed; another one is due after `waitMs`. */
function logAttemptFailed(deps: WorkerDeps, { message }: Item, row: RecordRow, waitMs: number): void {
  deps.telemetry.emit({
    name: 'record_attempt_failed',
    level: 'warn',
    ...logFieldsOf(deps, message),
    attempt: row.attempts,
    ...(row.waitingOn !== undefined && { provider: row.waitingOn }),
    ...explanationOf(row),
    durationMs: waitMs,
  });
}

/** A record waits without having failed. At level debug, since an outage defers tens of thousands; the metric counts them. */
function logDeferred(deps: WorkerDeps, { message }: Item, reason: ReasonCode, durationMs: number): void {
  const fields = logFieldsOf(deps, message);
  deps.telemetry.emit({ name: 'record_deferred', level: 'debug', ...fields, reason, durationMs });
}

/** A message was acknowledged without being processed. */
function logDiscarded(deps: WorkerDeps, { message }: Item, because: string): void {
  deps.telemetry.emit({ name: 'record_discarded', level: 'debug', ...logFieldsOf(deps, message), outcome: because });
}
