import { isPassingFailure } from '../errors.ts';
import type { RecordMessage } from '../queues/messages.ts';
import type { RecordRow } from '../model.ts';
import type { Delivery, OutgoingMessage, QueueSender } from '../queues/ports.ts';
import type { ReasonCode } from '../reasons.ts';
import { accountFor, settle, type Settlement } from '../ledger/settlement.ts';
import { MAX_QUEUE_DELAY_MS } from '../time.ts';
import type { WorkerDeps } from './deps.ts';
import type { Item } from './deliveries.ts';
import { afterPlatformFailure, bodyOf, type Resolution } from './resolution.ts';
import { aboutMessage, logDeferred, logDiscarded, logFailed, logFinished } from './log.ts';
import type { Resolved } from './triage.ts';

/** What goes to a queue for one record. */
interface Sending {
  queue: 'lane' | 'deadLetters';
  item: Item;
  message: OutgoingMessage;
}

/**
 * Makes resolutions come true, in the order that survives a crash at any point: rows, then the ledger, then the queues. What
 * could not be written goes back to the lane with the answers it carries, and has lost no attempt.
 *
 * @returns the deliveries that could be neither finished nor sent again: only they must not be acknowledged.
 */
export async function complete(deps: WorkerDeps, resolved: readonly Resolved[]): Promise<Set<Delivery>> {
  const resolutions = resolved.map(({ resolution }) => resolution);
  const [settlements, unaccounted] = await Promise.all([
    settle(deps, resolutions.flatMap(newRow), new Map(resolutions.flatMap(whatWasSeen))),
    accountFor(deps, resolutions.flatMap(storedRow)),
  ]);
  const byRow = new Map(settlements.map((settlement) => [settlement.row, settlement]));
  const sendings = resolved.flatMap(({ item, resolution }): Sending[] => {
    if (resolution.kind === 'discard') return afterDiscard(deps, item, resolution, unaccounted);
    const settlement = resolution.row && byRow.get(resolution.row);
    if (resolution.kind === 'finish') return afterFinish(deps, item, resolution, settlement);
    return afterReturn(deps, item, resolution, settlement);
  });
  const unsent = [
    ...(await send(
      deps,
      deps.deadLetterQueue,
      sendings.filter(({ queue }) => queue === 'deadLetters'),
    )),
    ...(await send(
      deps,
      deps.laneQueue,
      sendings.filter(({ queue }) => queue === 'lane'),
    )),
  ];
  return new Set(unsent.flatMap(({ deliveries }) => deliveries));
}

const newRow = (resolution: Resolution): RecordRow[] =>
  resolution.kind !== 'discard' && resolution.row !== undefined ? [resolution.row] : [];
const whatWasSeen = (resolution: Resolution): [RecordRow, RecordRow][] =>
  resolution.kind !== 'discard' && resolution.row !== undefined && resolution.seen !== undefined
    ? [[resolution.row, resolution.seen]]
    : [];
const storedRow = (resolution: Resolution): RecordRow[] =>
  resolution.kind === 'discard' && resolution.stored !== undefined ? [resolution.stored] : [];

type Finish = Extract<Resolution, { kind: 'finish' }>;
type Return = Extract<Resolution, { kind: 'return' }>;
type Discard = Extract<Resolution, { kind: 'discard' }>;

function afterFinish(
  deps: WorkerDeps,
  item: Item,
  { row, deadLetter, carry }: Finish,
  settlement?: Settlement,
): Sending[] {
  if (settlement?.outcome !== 'settled') return repeat(deps, item, carry, settlement?.outcome.unavailable);
  const { stored, applied } = settlement;
  if (applied) logFinished(deps, item, row);
  else logDiscarded(deps, item, 'settled');
  const isDead = deadLetter && stored.state === 'dead_lettered' && stored.generation === row.generation;
  return isDead ? [toDeadLetters(item, carry, stored)] : [];
}

function afterReturn(deps: WorkerDeps, item: Item, resolution: Return, settlement?: Settlement): Sending[] {
  const { message, waitMs, reason, row, carry } = resolution;
  if (settlement !== undefined && settlement.outcome !== 'settled') {
    return repeat(deps, item, carry, settlement.outcome.unavailable);
  }
  // Whatever stands above a waiting row is an outcome, or a newer generation: this message is over.
  if (settlement?.applied === false) {
    logDiscarded(deps, item, 'settled');
    return [];
  }
  if (row?.state === 'retrying') logFailed(deps, item, row, waitMs);
  else logDeferred(deps, item, reason, waitMs);
  return [toLane(item, message, waitMs)];
}

function afterDiscard(
  deps: WorkerDeps,
  item: Item,
  { because, stored, deadLetterAgain }: Discard,
  unaccounted: ReadonlyMap<RecordRow, unknown>,
): Sending[] {
  if (stored !== undefined && unaccounted.has(stored)) return repeat(deps, item, item.message, unaccounted.get(stored));
  logDiscarded(deps, item, because);
  return stored !== undefined && deadLetterAgain === true ? [toDeadLetters(item, item.message, stored)] : [];
}

/** Something could not be written: all of it is done again, by whoever gets the message. */
function repeat(deps: WorkerDeps, item: Item, message: RecordMessage, error: unknown): Sending[] {
  // A write that fails for another reason than the service's state needs a person; the record waits meanwhile.
  const level = isPassingFailure(error) ? 'warn' : 'error';
  deps.telemetry.emit({ name: 'unexpected_error', level, ...aboutMessage(deps, message), error });
  const reason: ReasonCode = 'dependency_unavailable';
  const { message: next, waitMs } = afterPlatformFailure(message, deps);
  logDeferred(deps, item, reason, waitMs);
  return [toLane(item, next, waitMs)];
}

/** A wait beyond the longest delay goes in hops: the message says until when, and whoever gets it too early sends it on. */
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
  return { queue: 'deadLetters', item, message: { body: bodyOf(message), group: tenantId, attributes } };
}

/** Sends, and answers the items whose message was not taken. */
async function send({ telemetry }: WorkerDeps, queue: QueueSender, sendings: readonly Sending[]): Promise<Item[]> {
  if (sendings.length === 0) return [];
  try {
    const failures = await queue.send(sendings.map(({ message }) => message));
    return failures.flatMap(({ index }) => sendings[index]?.item ?? []);
  } catch (error) {
    telemetry.emit({ name: 'unexpected_error', level: 'error', error, count: sendings.length });
    return sendings.map(({ item }) => item);
  }
}
