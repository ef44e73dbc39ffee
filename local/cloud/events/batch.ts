import * as v from 'valibot';
import type { InvokeResult } from '../contract.ts';
import { MAX_SYNCHRONOUS_BYTES } from '../lambda/answer.ts';
import type { SqsMapping } from './mapping.ts';
import type { Message } from './queue.ts';

/** Room for what surrounds the bodies in an event. */
const RECORD_OVERHEAD_BYTES = 2048;

/** One record of the event that a function gets, https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html */
function recordOf(message: Message, mapping: SqsMapping, region: string): object {
  const messageAttributes = Object.fromEntries(
    Object.entries(message.MessageAttributes ?? {}).map(([name, { StringValue, BinaryValue, DataType }]) => [
      name,
      {
        stringValue: StringValue,
        ...(BinaryValue === undefined ? {} : { binaryValue: Buffer.from(BinaryValue).toString('base64') }),
        stringListValues: [],
        binaryListValues: [],
        dataType: DataType,
      },
    ]),
  );
  return {
    messageId: message.MessageId,
    receiptHandle: message.ReceiptHandle,
    body: message.Body ?? '',
    attributes: message.Attributes ?? {},
    messageAttributes,
    md5OfBody: message.MD5OfBody,
    ...(message.MD5OfMessageAttributes === undefined ? {} : { md5OfMessageAttributes: message.MD5OfMessageAttributes }),
    eventSource: 'aws:sqs',
    eventSourceARN: mapping.queueArn,
    awsRegion: region,
  };
}

/** The event of a batch, as JSON text. */
export function eventOf(messages: readonly Message[], mapping: SqsMapping, region: string): string {
  return JSON.stringify({ Records: messages.map((message) => recordOf(message, mapping, region)) });
}

/** Cuts messages into batches that fit an invocation's payload. */
export function splitByBytes(messages: readonly Message[]): Message[][] {
  const batches: Message[][] = [];
  let bytes = Infinity;
  for (const message of messages) {
    const size = Buffer.byteLength(JSON.stringify(message.Body ?? '')) + RECORD_OVERHEAD_BYTES;
    if (bytes + size > MAX_SYNCHRONOUS_BYTES) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)?.push(message);
    bytes += size;
  }
  return batches;
}

const reportSchema = v.nullish(
  v.object({
    batchItemFailures: v.nullish(v.array(v.object({ itemIdentifier: v.pipe(v.string(), v.minLength(1)) })), []),
  }),
);

/**
 * The messages of a batch that the function is done with: they are deleted. The others come back after their visibility
 * timeout. An answer that is not a report, or that names a message which is not of this batch, fails the whole batch
 * (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html).
 */
export function finishedMessages(
  messages: readonly Message[],
  result: InvokeResult,
  mapping: Pick<SqsMapping, 'reportsItemFailures'>,
): readonly Message[] {
  if (result.statusCode !== 200 || result.functionError !== undefined) return [];
  if (!mapping.reportsItemFailures) return messages;
  const report = v.safeParse(v.pipe(v.string(), v.parseJson(), reportSchema), result.payload);
  if (!report.success) return [];
  const failed = new Set(report.output?.batchItemFailures?.map(({ itemIdentifier }) => itemIdentifier));
  const known = new Set(messages.map(({ MessageId }) => MessageId));
  if ([...failed].some((id) => !known.has(id))) return [];
  return messages.filter(({ MessageId }) => MessageId === undefined || !failed.has(MessageId));
}
