import type {
  Delivery,
  OutgoingMessage,
  QueueDepth,
  QueueReceiver,
  QueueSender,
} from '../../../lambdas/domain/queues/ports.ts';
import { MAX_QUEUE_DELAY_MS, type Clock, type Random } from '../../../lambdas/domain/time.ts';

export interface StoredMessage {
  messageId: string;
  body: string;
  group: string;
  attributes: Record<string, string>;
  sentAtMs: number;
  /** When it was moved here, if it was. */
  arrivedAtMs?: number;
  visibleAtMs: number;
  receiveCount: number;
  receipt?: string;
}

export interface MemoryQueue extends QueueSender, QueueReceiver, QueueDepth {
  readonly name: string;
  /** Everything in the queue, in the order of sending: visible, delayed and in flight. */
  messages(): StoredMessage[];
  /** Puts a second copy of a message into the queue, visible now: at-least-once delivery. */
  duplicate(messageId: string): void;
  /** Takes everything out, as an operator's purge does. */
  purge(): void;
  /** When the next message becomes visible; undefined when there is none. For schedulers of virtual time. */
  nextVisibleAtMs(): number | undefined;
  /** Makes hidden messages visible again at once, as a zero visibility timeout does. */
  giveBack(deliveries: readonly Pick<Delivery, 'receipt'>[]): void;
}

export interface MemoryQueueOptions {
  name: string;
  clock: Clock;
  /** Where given, any visible message may come next, as on a standard queue; otherwise they come in order. */
  random?: Random;
  /** A message that was received `maxReceiveCount` times goes to `deadLetters` instead of being received once more. */
  redrive?: { maxReceiveCount: number; deadLetters: MemoryQueue & { take(message: StoredMessage): void } };
}

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html */
const MAX_MESSAGE_BYTES = 1_048_576;

function sizeOf({ body, attributes = {} }: OutgoingMessage): number {
  const ofAttributes = Object.entries(attributes).map(([name, value]) => Buffer.byteLength(`${name}String${value}`));
  return ofAttributes.reduce((sum, bytes) => sum + bytes, Buffer.byteLength(body));
}

/** A standard queue: delays, visibility timeouts, receive counts and a redrive policy. */
export function createMemoryQueue(options: MemoryQueueOptions): MemoryQueue & { take(message: StoredMessage): void } {
  const { clock, redrive, random, name } = options;
  let stored: StoredMessage[] = [];
  let serial = 0;
  const nextId = (kind: string): string => `${name}-${kind}-${++serial}`;

  const accept = (message: OutgoingMessage): void => {
    const delayMs = Math.ceil((message.delayMs ?? 0) / 1000) * 1000;
    stored.push({
      messageId: nextId('message'),
      body: message.body,
      group: message.group,
      attributes: { ...message.attributes },
      sentAtMs: clock.now(),
      visibleAtMs: clock.now() + Math.min(Math.max(delayMs, 0), MAX_QUEUE_DELAY_MS),
      receiveCount: 0,
    });
  };
  const deliver = (message: StoredMessage, visibilityMs: number): Delivery => {
    message.receiveCount += 1;
    message.receipt = nextId('receipt');
    message.visibleAtMs = clock.now() + visibilityMs;
    const { messageId, receipt, body, receiveCount, attributes, sentAtMs } = message;
    return { messageId, receipt, body, receiveCount, attributes: { ...attributes }, sentAtMs };
  };
  const visible = (): StoredMessage[] => stored.filter((message) => message.visibleAtMs <= clock.now());
  const remove = (message: StoredMessage): void => {
    stored = stored.filter((other) => other !== message);
  };
  const release = (deliveries: readonly Pick<Delivery, 'receipt'>[]): void => {
    const receipts = new Set(deliveries.map(({ receipt }) => receipt));
    for (const message of stored) {
      if (message.receipt !== undefined && receipts.has(message.receipt)) message.visibleAtMs = clock.now();
    }
  };
  const buryExhausted = (): void => {
    if (redrive === undefined) return;
    for (const message of visible().filter(({ receiveCount }) => receiveCount >= redrive.maxReceiveCount)) {
      remove(message);
      redrive.deadLetters.take(message);
    }
  };

  return {
    name,
    async send(messages) {
      return messages.flatMap((message, index) => {
        if (sizeOf(message) > MAX_MESSAGE_BYTES) return { index, senderFault: true, code: 'MessageTooLong' };
        accept(message);
        return [];
      });
    },
    async receive(max, visibilityMs) {
      buryExhausted();
      const candidates = visible();
      const chosen: StoredMessage[] = [];
      while (chosen.length < max && candidates.length > 0) {
        const at = random === undefined ? 0 : Math.floor(random() * candidates.length);
        chosen.push(...candidates.splice(at, 1));
      }
      return chosen.map((message) => deliver(message, visibilityMs));
    },
    async acknowledge(deliveries) {
      // A receipt that is no longer the newest deletes nothing, and SQS does not say so.
      const receipts = new Set(deliveries.map(({ receipt }) => receipt));
      stored = stored.filter(({ receipt }) => receipt === undefined || !receipts.has(receipt));
      return [];
    },
    async release(deliveries) {
      release(deliveries);
    },
    async depth() {
      return stored.length;
    },
    messages: () => structuredClone(stored),
    duplicate(messageId) {
      const original = stored.find((message) => message.messageId === messageId);
      if (original === undefined) return;
      const { receipt: _receipt, ...copy } = structuredClone(original);
      stored.push({ ...copy, messageId: nextId('message'), visibleAtMs: clock.now() });
    },
    purge() {
      stored = [];
    },
    nextVisibleAtMs: () =>
      stored.length === 0 ? undefined : Math.min(...stored.map((message) => message.visibleAtMs)),
    giveBack: release,
    /** How a redrive policy moves a message: it keeps its id, its age and its receive count. */
    take(message) {
      const { receipt: _receipt, ...rest } = message;
      stored.push({ arrivedAtMs: clock.now(), ...rest, visibleAtMs: clock.now() });
    },
  };
}
