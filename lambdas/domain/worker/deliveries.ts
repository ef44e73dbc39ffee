import { parseRecordMessage, type RecordMessage } from '../queues/messages.ts';
import type { Delivery } from '../queues/ports.ts';

/** One record of a batch. */
export interface Item {
  message: RecordMessage;
  /** The delivery that is worked, then further copies of the same record in the same batch: they share its fate. */
  deliveries: readonly [Delivery, ...Delivery[]];
}

export interface Batch {
  items: Item[];
  unreadable: Delivery[];
}

/** The most receives of the item's deliveries; more than one means that a worker crashed with it. */
export const receivesOf = ({ deliveries }: Item): number =>
  Math.max(...deliveries.map(({ receiveCount }) => receiveCount));

/** Parses a batch and joins copies of one record. */
export function readBatch(deliveries: readonly Delivery[]): Batch {
  const unreadable: Delivery[] = [];
  const items = new Map<string, Item>();
  for (const delivery of deliveries) {
    const message = parse(delivery.body);
    if (message === undefined) {
      unreadable.push(delivery);
      continue;
    }
    const key = `${message.submissionId}#${message.recordNo}`;
    const item: Item = { message, deliveries: [delivery] };
    const other = items.get(key);
    items.set(key, other === undefined ? item : join(other, item));
  }
  return { items: [...items.values()], unreadable };
}

function parse(body: string): RecordMessage | undefined {
  try {
    return parseRecordMessage(body);
  } catch {
    // The caller parks it; why it cannot be read would quote its content.
    return undefined;
  }
}

/** The copy that got furthest is worked. */
function join(a: Item, b: Item): Item {
  const rank = ({ message }: Item): number[] => [message.generation, message.attempt, message.notBeforeMs ?? 0];
  const difference = rank(a)
    .map((value, index) => value - (rank(b)[index] ?? 0))
    .find((value) => value !== 0);
  const [first, second] = (difference ?? 0) >= 0 ? [a, b] : [b, a];
  const redelivered = first.message.redelivered ?? second.message.redelivered;
  const message = { ...first.message, ...(redelivered === undefined ? {} : { redelivered }) };
  return { message, deliveries: [...first.deliveries, ...second.deliveries] };
}
