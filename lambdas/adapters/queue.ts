import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type BatchResultErrorEntry,
  type MessageAttributeValue,
  type SendMessageBatchRequestEntry,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { InvalidDataError } from '../domain/errors.ts';
import type {
  Delivery,
  OutgoingMessage,
  QueueAcknowledger,
  QueueDepth,
  QueueReceiver,
  QueueSender,
} from '../domain/queues/ports.ts';
import { MAX_QUEUE_DELAY_MS, type Clock } from '../domain/time.ts';
import { callAws, type AwsCall } from './aws-errors.ts';
import { inBatches, type BatchAnswer } from './dynamodb/batches.ts';

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html */
const MAX_ENTRIES = 10;
/** Of one message, and of all messages of a batch together; bodies and attributes in UTF-8. */
export const MAX_BATCH_BYTES = 1_048_576;

/** Long enough to ask every server of the queue, short enough for a caller that only wants to look. */
const POLL_SECONDS = 1;

const STRING_TYPE = 'String';

/** Size that counts against the queue's limits: the body, and of each attribute its name, type and value. */
export function messageBytes({ body, attributes = {} }: OutgoingMessage): number {
  let bytes = Buffer.byteLength(body);
  for (const [name, value] of Object.entries(attributes)) {
    bytes += Buffer.byteLength(name) + STRING_TYPE.length + Buffer.byteLength(value);
  }
  return bytes;
}

function entryOf(message: OutgoingMessage, index: number): SendMessageBatchRequestEntry {
  const attributes: Record<string, MessageAttributeValue> = {};
  for (const [name, value] of Object.entries(message.attributes ?? {})) {
    attributes[name] = { DataType: STRING_TYPE, StringValue: value };
  }
  const delayMs = Math.min(Math.max(message.delayMs ?? 0, 0), MAX_QUEUE_DELAY_MS);
  return {
    Id: String(index),
    MessageBody: message.body,
    MessageGroupId: message.group,
    DelaySeconds: Math.ceil(delayMs / 1000),
    ...(Object.keys(attributes).length > 0 ? { MessageAttributes: attributes } : {}),
  };
}

const answerOf = (answer: {
  Successful?: { Id?: string | undefined }[] | undefined;
  Failed?: BatchResultErrorEntry[] | undefined;
}): BatchAnswer => ({
  succeeded: (answer.Successful ?? []).flatMap(({ Id }) => Id ?? []),
  failed: (answer.Failed ?? []).flatMap(({ Id, Code, SenderFault }) =>
    Id === undefined ? [] : { id: Id, code: Code ?? 'Unknown', senderFault: SenderFault ?? false },
  ),
});

/** Divides entries by count and by bytes; `sizeOf` each is at most a batch's limit. */
function pack(indices: readonly number[], sizeOf: (index: number) => number): number[][] {
  const batches: number[][] = [];
  let bytes = 0;
  for (const index of indices) {
    const current = batches.at(-1);
    const size = sizeOf(index);
    if (current === undefined || current.length === MAX_ENTRIES || bytes + size > MAX_BATCH_BYTES) {
      batches.push([index]);
      bytes = size;
    } else {
      current.push(index);
      bytes += size;
    }
  }
  return batches;
}

const callOf = (action: string, queueUrl: string): AwsCall => ({ service: 'sqs', action, resource: queueUrl });

/** The one sender of Sluice, see {@link QueueSender}. */
export function createQueueSender(client: SQSClient, queueUrl: string, clock: Clock): QueueSender {
  return {
    async send(messages) {
      const sizes = messages.map(messageBytes);
      const sizeOf = (index: number): number => sizes[index] ?? 0;
      const tooLarge = [...sizes.keys()].filter((index) => sizeOf(index) > MAX_BATCH_BYTES);
      const entries = messages.map(entryOf);
      const failures = await inBatches({
        call: callOf('SendMessage', queueUrl),
        indices: [...entries.keys()].filter((index) => sizeOf(index) <= MAX_BATCH_BYTES),
        pack: (indices) => pack(indices, sizeOf),
        send: async (indices) => {
          const Entries = indices.flatMap((index) => entries[index] ?? []);
          return answerOf(await client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries })));
        },
        clock,
      });
      const oversize = tooLarge.map((index) => ({ index, senderFault: true, code: 'MessageTooLong' }));
      return [...failures, ...oversize].toSorted((a, b) => a.index - b.index);
    },
  };
}

/** Deletes messages, see {@link QueueAcknowledger}. */
export function createQueueAcknowledger(client: SQSClient, queueUrl: string, clock: Clock): QueueAcknowledger {
  return {
    async acknowledge(deliveries) {
      const failures = await inBatches({
        call: callOf('DeleteMessage', queueUrl),
        indices: [...deliveries.keys()],
        pack: (indices) => pack(indices, () => 0),
        send: async (indices) => {
          const Entries = indices.flatMap((index) => {
            const delivery = deliveries[index];
            return delivery === undefined ? [] : { Id: String(index), ReceiptHandle: delivery.receipt };
          });
          return answerOf(await client.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries })));
        },
        clock,
      });
      return failures.flatMap(({ index }) => deliveries[index]?.messageId ?? []);
    },
  };
}

const digits = v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number));
const messageSchema = v.object({
  MessageId: v.string(),
  ReceiptHandle: v.string(),
  Body: v.string(),
  Attributes: v.object({ ApproximateReceiveCount: digits, SentTimestamp: digits }),
  MessageAttributes: v.optional(v.record(v.string(), v.object({ StringValue: v.optional(v.string()) })), () => ({})),
});

function deliveryOf(message: unknown): Delivery {
  const parsed = v.safeParse(messageSchema, message);
  if (!parsed.success) {
    const place = v.getDotPath(parsed.issues[0]) ?? 'its root';
    throw new InvalidDataError(`SQS delivered a message that is not valid at ${place}.`);
  }
  const { MessageId, ReceiptHandle, Body, Attributes, MessageAttributes } = parsed.output;
  const attributes: Record<string, string> = {};
  for (const [name, { StringValue }] of Object.entries(MessageAttributes)) {
    if (StringValue !== undefined) attributes[name] = StringValue;
  }
  return {
    messageId: MessageId,
    receipt: ReceiptHandle,
    body: Body,
    receiveCount: Attributes.ApproximateReceiveCount,
    attributes,
    sentAtMs: Attributes.SentTimestamp,
  };
}

const DEPTH_ATTRIBUTES = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
] as const;
const depthSchema = v.object(v.entriesFromList(DEPTH_ATTRIBUTES, digits));

/** Receives by polling, for dead-letter queues, see {@link QueueReceiver}. Event sources deliver everything else. */
export function createQueueReceiver(client: SQSClient, queueUrl: string, clock: Clock): QueueReceiver {
  return {
    ...createQueueAcknowledger(client, queueUrl, clock),

    async receive(max, visibilityMs) {
      const command = new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: max,
        VisibilityTimeout: Math.ceil(visibilityMs / 1000),
        WaitTimeSeconds: POLL_SECONDS,
        MessageSystemAttributeNames: ['ApproximateReceiveCount', 'SentTimestamp'],
        MessageAttributeNames: ['All'],
      });
      const answer = await callAws(`receiving from ${queueUrl}`, callOf('ReceiveMessage', queueUrl), async () =>
        client.send(command),
      );
      return (answer.Messages ?? []).map(deliveryOf);
    },

    async release(deliveries) {
      await inBatches({
        call: callOf('ChangeMessageVisibility', queueUrl),
        indices: [...deliveries.keys()],
        pack: (indices) => pack(indices, () => 0),
        send: async (indices) => {
          const Entries = indices.flatMap((index) => {
            const ReceiptHandle = deliveries[index]?.receipt;
            return ReceiptHandle === undefined ? [] : { Id: String(index), ReceiptHandle, VisibilityTimeout: 0 };
          });
          return answerOf(await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries })));
        },
        clock,
      });
    },
  };
}

/** Counts messages, see {@link QueueDepth}. */
export function createQueueDepth(client: SQSClient, queueUrl: string): QueueDepth {
  return {
    async depth() {
      const command = new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: [...DEPTH_ATTRIBUTES] });
      const answer = await callAws(
        `reading the depth of ${queueUrl}`,
        callOf('GetQueueAttributes', queueUrl),
        async () => client.send(command),
      );
      const counts = v.parse(depthSchema, answer.Attributes);
      return DEPTH_ATTRIBUTES.reduce((sum, name) => sum + counts[name], 0);
    },
  };
}
