import { afterEach, expect, test } from '@jest/globals';
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { startAlarms } from '../../alarms/start.ts';
import { startCloud } from '../../cloud.ts';
import type { Cloud, Json } from '../../contract.ts';
import { MetricStore } from '../../metrics/store.ts';
import { writeAssembly } from '../aws/fixture.ts';

const MINUTE_MS = 60_000;
const metric = { namespace: 'Test', name: 'Failures', dimensions: {} };
const envelope = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ Subject: v.string(), Message: v.pipe(v.string(), v.parseJson()) }),
);

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const statement = (service: string, action: string, resource: Json, more: { [key: string]: Json } = {}): Json => ({
  Effect: 'Allow',
  Principal: { Service: service },
  Action: action,
  Resource: resource,
  ...more,
});

/** A cloud with an alarm, its topic, and a queue that hears what the topic is told. */
async function start(topicStatements: Json[], alarm: { [key: string]: Json } = {}) {
  const arn = (id: string): Json => ({ 'Fn::GetAtt': [id, id === 'Topic' ? 'TopicArn' : 'Arn'] });
  const assembly = writeAssembly({
    Test: {
      Resources: {
        Topic: { Type: 'AWS::SNS::Topic', Properties: {} },
        Queue: { Type: 'AWS::SQS::Queue', Properties: {} },
        TopicPolicy: {
          Type: 'AWS::SNS::TopicPolicy',
          Properties: {
            Topics: [{ Ref: 'Topic' }],
            PolicyDocument: { Version: '2012-10-17', Statement: topicStatements },
          },
        },
        QueuePolicy: {
          Type: 'AWS::SQS::QueuePolicy',
          Properties: {
            Queues: [{ Ref: 'Queue' }],
            PolicyDocument: {
              Version: '2012-10-17',
              Statement: [statement('sns.amazonaws.com', 'sqs:SendMessage', arn('Queue'))],
            },
          },
        },
        Subscription: {
          Type: 'AWS::SNS::Subscription',
          Properties: { TopicArn: { Ref: 'Topic' }, Protocol: 'sqs', Endpoint: arn('Queue') },
        },
        Alarm: {
          Type: 'AWS::CloudWatch::Alarm',
          Properties: {
            AlarmName: 'Failing',
            Namespace: 'Test',
            MetricName: 'Failures',
            Statistic: 'Sum',
            Period: 60,
            EvaluationPeriods: 1,
            Threshold: 1,
            ComparisonOperator: 'GreaterThanOrEqualToThreshold',
            TreatMissingData: 'notBreaching',
            AlarmActions: [{ Ref: 'Topic' }],
            ...alarm,
          },
        },
      },
    },
  });
  ends.push(() => assembly.remove());
  const cloud = await startCloud({ assemblyDirectory: assembly.directory });
  ends.push(() => cloud.stop());
  const store = new MetricStore();
  const alarms = startAlarms({ cloud, store });
  ends.push(() => alarms.stop());
  return { cloud, store, alarms };
}

const mayPublish = statement(
  'cloudwatch.amazonaws.com',
  'sns:Publish',
  { Ref: 'Topic' },
  {
    Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
  },
);

async function heard(cloud: Cloud): Promise<v.InferOutput<typeof envelope>[]> {
  const { awsEndpoint: endpoint, region, operatorCredentials } = cloud;
  const client = new SQSClient({ endpoint, region, credentials: { ...operatorCredentials } });
  ends.push(() => client.destroy());
  const QueueUrl = cloud.byLogicalId('Queue').physicalId;
  const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 0 }));
  return Messages.map(({ Body }) => v.parse(envelope, Body));
}

test('a transition is published to the topic as CloudWatch tells it', async () => {
  const { cloud, store, alarms } = await start([mayPublish]);
  store.put(metric, 3, Date.now());
  const transitions = await alarms.evaluate(Date.now() + MINUTE_MS);
  expect(transitions.map(({ to }) => to)).toEqual(['ALARM']);
  expect(alarms.states()).toMatchObject({ Failing: { state: 'ALARM' } });
  expect(await heard(cloud)).toEqual([
    {
      Subject: 'ALARM: "Failing" in us-east-1',
      Message: expect.objectContaining({ AlarmName: 'Failing', NewStateValue: 'ALARM', AWSAccountId: cloud.accountId }),
    },
  ]);
  expect(cloud.usedStatements()).toContainEqual(expect.objectContaining({ actions: ['sns:Publish'] }));
});

test('what the policy of the topic does not let CloudWatch publish is dropped, and noted as a denial', async () => {
  const { cloud, store, alarms } = await start([]);
  store.put(metric, 3, Date.now());
  await alarms.evaluate(Date.now() + MINUTE_MS);
  expect(alarms.states()).toMatchObject({ Failing: { state: 'ALARM' } });
  expect(await heard(cloud)).toEqual([]);
  expect(cloud.denials()).toMatchObject([{ principal: 'cloudwatch.amazonaws.com', action: 'sns:Publish' }]);
});

test('an alarm whose actions are switched off changes its state and tells nobody', async () => {
  const { cloud, store, alarms } = await start([mayPublish], { ActionsEnabled: false });
  store.put(metric, 3, Date.now());
  await alarms.evaluate(Date.now() + MINUTE_MS);
  expect(alarms.states()).toMatchObject({ Failing: { state: 'ALARM' } });
  expect(await heard(cloud)).toEqual([]);
  expect(cloud.denials()).toEqual([]);
});
