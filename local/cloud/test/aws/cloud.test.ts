import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from '@jest/globals';
import { GetQueueAttributesCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { startCloud } from '../../cloud.ts';
import type { Cloud } from '../../contract.ts';
import { allow, getAtt, operatorOf, type Resources, role, startTestCloud, writeAssembly } from './fixture.ts';

const started: Cloud[] = [];

afterEach(async () => {
  for (const cloud of started.splice(0)) await cloud.stop();
});

async function start(resources: Resources): Promise<Cloud> {
  const cloud = await startTestCloud(resources);
  started.push(cloud);
  return cloud;
}

/** Calls a service that speaks the query protocol; the operator's signature is not looked at. */
async function query(
  cloud: Cloud,
  service: string,
  form: Record<string, string>,
  accessKeyId = 'anyone',
): Promise<string> {
  const scope = `${accessKeyId}/20260101/${cloud.region}/${service}/aws4_request`;
  const answer = await fetch(cloud.awsEndpoint, {
    method: 'POST',
    headers: { authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=00` },
    body: new URLSearchParams(form),
  });
  return answer.text();
}

describe('topics', () => {
  const resources = (policy: object): Resources => ({
    Topic: { Type: 'AWS::SNS::Topic' },
    Queue: { Type: 'AWS::SQS::Queue' },
    Policy: {
      Type: 'AWS::SQS::QueuePolicy',
      Properties: {
        Queues: [{ Ref: 'Queue' }],
        PolicyDocument: { Version: '2012-10-17', Statement: [{ ...policy, Resource: getAtt('Queue') }] },
      },
    },
    Subscription: {
      Type: 'AWS::SNS::Subscription',
      Properties: {
        Protocol: 'sqs',
        TopicArn: { Ref: 'Topic' },
        Endpoint: getAtt('Queue'),
        RawMessageDelivery: true,
      },
    },
    Person: {
      Type: 'AWS::SNS::Subscription',
      Properties: { Protocol: 'email', TopicArn: { Ref: 'Topic' }, Endpoint: 'someone@example.com' },
    },
  });
  const letsTopicSend = {
    Effect: 'Allow',
    Principal: { Service: 'sns.amazonaws.com' },
    Action: 'sqs:SendMessage',
    Condition: { ArnEquals: { 'aws:SourceArn': { Ref: 'Topic' } } },
  };

  test('deliver to a queue that lets them', async () => {
    const cloud = await start(resources(letsTopicSend));
    const TopicArn = cloud.byLogicalId('Topic').arn;
    await query(cloud, 'sns', { Action: 'Publish', TopicArn, Message: 'hello' });
    const client = new SQSClient(operatorOf(cloud));
    const QueueUrl = cloud.byLogicalId('Queue').physicalId;
    const { Messages } = await client.send(new ReceiveMessageCommand({ QueueUrl }));
    client.destroy();
    expect(Messages?.map(({ Body }) => Body)).toEqual(['hello']);
  });

  test('deliver nothing to a queue that does not, and it shows in the denials', async () => {
    const cloud = await start(resources({ ...letsTopicSend, Effect: 'Deny' }));
    const { arn } = cloud.byLogicalId('Topic');
    await query(cloud, 'sns', { Action: 'Publish', TopicArn: arn, Message: 'hello' });
    const depth = await cloud.inspect.queueDepth(cloud.byLogicalId('Queue').physicalId);
    expect(depth.visible).toBe(0);
    expect(cloud.denials()).toMatchObject([{ principal: 'sns.amazonaws.com', action: 'sqs:SendMessage' }]);
  });
});

test('callers learn who they are', async () => {
  const cloud = await start({ Role: role(allow('sqs:*', '*')) });
  const answer = await query(cloud, 'sts', { Action: 'GetCallerIdentity' });
  expect(answer).toContain('<Arn>arn:aws:iam::123456789012:root</Arn>');
});

describe('stacks', () => {
  const queue = { Type: 'AWS::SQS::Queue' };

  test('use what the ones before them export', async () => {
    const assembly = writeAssembly({
      Data: {
        Resources: { Queue: queue },
        Outputs: { Url: { Value: { Ref: 'Queue' }, Export: { Name: 'Data:Url' } } },
      },
      Pipeline: {
        Resources: {
          DeadLetters: {
            Type: 'AWS::SQS::QueuePolicy',
            Properties: {
              Queues: [{ 'Fn::ImportValue': 'Data:Url' }],
              PolicyDocument: { Version: '2012-10-17', Statement: [] },
            },
          },
        },
      },
    });
    const cloud = await startCloud({
      assemblyDirectory: assembly.directory,
      region: 'eu-west-1',
      accountId: '210987654321',
    });
    started.push(cloud);
    assembly.remove();
    expect(cloud.outputs['Data']?.['Url']).toBe(cloud.byLogicalId('Queue').physicalId);
    expect(cloud.byLogicalId('Queue').arn).toMatch(/^arn:aws:sqs:eu-west-1:210987654321:Data-Queue-[A-Z0-9]{12}$/);
    const client = new SQSClient(operatorOf(cloud));
    const QueueUrl = cloud.byLogicalId('Queue').physicalId;
    const answer = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }));
    client.destroy();
    expect(answer.Attributes).toEqual({ QueueArn: cloud.byLogicalId('Queue').arn });
    expect(cloud.find(QueueUrl)).toBe(cloud.byLogicalId('Queue', 'Data'));
  });

  test('with the same logical id must be told apart', async () => {
    const assembly = writeAssembly({ One: { Resources: { Queue: queue } }, Two: { Resources: { Queue: queue } } });
    const cloud = await startCloud({ assemblyDirectory: assembly.directory });
    started.push(cloud);
    assembly.remove();
    expect(() => cloud.byLogicalId('Queue')).toThrow('One and Two all declare Queue; name the stack.');
    expect(cloud.byLogicalId('Queue', 'Two').stack).toBe('Two');
    expect(() => cloud.byLogicalId('Nothing')).toThrow('No stack declares a resource Nothing.');
  });
});

test('a function whose role does not trust Lambda is an error at start', async () => {
  const trust = { Effect: 'Allow', Principal: { Service: 'scheduler.amazonaws.com' }, Action: 'sts:AssumeRole' };
  const starting = start({
    Role: {
      Type: 'AWS::IAM::Role',
      Properties: { AssumeRolePolicyDocument: { Version: '2012-10-17', Statement: [trust] } },
    },
    Function: {
      Type: 'AWS::Lambda::Function',
      Properties: { Code: { ZipFile: '' }, Role: getAtt('Role'), Runtime: 'nodejs24.x', Handler: 'a.b' },
    },
  });
  await expect(starting).rejects.toThrow(/Test\/Function cannot run under its role: .* sts:AssumeRole/);
});

test('a process that has stopped its cloud ends by itself: no thread, timer or socket is left', async () => {
  const assembly = writeAssembly({ Test: { Resources: { Queue: { Type: 'AWS::SQS::Queue' } } } });
  const cloudModule = new URL('../../cloud.ts', import.meta.url);
  const script = `
    const { startCloud } = await import(${JSON.stringify(cloudModule.href)});
    const cloud = await startCloud({ assemblyDirectory: ${JSON.stringify(assembly.directory)} });
    await fetch(cloud.awsEndpoint);
    await cloud.stop();
    console.log('stopped');`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  assembly.remove();
  expect(stdout).toBe('stopped\n');
});

test('the same seed gives the same names', async () => {
  const names = [
    await start({ Queue: { Type: 'AWS::SQS::Queue' } }),
    await start({ Queue: { Type: 'AWS::SQS::Queue' } }),
  ];
  expect(names[0]?.byLogicalId('Queue').arn).toBe(names[1]?.byLogicalId('Queue').arn);
});
