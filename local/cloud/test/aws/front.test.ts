import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { InvokeCommand, LambdaClient, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { PurgeQueueCommand, ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Cloud, InvokeRequest, ObservedCall } from '../../contract.ts';
import { allow, clientOf, getAtt, operatorOf, rejection, type Resources, role, startTestCloud } from './fixture.ts';

const table = {
  Type: 'AWS::DynamoDB::Table',
  Properties: {
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
  },
};

const resources: Resources = {
  Queue: { Type: 'AWS::SQS::Queue' },
  Bucket: { Type: 'AWS::S3::Bucket' },
  Table: table,
  Sender: role(allow('sqs:SendMessage', getAtt('Queue'))),
  Worker: role(
    allow(['sqs:SendMessage', 'sqs:DeleteMessage'], getAtt('Queue'), { Sid: 'Queue' }),
    allow('dynamodb:PutItem', getAtt('Table'), { Sid: 'Table' }),
  ),
  Runner: role(),
  Caller: role(allow('lambda:InvokeFunction', getAtt('Function'))),
  Function: {
    Type: 'AWS::Lambda::Function',
    Properties: {
      Code: { S3Bucket: 'assets', S3Key: 'code.zip' },
      Handler: 'index.handler',
      Runtime: 'nodejs24.x',
      Role: getAtt('Runner'),
    },
  },
};

let cloud: Cloud;
let QueueUrl: string;
let sender: SQSClient;
let operator: SQSClient;
const clients: { destroy(): void }[] = [];

beforeAll(async () => {
  cloud = await startTestCloud(resources);
  QueueUrl = cloud.byLogicalId('Queue').physicalId;
  sender = new SQSClient(clientOf(cloud, 'Sender'));
  operator = new SQSClient(operatorOf(cloud));
});

afterEach(async () => {
  cloud.faults.clear();
  for (const client of clients.splice(0)) client.destroy();
  await operator.send(new PurgeQueueCommand({ QueueUrl }));
});

afterAll(async () => {
  sender.destroy();
  operator.destroy();
  await cloud.stop();
});

function keep<C extends { destroy(): void }>(client: C): C {
  clients.push(client);
  return client;
}

const message = { MessageBody: 'x' };
const visible = async (): Promise<number> => (await cloud.inspect.queueDepth(QueueUrl)).visible;

describe('signatures', () => {
  test('a call signed with a wrong secret is refused', async () => {
    const settings = clientOf(cloud, 'Sender');
    const credentials = { ...settings.credentials, secretAccessKey: 'guessed' };
    const client = keep(new SQSClient({ ...settings, credentials }));
    const error = await rejection(client.send(new SendMessageCommand({ QueueUrl, ...message })));
    expect(error.name).toBe('SignatureDoesNotMatch');
    expect(await visible()).toBe(0);
  });

  test('an unsigned call is refused', async () => {
    const answer = await fetch(`${cloud.awsEndpoint}/${cloud.byLogicalId('Bucket').physicalId}/key`);
    expect(answer.status).toBe(403);
  });

  test('a service that is not there is named', async () => {
    const scope = 'local/20260101/us-east-1/kinesis/aws4_request';
    const authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=00`;
    const answer = await fetch(cloud.awsEndpoint, { method: 'POST', headers: { authorization } });
    expect(await answer.text()).toContain('has no service kinesis');
  });
});

test('clouds side by side have names, messages and credentials of their own', async () => {
  const other = await startTestCloud(resources);
  const otherUrl = other.byLogicalId('Queue').physicalId;
  const otherOperator = keep(new SQSClient(operatorOf(other)));
  await operator.send(new SendMessageCommand({ QueueUrl, ...message }));
  const received = await otherOperator.send(new ReceiveMessageCommand({ QueueUrl: otherUrl }));
  expect(received.Messages).toBeUndefined();
  expect(await visible()).toBe(1);
  const stranger = keep(new SQSClient({ ...clientOf(cloud, 'Sender'), endpoint: other.awsEndpoint }));
  const error = await rejection(stranger.send(new SendMessageCommand({ QueueUrl: otherUrl, ...message })));
  expect(error.message).toContain('was not issued here');
  await other.stop();
  await expect(fetch(other.awsEndpoint)).rejects.toThrow('fetch failed');
  expect(await visible()).toBe(1);
});

describe('policy statements', () => {
  const worker = (): SQSClient => keep(new SQSClient(clientOf(cloud, 'Worker')));
  const roleName = (): string => cloud.byLogicalId('Worker').physicalId;
  const used = () => cloud.usedStatements().filter(({ owner }) => owner === roleName());
  const unused = () => cloud.unusedStatements().filter(({ owner }) => owner === roleName());

  test('a refused call uses none', async () => {
    await rejection(worker().send(new ReceiveMessageCommand({ QueueUrl })));
    expect(used()).toEqual([]);
    expect(unused()).toHaveLength(2);
    expect(cloud.denials().filter(({ principal }) => principal.includes(roleName()))).toHaveLength(1);
  });

  test('those that allowed a call are told from those that nothing used', async () => {
    await worker().send(new SendMessageCommand({ QueueUrl, ...message }));
    expect(used()).toMatchObject([{ policy: 'Inline', index: 0, sid: 'Queue', calls: { 'sqs:SendMessage': 1 } }]);
    expect(unused()).toMatchObject([{ sid: 'Table', actions: ['dynamodb:PutItem'] }]);
  });
});

describe('lambda', () => {
  test('a function is invoked through what is attached, and its failure is passed on', async () => {
    const requests: InvokeRequest[] = [];
    cloud.attachInvoker({
      invoke: async (request) => {
        requests.push(request);
        return { statusCode: 200, payload: '{"errorType":"Oops"}', functionError: 'Unhandled', logResult: 'bG9n' };
      },
    });
    const caller = keep(new LambdaClient(clientOf(cloud, 'Caller')));
    const { arn, physicalId } = cloud.byLogicalId('Function');
    for (const FunctionName of [physicalId, arn, `${physicalId}:$LATEST`]) {
      const answer = await caller.send(new InvokeCommand({ FunctionName, Payload: '{"a":1}', LogType: 'Tail' }));
      expect(answer).toMatchObject({ StatusCode: 200, FunctionError: 'Unhandled', LogResult: 'bG9n' });
      expect(answer.Payload?.transformToString()).toBe('{"errorType":"Oops"}');
    }
    expect(requests).toHaveLength(3);
    expect(requests[0]).toMatchObject({
      functionName: physicalId,
      payload: '{"a":1}',
      invocationType: 'RequestResponse',
      logType: 'Tail',
    });
  });

  test('is refused to a role without the permission', async () => {
    const stranger = keep(new LambdaClient(clientOf(cloud, 'Runner')));
    const FunctionName = cloud.byLogicalId('Function').physicalId;
    const error = await rejection(stranger.send(new InvokeCommand({ FunctionName })));
    expect(error).toMatchObject({ name: 'AccessDeniedException', $metadata: { httpStatusCode: 403 } });
  });

  test('functions are listed with their settings', async () => {
    const client = keep(new LambdaClient(operatorOf(cloud)));
    const { Functions } = await client.send(new ListFunctionsCommand({}));
    expect(Functions).toMatchObject([{ Handler: 'index.handler', Runtime: 'nodejs24.x', Timeout: 3 }]);
  });
});

describe('faults', () => {
  test('a share of the matching calls is throttled in the words of the service, and nothing is done for them', async () => {
    const before = cloud.faults.injected();
    const remove = cloud.faults.add({ match: { service: 'sqs', principal: 'tester' }, rate: 0.4, error: 'throttle' });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, () => sender.send(new SendMessageCommand({ QueueUrl, ...message }))),
    );
    remove();
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as Error] : []));
    expect(refused.length).toBeGreaterThan(20);
    expect(refused.length).toBeLessThan(60);
    expect(new Set(refused.map(({ name }) => name))).toEqual(new Set(['RequestThrottled']));
    expect(cloud.faults.injected() - before).toBe(refused.length);
    expect(await visible()).toBe(100 - refused.length);
    await sender.send(new SendMessageCommand({ QueueUrl, ...message }));
  });

  test('a lost reply hides a call that was done', async () => {
    cloud.faults.add({ match: { action: 'SendMessage' }, rate: 1, error: 'lost_reply' });
    await rejection(sender.send(new SendMessageCommand({ QueueUrl, ...message })));
    expect(await visible()).toBe(1);
  });

  test('S3 slows down, or loses its reply after the object is written', async () => {
    const client = keep(new S3Client(operatorOf(cloud)));
    const Bucket = cloud.byLogicalId('Bucket').physicalId;
    const write = (Key: string) => client.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }));
    cloud.faults.add({ match: { service: 's3' }, rate: 1, error: 'throttle' });
    expect(await rejection(write('a'))).toMatchObject({ name: 'SlowDown', $metadata: { httpStatusCode: 503 } });
    cloud.faults.clear();
    cloud.faults.add({ match: { action: 's3:PutObject' }, rate: 1, error: 'lost_reply' });
    await rejection(write('b'));
    cloud.faults.clear();
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: 'b' }));
    expect(await Body?.transformToString()).toBe('x');
  });

  test('an unavailable service is a server error that does nothing', async () => {
    cloud.faults.add({
      match: { service: 'sqs', action: 'sqs:SendMessage' },
      rate: 1,
      error: 'unavailable',
      forMs: 60_000,
    });
    const error = await rejection(sender.send(new SendMessageCommand({ QueueUrl, ...message })));
    expect(error).toMatchObject({ $fault: 'server', $metadata: { httpStatusCode: 503 } });
    expect(await visible()).toBe(0);
  });

  test('a rule ends by itself after its time', async () => {
    const elapsed = jest.spyOn(Date, 'now');
    const startMs = Date.now();
    cloud.faults.add({ match: { service: 'sqs' }, rate: 1, error: 'throttle', forMs: 1000 });
    await rejection(sender.send(new SendMessageCommand({ QueueUrl, ...message })));
    elapsed.mockReturnValue(startMs + 5000);
    await sender.send(new SendMessageCommand({ QueueUrl, ...message }));
    elapsed.mockRestore();
    expect(await visible()).toBe(1);
  });

  test('DynamoDB throttles with an error that its clients retry', async () => {
    const client = keep(new DynamoDBClient({ ...operatorOf(cloud), maxAttempts: 3 }));
    cloud.faults.add({ match: { service: 'dynamodb' }, rate: 1, error: 'throttle' });
    const put = new PutItemCommand({ TableName: cloud.byLogicalId('Table').physicalId, Item: { pk: { S: 'a' } } });
    expect(await rejection(client.send(put))).toMatchObject({
      name: 'ProvisionedThroughputExceededException',
      $metadata: { attempts: 3 },
    });
  });
});

test('calls are counted by caller, operation and target, and observers see each', async () => {
  const client = keep(
    new SQSClient({
      ...clientOf(cloud, 'Sender'),
      credentials: cloud.credentialsFor(cloud.byLogicalId('Sender').arn, 'counted'),
    }),
  );
  const seen: ObservedCall[] = [];
  const forget = cloud.onCall((call) => seen.push(call));
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'one' }));
  await rejection(client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'two', DelaySeconds: 901 })));
  forget();
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'three' }));
  expect(cloud.calls().filter(({ functionName }) => functionName === 'counted')).toMatchObject([
    { service: 'sqs', operation: 'SendMessage', calls: 3, errors: 1 },
  ]);
  expect(seen).toMatchObject([
    { status: 200, input: { MessageBody: 'one' } },
    { status: 400, errorCode: 'InvalidParameterValue' },
  ]);
});
