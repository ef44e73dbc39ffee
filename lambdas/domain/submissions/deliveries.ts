import { isPassingFailure } from '../errors.ts';
import { MAX_RECEIVE_COUNT } from '../limits.ts';
import { handBack, idsIn, UNKNOWN_TENANT_GROUP, type HandBackDeps } from '../queues/hand-back.ts';
import { reportUnsent } from '../queues/not-sent.ts';
import type { Delivery, QueueAcknowledger } from '../queues/ports.ts';
import { UnsupportedVersionError } from '../versions.ts';

const ISOLATED = 'isolated';
/** Attributes of a message that runs alone, because an invocation that held its submission ended without giving the lease up. */
export const RUNS_ALONE: Readonly<Record<string, string>> = { [ISOLATED]: 'true' };
/** Longest wait of such a message that was received with another one. */
const ISOLATED_WAIT_MS = 10_000;

export interface DeliveryDeps extends HandBackDeps {
  acknowledger: QueueAcknowledger;
}

type Work = (body: string) => Promise<void>;

/**
 * Works the deliveries of one invocation side by side, whatever becomes of the others. A message of a newer version is handed back.
 *
 * A crash counts a receive for every delivery of its invocation. So a delivery that was received before is isolated: it runs alone, when
 * the others are acknowledged. An invocation runs one of these, the one with the most receives; the others are sent again as new messages.
 *
 * @returns ids of the messages that must be delivered again, because their work ended in an error.
 */
export async function eachDelivery(deps: DeliveryDeps, deliveries: readonly Delivery[], work: Work): Promise<string[]> {
  const others = deliveries.filter((delivery) => !isIsolated(delivery));
  const isolated = deliveries.filter(isIsolated).toSorted((a, b) => b.receiveCount - a.receiveCount);
  const alone = isolated.find(({ receiveCount }) => others.length === 0 || receiveCount < MAX_RECEIVE_COUNT);
  const unsent = await sendAgain(
    deps,
    isolated.filter((delivery) => delivery !== alone),
  );
  const failed = await sideBySide(deps, others, work);
  if (alone === undefined) return [...unsent, ...failed];
  await acknowledgeExcept(deps, others, failed);
  return [...unsent, ...failed, ...(await sideBySide(deps, [alone], work))];
}

const isIsolated = ({ receiveCount, attributes }: Delivery): boolean =>
  receiveCount > 1 || attributes[ISOLATED] !== undefined;

async function sideBySide(deps: DeliveryDeps, deliveries: readonly Delivery[], work: Work): Promise<string[]> {
  const failed = await Promise.all(
    deliveries.map(async (delivery) => ((await isDone(deps, delivery, work)) ? [] : [delivery.messageId])),
  );
  return failed.flat();
}

async function isDone(deps: DeliveryDeps, delivery: Delivery, work: Work): Promise<boolean> {
  const { body } = delivery;
  try {
    await work(body);
    return true;
  } catch (error) {
    if (error instanceof UnsupportedVersionError && (await handBack(deps, [delivery])).size === 0) return true;
    const level = isPassingFailure(error) ? 'warn' : 'error';
    deps.telemetry.emit({ name: 'unexpected_error', level, ...idsIn(body), error });
    return false;
  }
}

/** Sends isolated deliveries again as new messages. Answers the ids of those that could not be sent. */
async function sendAgain(deps: DeliveryDeps, deliveries: readonly Delivery[]): Promise<string[]> {
  if (deliveries.length === 0) return [];
  const { queue, random, telemetry } = deps;
  try {
    const failures = await queue.send(
      deliveries.map(({ body, attributes }) => ({
        body,
        group: idsIn(body).tenantId ?? UNKNOWN_TENANT_GROUP,
        attributes: { ...attributes, ...RUNS_ALONE },
        delayMs: Math.ceil(random() * ISOLATED_WAIT_MS),
      })),
    );
    reportUnsent(telemetry, failures);
    const unsent = failures.flatMap(({ index }) => deliveries[index]?.messageId ?? []);
    await acknowledgeExcept(deps, deliveries, unsent);
    return unsent;
  } catch (error) {
    telemetry.emit({ name: 'unexpected_error', level: 'error', error, count: deliveries.length });
    return deliveries.map(({ messageId }) => messageId);
  }
}

/** Acknowledges now, before something may crash. What this fails for is deleted at the end, or delivered again and found to be done. */
async function acknowledgeExcept(
  { acknowledger, telemetry }: DeliveryDeps,
  deliveries: readonly Delivery[],
  failed: readonly string[],
): Promise<void> {
  const done = deliveries.filter(({ messageId }) => !failed.includes(messageId));
  if (done.length === 0) return;
  try {
    await acknowledger.acknowledge(done);
  } catch (error) {
    telemetry.emit({ name: 'unexpected_error', level: 'warn', error, count: done.length });
  }
}
