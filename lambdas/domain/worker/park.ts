import type { Delivery } from '../queues/ports.ts';
import type { WorkerDeps } from './deps.ts';

/** Most attributes that SQS takes, https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html */
const MAX_ATTRIBUTES = 10;
/** Group of what cannot be read: whose it is cannot be known. */
const NOBODYS_GROUP = 'unreadable';

/**
 * Parks messages that cannot be read in the dead-letter queue, as they are, with the reason; attributes that count earlier
 * redrives stay. Returns the deliveries that could not be parked.
 */
export async function deadLetterUnreadable(
  { deadLetterQueue, telemetry, lane }: Pick<WorkerDeps, 'deadLetterQueue' | 'telemetry' | 'lane'>,
  deliveries: readonly Delivery[],
): Promise<Set<Delivery>> {
  if (deliveries.length === 0) return new Set();
  telemetry.emit({
    name: 'message_dead_lettered',
    level: 'error',
    lane,
    reason: 'unreadable_message',
    count: deliveries.length,
  });
  try {
    const failures = await deadLetterQueue.send(
      deliveries.map(({ body, attributes }) => ({
        body,
        group: attributes['tenantId'] ?? NOBODYS_GROUP,
        attributes: parkedAttributes(attributes),
      })),
    );
    return new Set(failures.flatMap(({ index }) => deliveries[index] ?? []));
  } catch (error) {
    telemetry.emit({ name: 'unexpected_error', level: 'error', lane, error, count: deliveries.length });
    return new Set(deliveries);
  }
}

function parkedAttributes(attributes: Readonly<Record<string, string>>): Record<string, string> {
  const { reason: _earlier, redrives, ...others } = attributes;
  const kept = Object.entries(others).slice(0, MAX_ATTRIBUTES - 2);
  return { ...Object.fromEntries(kept), ...(redrives === undefined ? {} : { redrives }), reason: 'unreadable_message' };
}
