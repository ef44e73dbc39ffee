import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { Cloud } from '../../contract.ts';
import { allow, clientOf, getAtt, operatorOf, rejection, role, startTestCloud } from './fixture.ts';

let cloud: Cloud;
let sender: SQSClient;
let operator: SQSClient;

beforeAll(async () => {
  cloud = await startTestCloud({
    Queue: {
      Type: 'AWS::SQS::Queue',
      Properties: {
        VisibilityTimeout: 30,
        RedrivePolicy: { deadLetterTargetArn: getAtt('DeadLetters'), maxReceiveCount: 1 },
      },
    },
    DeadLetters: { Type: 'AWS::SQS::Queue', Properties: { MessageRetentionPeriod: 1209600 } },
    Small: { Type: 'AWS::SQS::Queue', Properties: { MaximumMessageSize: 2048 } },
    Fair: { Type: 'AWS::SQS::Queue' },
    Sender: role(allow('sqs:SendMessage', getAtt('Queue'))),
  });
  sender = new SQSClient(clientOf(cloud, 'Sender'));
  operator = new SQSClient(operatorOf(cloud));
});

afterAll(async () => {
  sender.destroy();
  operator.destroy();
  await cloud.stop();
});

const url = (logicalId: string): string => cloud.byLogicalId(logicalId).physicalId;

async function receiveAll(
  QueueUrl: string,
  more: object = {},
): Promise<NonNullable<Awaited<ReturnType<typeof receive>>>> {
  return (await receive(QueueUrl, more)) ?? [];
}

async function receive(QueueUrl: string, more: object) {
  const answer = await operator.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, ...more }));
  return answer.Messages;
}

describe('permissions', () => {
  test('a role may do what its policy allows, in batches too', async () => {
    const entries = [{ Id: 'a', MessageBody: 'one' }];
    await sender.send(new SendMessageBatchCommand({ QueueUrl: url('Queue'), Entries: entries }));
    const received = await receiveAll(url('Queue'));
    expect(received.map(({ Body }) => Body)).toEqual(['one']);
  });

  test('what no policy allows is refused by name, and recorded', async () => {
    const error = await rejection(sender.send(new ReceiveMessageCommand({ QueueUrl: url('Queue') })));
    const { arn } = cloud.byLogicalId('Queue');
    const roleName = cloud.byLogicalId('Sender').physicalId;
    expect(error.name).toMatch(/^AccessDenied/);
    expect(error.message).toBe(
      `User: arn:aws:sts::123456789012:assumed-role/${roleName}/tester is not authorized to perform: sqs:ReceiveMessage on resource: ${arn} because no identity-based policy allows the sqs:ReceiveMessage action`,
    );
    expect(cloud.denials().at(-1)).toMatchObject({
      action: 'sqs:ReceiveMessage',
      resource: arn,
      functionName: 'tester',
    });
  });

  test('a policy for one queue does not cover another', async () => {
    const send = sender.send(new SendMessageCommand({ QueueUrl: url('Small'), MessageBody: 'x' }));
    expect((await rejection(send)).name).toMatch(/^AccessDenied/);
  });
});

describe('queues of the templates', () => {
  test('have URLs on the endpoint itself, which the SDK follows', async () => {
    const name = url('Queue').split('/').pop() ?? '';
    const found = await operator.send(new GetQueueUrlCommand({ QueueName: name }));
    expect(found.QueueUrl).toBe(url('Queue'));
    expect(url('Queue')).toBe(`${cloud.awsEndpoint}/123456789012/${name}`);
    const listed = await operator.send(new ListQueuesCommand({}));
    expect(listed.QueueUrls).toContain(url('Queue'));
  });

  test('keep the attributes of the template', async () => {
    const answer = await operator.send(
      new GetQueueAttributesCommand({ QueueUrl: url('Queue'), AttributeNames: ['All'] }),
    );
    expect(answer.Attributes).toMatchObject({ QueueArn: cloud.byLogicalId('Queue').arn, VisibilityTimeout: '30' });
  });

  test('move a message that was received too often to the dead-letter queue', async () => {
    const QueueUrl = url('Queue');
    await sender.send(new SendMessageCommand({ QueueUrl, MessageBody: 'poison' }));
    const [first] = await receiveAll(QueueUrl);
    await operator.send(
      new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle: first?.ReceiptHandle, VisibilityTimeout: 0 }),
    );
    const beforeMove = Date.now();
    expect(await receiveAll(QueueUrl)).toEqual([]);
    const depth = await cloud.inspect.queueDepth(url('DeadLetters'));
    expect(depth).toMatchObject({ visible: 1, inFlight: 0 });
    // Its age in the dead-letter queue counts from the move.
    expect(depth.oldestArrivalTimestamp).toBeGreaterThanOrEqual(beforeMove);
    const [dead] = await receiveAll(url('DeadLetters'));
    expect(dead?.Body).toBe('poison');
  });
});

describe('limits that the emulator does not enforce', () => {
  test('a delay of more than 900 seconds is refused', async () => {
    const send = new SendMessageCommand({ QueueUrl: url('Queue'), MessageBody: 'x', DelaySeconds: 901 });
    const error = await rejection(sender.send(send));
    expect(error.message).toContain('DelaySeconds must be >= 0 and <= 900');
  });

  test('an eleventh message attribute is refused', async () => {
    const attribute = { DataType: 'String', StringValue: 'v' };
    const attributes = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`a${index}`, attribute]));
    const send = new SendMessageCommand({ QueueUrl: url('Queue'), MessageBody: 'x', MessageAttributes: attributes });
    expect((await rejection(sender.send(send))).message).toContain('[11] exceeds the allowed maximum [10]');
  });

  test('in a batch only the entry that breaks a limit fails', async () => {
    const answer = await sender.send(
      new SendMessageBatchCommand({
        QueueUrl: url('Queue'),
        Entries: [
          { Id: 'good', MessageBody: 'x' },
          { Id: 'late', MessageBody: 'x', DelaySeconds: 1000 },
        ],
      }),
    );
    expect(answer.Successful?.map(({ Id }) => Id)).toEqual(['good']);
    expect(answer.Failed).toMatchObject([{ Id: 'late', SenderFault: true, Code: 'InvalidParameterValue' }]);
  });

  test('a batch of eleven entries, or of more than 1 MiB together, is refused', async () => {
    const QueueUrl = url('Queue');
    const eleven = Array.from({ length: 11 }, (_, index) => ({ Id: String(index), MessageBody: 'x' }));
    const big = ['a', 'b'].map((Id) => ({ Id, MessageBody: 'x'.repeat(600_000) }));
    const tooMany = sender.send(new SendMessageBatchCommand({ QueueUrl, Entries: eleven }));
    expect((await rejection(tooMany)).name).toContain('TooManyEntriesInBatchRequest');
    const tooLong = sender.send(new SendMessageBatchCommand({ QueueUrl, Entries: big }));
    expect((await rejection(tooLong)).name).toContain('BatchRequestTooLong');
  });

  test("a message above the queue's own maximum is refused", async () => {
    const send = new SendMessageCommand({ QueueUrl: url('Small'), MessageBody: 'x'.repeat(2049) });
    expect((await rejection(operator.send(send))).message).toContain('2048');
  });

  test('a queue that does not exist is said not to', async () => {
    const send = new SendMessageCommand({ QueueUrl: `${cloud.awsEndpoint}/123456789012/nowhere`, MessageBody: 'x' });
    expect((await rejection(operator.send(send))).name).toBe('QueueDoesNotExist');
  });
});

describe('message groups on standard queues', () => {
  test('come back as a system attribute, and leave attributes and digests alone', async () => {
    const QueueUrl = url('Fair');
    const attribute = { DataType: 'String', StringValue: 'v' };
    await operator.send(
      new SendMessageBatchCommand({
        QueueUrl,
        Entries: [
          { Id: 'a', MessageBody: 'grouped', MessageGroupId: 'customer-1', MessageAttributes: { own: attribute } },
        ],
      }),
    );
    const [message] = await receiveAll(QueueUrl, {
      MessageSystemAttributeNames: ['MessageGroupId'],
      MessageAttributeNames: ['All'],
    });
    expect(message?.Attributes).toEqual({ MessageGroupId: 'customer-1' });
    expect(message?.MessageAttributes).toMatchObject({ own: attribute });
    await operator.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message?.ReceiptHandle }));
  });

  test('message attributes are returned only when they are asked for', async () => {
    const QueueUrl = url('Fair');
    const MessageAttributes = { own: { DataType: 'String', StringValue: 'v' } };
    await operator.send(new SendMessageCommand({ QueueUrl, MessageBody: 'x', MessageAttributes }));
    const [message] = await receiveAll(QueueUrl);
    expect(message?.MessageAttributes).toBeUndefined();
    await operator.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message?.ReceiptHandle }));
  });

  test('a noisy group waits while a quiet one has messages', async () => {
    const QueueUrl = url('Fair');
    const send = async (group: string, count: number): Promise<void> => {
      for (let sent = 0; sent < count; sent += 10) {
        const Entries = Array.from({ length: 10 }, (_, index) => ({
          Id: String(index),
          MessageBody: group,
          MessageGroupId: group,
        }));
        await operator.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
      }
    };
    await send('noisy', 100);
    const bodies = async (): Promise<(string | undefined)[]> => (await receiveAll(QueueUrl)).map(({ Body }) => Body);
    for (let batch = 0; batch < 4; batch += 1) await bodies();
    await send('quiet', 10);
    expect(new Set(await bodies())).toEqual(new Set(['quiet']));
    expect(new Set(await bodies())).toEqual(new Set(['noisy']));
  });
});

test('the depth of a queue tells visible, delayed and oldest messages apart', async () => {
  const QueueUrl = url('Small');
  const before = Date.now();
  await operator.send(new SendMessageCommand({ QueueUrl, MessageBody: 'now' }));
  await operator.send(new SendMessageCommand({ QueueUrl, MessageBody: 'later', DelaySeconds: 600 }));
  const depth = await cloud.inspect.queueDepth(QueueUrl);
  expect(depth).toMatchObject({ visible: 1, inFlight: 0, delayed: 1 });
  expect(depth.oldestArrivalTimestamp).toBeGreaterThanOrEqual(before);
  await expect(cloud.inspect.queueDepth('nowhere')).rejects.toThrow('no queue nowhere');
});
