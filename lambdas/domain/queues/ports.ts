import type { Refusal } from '../errors.ts';

export interface OutgoingMessage {
  /** ASCII JSON, see encodeBody. */
  body: string;
  /** Message group = tenant: SQS shares a standard queue fairly between groups. */
  group: string;
  /** 0 to 900,000 ms; rounded up to whole seconds. */
  delayMs?: number;
  attributes?: Readonly<Record<string, string>>;
}

export interface SendFailure {
  /** Index into the messages that were given. */
  index: number;
  /** True when the message itself is at fault: no repetition will help. */
  senderFault: boolean;
  code: string;
  /** What a person must allow or correct before anything can be sent. */
  refused?: Refusal;
}

export interface QueueSender {
  /** Sends any number of messages, split by count and bytes; repeats what failed; answers what could not be sent in the end. Throws only for programming errors. */
  send(messages: readonly OutgoingMessage[]): Promise<SendFailure[]>;
}

/** One delivery of a message. */
export interface Delivery {
  messageId: string;
  receipt: string;
  body: string;
  /** 1 for the first time. Counts crashes, since every planned return is a new message. */
  receiveCount: number;
  attributes: Readonly<Record<string, string>>;
  sentAtMs: number;
}

/** Acknowledging before the invocation ends, which crash isolation needs. */
export interface QueueAcknowledger {
  /** Deletes deliveries; answers the message ids that could not be deleted. */
  acknowledge(deliveries: readonly Pick<Delivery, 'messageId' | 'receipt'>[]): Promise<string[]>;
}

export interface QueueReceiver extends QueueAcknowledger {
  /** Up to `max` (1 to 10) messages, hidden from others for `visibilityMs`. An empty answer proves nothing on a busy queue. */
  receive(max: number, visibilityMs: number): Promise<Delivery[]>;
  /** Lets others receive deliveries again at once. What this fails for is visible after its time anyway. */
  release(deliveries: readonly Pick<Delivery, 'receipt'>[]): Promise<void>;
}

export interface QueueDepth {
  /** Approximate number of messages: visible, delayed and in flight. */
  depth(): Promise<number>;
}
