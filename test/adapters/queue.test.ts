import {
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
  type SendMessageBatchRequestEntry,
} from '@aws-sdk/client-sqs';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import {
  createQueueAcknowledger,
  createQueueDepth,
  createQueueReceiver,
  createQueueSender,
  MAX_BATCH_BYTES,
  messageBytes,
} from '../../lambdas/adapters/queue.ts';
import { DependencyUnavailableError, InvalidDataError } from '../../lambdas/domain/errors.ts';
import type { OutgoingMessage } from '../../lambdas/domain/queues/ports.ts';
import { createTestClock } from '../support/memory/index.ts';
import { connectionError, serviceError } from './service-errors.ts';

const URL = 'https://sqs.us-east-1.amazonaws.com/123456789012/lane';
const client = new SQSClient({ region: 'us-east-1' });
const sqs = mockClient(client);
const clock = createTestClock({ autoAdvance: true });
const sender = createQueueSender(client, URL, clock);

const message = (body = '{}', overrides: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  body,
  group: 'acme',
  ...overrides,
});
const messages = (count: number): OutgoingMessage[] =>
  Array.from({ length: count }, (_, index) => message(`{"n":${index}}`));

type Verdict = 'ok' | 'silent' | { Code: string; SenderFault: boolean };

/** A queue that judges every entry; `verdict` sees how often the entry's body was sent before. */
function judge(verdict: (body: string, before: number) => Verdict): void {
  const seen = new Map<string, number>();
  sqs.on(SendMessageBatchCommand).callsFake((input: { Entries: SendMessageBatchRequestEntry[] }) => {
    const Successful: { Id: string }[] = [];
    const Failed: { Id: string; Code: string; SenderFault: boolean }[] = [];
    for (const { Id = '', MessageBody = '' } of input.Entries) {
      const before = seen.get(MessageBody) ?? 0;
      seen.set(MessageBody, before + 1);
      const judged = verdict(MessageBody, before);
      if (judged === 'ok') Successful.push({ Id });
      else if (judged !== 'silent') Failed.push({ Id, ...judged });
    }
    return { Successful, Failed };
  });
}

const requests = (): SendMessageBatchRequestEntry[][] =>
  sqs.commandCalls(SendMessageBatchCommand).map(({ args }) => args[0].input.Entries ?? []);
const bodies = (): string[] => requests().flatMap((entries) => entries.map(({ MessageBody = '' }) => MessageBody));

beforeEach(() => {
  sqs.reset();
});

describe('sending', () => {
  test('no request has more than ten entries, and every message is in one', async () => {
    judge(() => 'ok');

    expect(await sender.send(messages(25))).toEqual([]);

    expect(requests().map((entries) => entries.length)).toEqual([10, 10, 5]);
    expect(new Set(bodies()).size).toBe(25);
  });

  test('ten messages that are too large together go in several requests, attributes and all bytes counted', async () => {
    judge(() => 'ok');
    const large = (size: number): OutgoingMessage =>
      message('ä'.repeat(size / 2 - 100), {
        attributes: { reason: 'x'.repeat(200 - 'reason'.length - 'String'.length) },
      });
    const third = large(Math.floor(MAX_BATCH_BYTES / 6) * 2);
    expect(messageBytes(third)).toBe(Math.floor(MAX_BATCH_BYTES / 6) * 2);

    expect(await sender.send([third, third, third, third, message()])).toEqual([]);

    expect(requests().map((entries) => entries.length)).toEqual([3, 2]);
  });

  test('a message above the limit is reported without a request, its neighbours are sent', async () => {
    judge(() => 'ok');

    const failures = await sender.send([message('a'), message('b'.repeat(MAX_BATCH_BYTES + 1)), message('c')]);

    expect(failures).toEqual([{ index: 1, senderFault: true, code: 'MessageTooLong' }]);
    expect(bodies()).toEqual(['a', 'c']);
  });

  test('exactly the failed entries are sent again', async () => {
    const failing = new Set(['{"n":3}', '{"n":11}']);
    judge((body, before) => (failing.has(body) && before === 0 ? { Code: 'InternalError', SenderFault: false } : 'ok'));

    expect(await sender.send(messages(12))).toEqual([]);

    expect(bodies().slice(12)).toEqual(['{"n":3}', '{"n":11}']);
  });

  test('an entry at fault is reported at once, and not sent again', async () => {
    judge((body) => (body === '{"n":1}' ? { Code: 'InvalidMessageContents', SenderFault: true } : 'ok'));

    const failures = await sender.send(messages(3));

    expect(failures).toEqual([{ index: 1, senderFault: true, code: 'InvalidMessageContents' }]);
    expect(bodies()).toHaveLength(3);
  });

  test('a throttled entry is sent again even where SQS calls it the fault of the sender', async () => {
    judge((_body, before) => (before === 0 ? { Code: 'ThrottlingException', SenderFault: true } : 'ok'));

    expect(await sender.send(messages(2))).toEqual([]);
    expect(bodies()).toHaveLength(4);
  });

  test('an entry that the answer forgets is not taken as sent', async () => {
    judge((body) => (body === '{"n":0}' ? 'silent' : 'ok'));

    expect(await sender.send(messages(2))).toEqual([{ index: 0, senderFault: false, code: 'NoAnswer' }]);
    expect(bodies().filter((body) => body === '{"n":0}').length).toBeGreaterThan(1);
  });

  test('what fails again and again is reported in the end, after waits', async () => {
    judge(() => ({ Code: 'ServiceUnavailable', SenderFault: false }));
    const before = clock.now();

    const failures = await sender.send(messages(11));

    expect(failures.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(failures[0]).toEqual({ index: 0, senderFault: false, code: 'ServiceUnavailable' });
    expect(clock.now()).toBeGreaterThan(before);
  });

  test('a request that one message spoils does not take its neighbours down', async () => {
    sqs.on(SendMessageBatchCommand).callsFake((input: { Entries: SendMessageBatchRequestEntry[] }) => {
      if (input.Entries.some(({ MessageBody }) => MessageBody === '{"n":2}')) {
        throw serviceError('InvalidMessageContents', 400);
      }
      return { Successful: input.Entries.map(({ Id }) => ({ Id })) };
    });

    expect(await sender.send(messages(4))).toEqual([{ index: 2, senderFault: true, code: 'InvalidMessageContents' }]);
  });

  test.each([
    ['a throttled request', serviceError('RequestThrottled', 403), 3],
    ['a missing permission', serviceError('AccessDenied', 403), 1],
    ['a connection that breaks in every attempt of the SDK', connectionError('ECONNRESET'), 1],
  ])('%s is reported for every message, and is no fault of theirs', async (_what, error, rounds) => {
    sqs.on(SendMessageBatchCommand).rejects(error);

    const failures = await sender.send(messages(2));

    expect(failures.map(({ index, senderFault }) => ({ index, senderFault }))).toEqual([
      { index: 0, senderFault: false },
      { index: 1, senderFault: false },
    ]);
    expect(requests()).toHaveLength(rounds);
  });

  test('a refusal names what a person must allow', async () => {
    sqs.on(SendMessageBatchCommand).rejects(serviceError('KmsAccessDenied', 400));

    const [failure] = await sender.send(messages(1));

    expect(failure).toMatchObject({ code: 'KmsAccessDenied', refused: { action: 'sqs:SendMessage' } });
  });

  test('a mistake of ours is thrown', async () => {
    sqs.on(SendMessageBatchCommand).rejects(new TypeError('not a function'));

    await expect(sender.send(messages(1))).rejects.toThrow(TypeError);
  });

  test('group, attributes and delay go along: the delay in whole seconds, never less, never above the limit', async () => {
    judge(() => 'ok');

    await sender.send([
      message('a', { delayMs: 1, attributes: { reason: 'x' } }),
      message('b', { delayMs: 1000 }),
      message('c', { delayMs: 899_001 }),
      message('d', { delayMs: 5_000_000 }),
      message('e', { delayMs: -5 }),
    ]);

    const [entries = []] = requests();
    expect(entries.map(({ DelaySeconds }) => DelaySeconds)).toEqual([1, 1, 900, 900, 0]);
    expect(entries[0]).toMatchObject({
      MessageGroupId: 'acme',
      MessageAttributes: { reason: { DataType: 'String', StringValue: 'x' } },
    });
    expect(entries[1]?.MessageAttributes).toBeUndefined();
  });

  test('nothing to send makes no request', async () => {
    expect(await sender.send([])).toEqual([]);
    expect(requests()).toEqual([]);
  });
});

describe('acknowledging', () => {
  const acknowledger = createQueueAcknowledger(client, URL, clock);
  const deliveries = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ messageId: `m${index}`, receipt: `r${index}` }));

  test('what cannot be deleted in the end is answered by its message id', async () => {
    sqs.on(DeleteMessageBatchCommand).callsFake((input: { Entries: { Id: string; ReceiptHandle: string }[] }) => ({
      Successful: input.Entries.filter(({ ReceiptHandle }) => ReceiptHandle !== 'r11').map(({ Id }) => ({ Id })),
      Failed: input.Entries.filter(({ ReceiptHandle }) => ReceiptHandle === 'r11').map(({ Id }) => ({
        Id,
        Code: 'ReceiptHandleIsInvalid',
        SenderFault: true,
      })),
    }));

    expect(await acknowledger.acknowledge(deliveries(12))).toEqual(['m11']);
    expect(sqs.commandCalls(DeleteMessageBatchCommand)).toHaveLength(2);
  });

  test('a queue that does not answer deletes nothing', async () => {
    sqs.on(DeleteMessageBatchCommand).rejects(connectionError('ECONNRESET'));

    expect(await acknowledger.acknowledge(deliveries(2))).toEqual(['m0', 'm1']);
  });
});

describe('receiving', () => {
  const receiver = createQueueReceiver(client, URL, clock);
  const delivered = {
    MessageId: 'm1',
    ReceiptHandle: 'r1',
    Body: '{}',
    Attributes: { ApproximateReceiveCount: '3', SentTimestamp: '1767701700000' },
    MessageAttributes: {
      reason: { DataType: 'String', StringValue: 'worker_crashed' },
      blob: { DataType: 'Binary', BinaryValue: new Uint8Array([1]) },
    },
  };

  test('asks for everything a delivery has, and answers the text attributes', async () => {
    sqs.on(ReceiveMessageCommand).resolves({ Messages: [delivered] });

    expect(await receiver.receive(5, 1500)).toEqual([
      {
        messageId: 'm1',
        receipt: 'r1',
        body: '{}',
        receiveCount: 3,
        attributes: { reason: 'worker_crashed' },
        sentAtMs: 1_767_701_700_000,
      },
    ]);
    expect(sqs.commandCalls(ReceiveMessageCommand)[0]?.args[0].input).toMatchObject({
      MaxNumberOfMessages: 5,
      VisibilityTimeout: 2,
      MessageSystemAttributeNames: ['ApproximateReceiveCount', 'SentTimestamp'],
      MessageAttributeNames: ['All'],
    });
  });

  test('a message without a receive count is refused', async () => {
    sqs.on(ReceiveMessageCommand).resolves({ Messages: [{ ...delivered, Attributes: { SentTimestamp: '1' } }] });

    await expect(receiver.receive(1, 1000)).rejects.toBeInstanceOf(InvalidDataError);
  });

  test('an empty queue answers nothing, a broken one is a dependency that does not work', async () => {
    sqs.on(ReceiveMessageCommand).resolves({});
    expect(await receiver.receive(1, 1000)).toEqual([]);

    sqs.on(GetQueueAttributesCommand).rejects(serviceError('InternalError', 500));
    await expect(createQueueDepth(client, URL).depth()).rejects.toBeInstanceOf(DependencyUnavailableError);
  });
});
