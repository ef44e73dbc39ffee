import { afterEach, describe, expect, test } from '@jest/globals';
import { InvokeCommand, LambdaClient, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Cloud, InvokeRequest, ObservedCall } from '../../../local/cloud.ts';
import { allow, clientOf, getAtt, operatorOf, rejection, type Resources, role, startTestCloud } from './fixture.ts';

const started: Cloud[] = [];
const clients: { destroy(): void }[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  for (const cloud of started.splice(0)) await cloud.stop();
});

async function start(resources: Resources): Promise<Cloud> {
  const cloud = await startTestCloud(resources);
  started.push(cloud);
  return cloud;
}

function keep<C extends { destroy(): void }>(client: C): C {
  clients.push(client);
  return client;
}

const queue = { Queue: { Type: 'AWS::SQS::Queue' } };
const sender = { Sender: role(allow('sqs:SendMessage', getAtt('Queue'))) };

describe('signatures', () => {
  test('a call signed with a wrong secret is refused', async () => {
    const cloud = await start({ ...queue, ...sender });
    const settings = clientOf(cloud, 'Sender');
    const credentials = { ...settings.credentials, secretAccessKey: 'guessed' };
    const client = keep(new SQSClient({ ...settings, credentials }));
    const send = client.send(
      new SendMessageCommand({ QueueUrl: cloud.byLogicalId('Queue').physicalId, MessageBody: 'x' }),
    );
    expect((await rejection(send)).name).toBe('SignatureDoesNotMatch');
  });

  test("another cloud's credentials are not the operator's", async () => {
    const [one, two] = [await start({ ...queue, ...sender }), await start({ ...queue, ...sender })];
    const client = keep(new SQSClient({ ...clientOf(one, 'Sender'), endpoint: two.awsEndpoint }));
    const send = client.send(
      new SendMessageCommand({ QueueUrl: two.byLogicalId('Queue').physicalId, MessageBody: 'x' }),
    );
    expect((await rejection(send)).message).toContain('was not issued here');
  });

  test('an unsigned call is refused', async () => {
    const cloud = await start({ Bucket: { Type: 'AWS::S3::Bucket' } });
    const answer = await fetch(`${cloud.awsEndpoint}/${cloud.byLogicalId('Bucket').physicalId}/key`);
    expect(answer.status).toBe(403);
  });

  test('a service that is not there is named', async () => {
    const cloud = await start(queue);
    const scope = 'local/20260101/us-east-1/kinesis/aws4_request';
    const authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=00`;
    const answer = await fetch(cloud.awsEndpoint, { method: 'POST', headers: { authorization } });
    expect(await answer.text()).toContain('has no service kinesis');
  });
});

describe('clouds side by side', () => {
  test('have names, ports and messages of their own', async () => {
    const [one, two] = [await start(queue), await start(queue)];
    const url = (cloud: Cloud): string => cloud.byLogicalId('Queue').physicalId;
    const [first, second] = [one, two].map((cloud) => keep(new SQSClient(operatorOf(cloud))));
    await first?.send(new SendMessageCommand({ QueueUrl: url(one), MessageBody: 'one' }));
    const received = await second?.send(new ReceiveMessageCommand({ QueueUrl: url(two) }));
    expect(received?.Messages).toBeUndefined();
    expect((await one.inspect.queueDepth(url(one))).visible).toBe(1);
    expect(one.awsEndpoint).not.toBe(two.awsEndpoint);
  });

  test('a stopped one refuses connections', async () => {
    const cloud = await start(queue);
    await cloud.stop();
    await expect(fetch(cloud.awsEndpoint)).rejects.toThrow('fetch failed');
  });
});

describe('policy statements', () => {
  const resources = {
    ...queue,
    Table: {
      Type: 'AWS::DynamoDB::Table',
      Properties: {
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      },
    },
    Worker: role(
      allow(['sqs:SendMessage', 'sqs:DeleteMessage'], getAtt('Queue'), { Sid: 'Queue' }),
      allow('dynamodb:PutItem', getAtt('Table'), { Sid: 'Table' }),
    ),
  };

  test('those that allowed a call are told from those that nothing used', async () => {
    const cloud = await start(resources);
    const client = keep(new SQSClient(clientOf(cloud, 'Worker')));
    await client.send(new SendMessageCommand({ QueueUrl: cloud.byLogicalId('Queue').physicalId, MessageBody: 'x' }));
    expect(cloud.usedStatements()).toMatchObject([
      { policy: 'Inline', index: 0, sid: 'Queue', calls: { 'sqs:SendMessage': 1 } },
    ]);
    expect(cloud.unusedStatements()).toMatchObject([{ sid: 'Table', actions: ['dynamodb:PutItem'] }]);
  });

  test('a refused call uses none', async () => {
    const cloud = await start(resources);
    const client = keep(new SQSClient(clientOf(cloud, 'Worker')));
    const receive = new ReceiveMessageCommand({ QueueUrl: cloud.byLogicalId('Queue').physicalId });
    await rejection(client.send(receive));
    expect(cloud.usedStatements()).toEqual([]);
    expect(cloud.denials()).toHaveLength(1);
  });
});

describe('lambda', () => {
  const resources = {
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

  test('a function is invoked through what is attached, and its failure is passed on', async () => {
    const cloud = await start(resources);
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
    expect(requests[0]).toMatchObject({
      functionName: physicalId,
      payload: '{"a":1}',
      invocationType: 'RequestResponse',
      logType: 'Tail',
    });
    expect(requests).toHaveLength(3);
  });

  test('is refused to a role without the permission', async () => {
    const cloud = await start(resources);
    const stranger = keep(new LambdaClient(clientOf(cloud, 'Runner')));
    const FunctionName = cloud.byLogicalId('Function').physicalId;
    const error = await rejection(stranger.send(new InvokeCommand({ FunctionName })));
    expect(error).toMatchObject({ name: 'AccessDeniedException', $metadata: { httpStatusCode: 403 } });
  });

  test('functions are listed with their settings', async () => {
    const cloud = await start(resources);
    const client = keep(new LambdaClient(operatorOf(cloud)));
    const { Functions } = await client.send(new ListFunctionsCommand({}));
    expect(Functions).toMatchObject([{ Handler: 'index.handler', Runtime: 'nodejs24.x', Timeout: 3 }]);
  });
});

describe('faults', () => {
  const bucket = { Bucket: { Type: 'AWS::S3::Bucket' } };

  test('a share of the matching calls is throttled in the words of the service, and nothing is done for them', async () => {
    const cloud = await start({ ...queue, ...sender });
    const client = keep(new SQSClient(clientOf(cloud, 'Sender')));
    const remove = cloud.faults.add({ match: { service: 'sqs', principal: 'tester' }, rate: 0.4, error: 'throttle' });
    const QueueUrl = cloud.byLogicalId('Queue').physicalId;
    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, () => client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'x' }))),
    );
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as Error] : []));
    expect(refused.length).toBeGreaterThan(20);
    expect(refused.length).toBeLessThan(60);
    expect(new Set(refused.map(({ name }) => name))).toEqual(new Set(['RequestThrottled']));
    expect(cloud.faults.injected()).toBe(refused.length);
    expect((await cloud.inspect.queueDepth(QueueUrl)).visible).toBe(100 - refused.length);
    remove();
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'x' }));
  });

  test('a lost reply hides a call that was done', async () => {
    const cloud = await start({ ...queue, ...sender });
    const client = keep(new SQSClient(clientOf(cloud, 'Sender')));
    cloud.faults.add({ match: { action: 'SendMessage' }, rate: 1, error: 'lost_reply' });
    const QueueUrl = cloud.byLogicalId('Queue').physicalId;
    await rejection(client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'x' })));
    expect((await cloud.inspect.queueDepth(QueueUrl)).visible).toBe(1);
  });

  test('S3 slows down or loses its reply after the object is written', async () => {
    const cloud = await start(bucket);
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

  test('DynamoDB throttles with an error that its clients retry', async () => {
    const cloud = await start({
      Table: {
        Type: 'AWS::DynamoDB::Table',
        Properties: {
          AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
          KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        },
      },
    });
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
  const cloud = await start({ ...queue, ...sender });
  const client = keep(new SQSClient(clientOf(cloud, 'Sender')));
  const seen: ObservedCall[] = [];
  const forget = cloud.onCall((call) => seen.push(call));
  const QueueUrl = cloud.byLogicalId('Queue').physicalId;
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'one' }));
  await rejection(client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'two', DelaySeconds: 901 })));
  forget();
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'three' }));
  expect(cloud.calls()).toMatchObject([
    { functionName: 'tester', service: 'sqs', operation: 'SendMessage', calls: 3, errors: 1 },
  ]);
  expect(seen).toMatchObject([
    { status: 200, input: { MessageBody: 'one' } },
    { status: 400, errorCode: 'InvalidParameterValue' },
  ]);
});
