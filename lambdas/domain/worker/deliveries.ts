import { UNKNOWN_TENANT_GROUP, wasReceivedBefore } from '../queues/hand-back.ts';
import { parseRecordMessage, type RecordMessage } from '../queues/messages.ts';
import { reportUnsent } from '../queues/not-sent.ts';
import type { Delivery } from '../queues/ports.ts';
import type { EventFields } from '../telemetry.ts';
import { UnsupportedVersionError } from '../versions.ts';
import type { WorkerDeps } from './process-batch.ts';

/** One record of a batch. */
export interface Item {
  message: RecordMessage;
  /** The delivery that is processed, then further copies of the same record in the same batch, which are acknowledged with it. */
  deliveries: readonly [Delivery, ...Delivery[]];
}

export interface Batch {
  items: Item[];
  unreadable: Delivery[];
  /** Messages of a newer major version, which a newer worker can read. */
  newer: Delivery[];
}

/** The highest receive count of the item's deliveries; more than 1 means that a worker crashed with it. */
export const receivesOf = ({ deliveries }: Item): number =>
  Math.max(...deliveries.map(({ receiveCount }) => receiveCount));

/** The log fields of every line about a record. */
export function logFieldsOf({ lane }: Pick<WorkerDeps, 'lane'>, message: RecordMessage) {
  const { submissionId, tenantId, recordNo, attempt, generation } = message;
  return { submissionId, tenantId, recordNo, attempt, generation, lane } as const satisfies EventFields;
}

/** Parses a batch and joins copies of one record. */
export function readBatch(deliveries: readonly Delivery[]): Batch {
  const unreadable: Delivery[] = [];
  const newer: Delivery[] = [];
  const items = new Map<string, Item>();
  for (const delivery of deliveries) {
    const message = parse(delivery.body);
    if (message === 'unreadable' || message === 'newer') {
      (message === 'newer' ? newer : unreadable).push(delivery);
      continue;
    }
    const { submissionId, tenantId, recordNo, generation } = message;
    // A message that names another tenant or generation is no copy: it is checked by itself.
    const key = [submissionId, tenantId, recordNo, generation].join('#');
    const item: Item = {
      message: wasReceivedBefore(delivery) && delivery.receiveCount === 1 ? { ...message, redelivered: true } : message,
      deliveries: [delivery],
    };
    const other = items.get(key);
    items.set(key, other === undefined ? item : join(other, item));
  }
  return { items: [...items.values()], unreadable, newer };
}

function parse(body: string): RecordMessage | 'newer' | 'unreadable' {
  try {
    return parseRecordMessage(body);
  } catch (error) {
    // The error itself is not logged: it could quote record content.
    return error instanceof UnsupportedVersionError ? 'newer' : 'unreadable';
  }
}

/** The copy that made the most progress is processed. */
function join(a: Item, b: Item): Item {
  const rank = ({ message }: Item): number[] => [message.attempt, message.notBeforeMs ?? 0];
  const difference = rank(a)
    .map((value, index) => value - (rank(b)[index] ?? 0))
    .find((value) => value !== 0);
  const [first, second] = (difference ?? 0) >= 0 ? [a, b] : [b, a];
  const redelivered = first.message.redelivered ?? second.message.redelivered;
  const message = { ...first.message, ...(redelivered === undefined ? {} : { redelivered }) };
  return { message, deliveries: [...first.deliveries, ...second.deliveries] };
}

/** SQS takes at most 10 attributes, https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html */
const MAX_ATTRIBUTES = 10;

/**
 * Sends unreadable messages to the dead-letter queue unchanged, with the reason as an attribute; the count of earlier redrives is
 * kept. Returns the deliveries that could not be sent.
 */
export async function deadLetterUnreadable(
  { deadLetterQueue, telemetry, lane }: Pick<WorkerDeps, 'deadLetterQueue' | 'telemetry' | 'lane'>,
  deliveries: readonly Delivery[],
): Promise<Set<Delivery>> {
  if (deliveries.length === 0) return new Set();
  const count = deliveries.length;
  telemetry.emit({ name: 'message_dead_lettered', level: 'error', lane, reason: 'unreadable_message', count });
  try {
    const failures = await deadLetterQueue.send(
      deliveries.map(({ body, attributes }) => ({
        body,
        group: attributes['tenantId'] ?? UNKNOWN_TENANT_GROUP,
        attributes: deadLetterAttributes(attributes),
      })),
    );
    reportUnsent(telemetry, failures, { lane });
    return new Set(failures.flatMap(({ index }) => deliveries[index] ?? []));
  } catch (error) {
    telemetry.emit({ name: 'unexpected_error', level: 'error', lane, error, count });
    return new Set(deliveries);
  }
}

function deadLetterAttributes(attributes: Readonly<Record<string, string>>): Record<string, string> {
  const { reason: _earlier, redrives, ...others } = attributes;
  const kept = Object.entries(others).slice(0, MAX_ATTRIBUTES - 2);
  return { ...Object.fromEntries(kept), ...(redrives === undefined ? {} : { redrives }), reason: 'unreadable_message' };
}
