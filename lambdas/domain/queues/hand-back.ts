import * as v from 'valibot';
import { spreadMs } from '../backoff.ts';
import type { EventFields, Telemetry } from '../telemetry.ts';
import { MAX_QUEUE_DELAY_MS, type Random } from '../time.ts';
import { reportUnsent } from './not-sent.ts';
import type { Delivery, QueueSender } from './ports.ts';

export interface HandBackDeps {
  queue: QueueSender;
  telemetry: Telemetry;
  random: Random;
  lane?: EventFields['lane'];
}

/** The wait after the first return; it doubles with every further one, up to the longest delay of a queue. */
const FIRST_WAIT_MS = 60_000;
/** By then a message has waited for a quarter of an hour: no deployment takes so long. */
const OVERDUE_RETURNS = 4;
/** Attribute that counts how often a message was handed back. */
const RETURNS = 'handedBack';
/** Attribute of a message that was received before it was handed back: its receive count begins anew. */
const RECEIVED_BEFORE = 'receivedBefore';
/** Message group of messages whose tenant is not known. */
export const UNKNOWN_TENANT_GROUP = 'unreadable';

const idsSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ submissionId: v.optional(v.string()), tenantId: v.optional(v.string()) }),
);

const returnsOf = ({ attributes }: Delivery): number => Number(attributes[RETURNS] ?? 0);

/** True for a message whose first worker may have ended half way, before it was handed back by another. */
export const wasReceivedBefore = ({ receiveCount, attributes }: Delivery): boolean =>
  receiveCount > 1 || attributes[RECEIVED_BEFORE] !== undefined;

/** The ids in a message's body, as far as it can be read. */
export function idsIn(body: string): Pick<EventFields, 'submissionId' | 'tenantId'> {
  const parsed = v.safeParse(idsSchema, body);
  if (!parsed.success) return {};
  const { submissionId, tenantId } = parsed.output;
  return { ...(submissionId !== undefined && { submissionId }), ...(tenantId !== undefined && { tenantId }) };
}

/**
 * Sends messages of a newer version to their queue again, unchanged and delayed, so that no receive is counted: while two versions run side
 * by side, a process of the newer one receives them sooner or later.
 *
 * @returns the deliveries that could not be sent: they are to be delivered again.
 */
export async function handBack(
  { queue, telemetry, random, lane }: HandBackDeps,
  deliveries: readonly Delivery[],
): Promise<Set<Delivery>> {
  const [first] = deliveries;
  if (first === undefined) return new Set();
  const about = { ...(lane !== undefined && { lane }), ...(deliveries.length === 1 && idsIn(first.body)) };
  const isOverdue = deliveries.some((delivery) => returnsOf(delivery) >= OVERDUE_RETURNS);
  const level = isOverdue ? 'error' : 'warn';
  telemetry.emit({ name: 'message_handed_back', level, ...about, count: deliveries.length });
  try {
    const failures = await queue.send(
      deliveries.map((delivery) => {
        const { body, attributes } = delivery;
        const returns = returnsOf(delivery);
        const waitMs = Math.min(FIRST_WAIT_MS * 2 ** returns, MAX_QUEUE_DELAY_MS);
        return {
          body,
          group: idsIn(body).tenantId ?? UNKNOWN_TENANT_GROUP,
          attributes: {
            ...attributes,
            [RETURNS]: String(returns + 1),
            ...(wasReceivedBefore(delivery) && { [RECEIVED_BEFORE]: '1' }),
          },
          delayMs: Math.min(spreadMs(waitMs, random), MAX_QUEUE_DELAY_MS),
        };
      }),
    );
    reportUnsent(telemetry, failures, about);
    return new Set(failures.flatMap(({ index }) => deliveries[index] ?? []));
  } catch (error) {
    telemetry.emit({ name: 'unexpected_error', level: 'error', ...about, error, count: deliveries.length });
    return new Set(deliveries);
  }
}
