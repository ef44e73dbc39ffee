import { describe, expect, test } from '@jest/globals';
import type { InvokeResult } from '../../contract.ts';
import { eventOf, finishedMessages, splitByBytes } from '../../events/batch.ts';
import type { SqsMapping } from '../../events/mapping.ts';
import type { Message } from '../../events/queue.ts';

const mapping: SqsMapping = {
  id: 'mapping',
  functionName: 'worker',
  queueUrl: 'http://127.0.0.1:1/queue',
  queueArn: 'arn:aws:sqs:us-east-1:123456789012:queue',
  enabled: true,
  batchSize: 10,
  windowMs: 0,
  maxConcurrency: 2,
  reportsItemFailures: true,
};

const messages: Message[] = ['a', 'b', 'c'].map((id) => ({ MessageId: id, ReceiptHandle: `receipt-${id}`, Body: id }));
const answer = (payload: unknown, change: Partial<InvokeResult> = {}): InvokeResult => ({
  statusCode: 200,
  payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
  ...change,
});
const finished = (result: InvokeResult, reportsItemFailures = true): unknown[] =>
  finishedMessages(messages, result, { reportsItemFailures }).map(({ MessageId }) => MessageId);

describe('the messages that are deleted', () => {
  test.each([
    ['null', null],
    ['an empty object', {}],
    ['an empty list', { batchItemFailures: [] }],
    ['no list', { batchItemFailures: null }],
  ])('are all of them when the function reports %s', (_, payload) => {
    expect(finished(answer(payload))).toEqual(['a', 'b', 'c']);
  });

  test('are those that it did not report', () => {
    expect(finished(answer({ batchItemFailures: [{ itemIdentifier: 'b' }] }))).toEqual(['a', 'c']);
  });

  test.each([
    ['an id that it did not get', { batchItemFailures: [{ itemIdentifier: 'a' }, { itemIdentifier: 'z' }] }],
    ['an empty id', { batchItemFailures: [{ itemIdentifier: '' }] }],
    ['no id', { batchItemFailures: [{ itemIdentifier: null }] }],
    ['a wrong key', { batchItemFailures: [{ itemId: 'a' }] }],
    ['a list that is none', { batchItemFailures: 'a' }],
    ['text', '"done"'],
    ['no JSON', 'done'],
  ])('are none when it reports %s', (_, payload) => {
    expect(finished(answer(payload))).toEqual([]);
  });

  test('are none when the function failed, whatever it answered', () => {
    expect(finished(answer({ batchItemFailures: [] }, { functionError: 'Unhandled' }))).toEqual([]);
  });

  test('are all when failures are not reported by item', () => {
    expect(finished(answer({ batchItemFailures: [{ itemIdentifier: 'b' }] }), false)).toEqual(['a', 'b', 'c']);
  });
});

test('a record of the event has what the function needs to know of its message', () => {
  const message: Message = {
    MessageId: 'id',
    ReceiptHandle: 'receipt',
    Body: '{"x":1}',
    MD5OfBody: 'md5',
    Attributes: { ApproximateReceiveCount: '2', SentTimestamp: '5', MessageGroupId: 'customer-1' },
    MessageAttributes: { reason: { DataType: 'String', StringValue: 'why' } },
  };
  expect(JSON.parse(eventOf([message], mapping, 'eu-west-1'))).toEqual({
    Records: [
      {
        messageId: 'id',
        receiptHandle: 'receipt',
        body: '{"x":1}',
        attributes: { ApproximateReceiveCount: '2', SentTimestamp: '5', MessageGroupId: 'customer-1' },
        messageAttributes: {
          reason: { stringValue: 'why', dataType: 'String', stringListValues: [], binaryListValues: [] },
        },
        md5OfBody: 'md5',
        eventSource: 'aws:sqs',
        eventSourceARN: mapping.queueArn,
        awsRegion: 'eu-west-1',
      },
    ],
  });
});

test('messages that do not fit one payload together are cut into several batches', () => {
  const big = Array.from({ length: 10 }, (_, index) => ({ MessageId: String(index), Body: 'x'.repeat(1_000_000) }));
  const batches = splitByBytes(big);
  expect(batches.map(({ length }) => length)).toEqual([6, 4]);
  expect(batches.flat()).toEqual(big);
  expect(splitByBytes([])).toEqual([]);
});
