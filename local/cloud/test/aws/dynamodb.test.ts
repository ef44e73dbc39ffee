import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  type ConditionalCheckFailedException,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Cloud } from '../../contract.ts';
import { allow, clientOf, getAtt, operatorOf, rejection, role, startTestCloud } from './fixture.ts';

let cloud: Cloud;
let TableName: string;
let Other: string;
let worker: DynamoDBClient;
let operator: DynamoDBClient;

beforeAll(async () => {
  cloud = await startTestCloud({
    Table: {
      Type: 'AWS::DynamoDB::Table',
      Properties: {
        AttributeDefinitions: ['pk', 'sk', 'holder'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
        BillingMode: 'PAY_PER_REQUEST',
        GlobalSecondaryIndexes: [
          {
            IndexName: 'byOwner',
            KeySchema: [{ AttributeName: 'holder', KeyType: 'HASH' }],
            Projection: { ProjectionType: 'ALL' },
          },
        ],
        TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      },
    },
    Other: {
      Type: 'AWS::DynamoDB::GlobalTable',
      Properties: {
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        BillingMode: 'PAY_PER_REQUEST',
        Replicas: [{ Region: { Ref: 'AWS::Region' }, DeletionProtectionEnabled: true }],
      },
    },
    Worker: role(
      allow(
        ['PutItem', 'UpdateItem', 'GetItem', 'BatchGetItem', 'BatchWriteItem'].map((name) => `dynamodb:${name}`),
        getAtt('Table'),
      ),
      allow('dynamodb:Query', { 'Fn::Sub': '${Table.Arn}/index/byOwner' }),
    ),
  });
  TableName = cloud.byLogicalId('Table').physicalId;
  Other = cloud.byLogicalId('Other').physicalId;
  worker = new DynamoDBClient(clientOf(cloud, 'Worker'));
  operator = new DynamoDBClient(operatorOf(cloud));
});

afterAll(async () => {
  worker.destroy();
  operator.destroy();
  await cloud.stop();
});

const item = (pk: string, more: object = {}) => ({ pk: { S: pk }, sk: { S: 'meta' }, ...more });

describe('permissions', () => {
  test('an action that the policy lacks is refused in the words of DynamoDB', async () => {
    const error = await rejection(worker.send(new QueryCommand({ TableName, ...byKey('a') })));
    expect(error).toMatchObject({ name: 'AccessDeniedException', $metadata: { httpStatusCode: 400 } });
    expect(error.message).toContain('is not authorized to perform: dynamodb:Query on resource: ');
    expect(error.message).toMatch(/table\/[^/]+ because no identity-based policy allows the dynamodb:Query action$/);
  });

  test('an index has a permission of its own', async () => {
    await worker.send(new PutItemCommand({ TableName, Item: item('indexed', { holder: { S: 't1' } }) }));
    const query = {
      IndexName: 'byOwner',
      KeyConditionExpression: 'holder = :t',
      ExpressionAttributeValues: { ':t': { S: 't1' } },
    };
    const found = await worker.send(new QueryCommand({ TableName, ...query }));
    expect(found.Items).toHaveLength(1);
  });

  test('every table of a batch is checked', async () => {
    const put = { PutRequest: { Item: item('batch') } };
    await worker.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: [put] } }));
    const read = (tables: string[]) =>
      worker.send(
        new BatchGetItemCommand({
          RequestItems: Object.fromEntries(
            tables.map((name) => [name, { Keys: [name === Other ? { pk: { S: 'batch' } } : item('batch')] }]),
          ),
        }),
      );
    expect((await read([TableName])).Responses?.[TableName]).toHaveLength(1);
    const error = await rejection(read([TableName, Other]));
    expect(error.message).toContain(cloud.byLogicalId('Other').arn);
  });
});

describe('a failed condition', () => {
  const claim = { TableName, ConditionExpression: 'attribute_not_exists(pk)' };

  test('gives the item when it is asked for, for a put and for an update', async () => {
    await worker.send(new PutItemCommand({ TableName, Item: item('taken', { by: { S: 'first' } }) }));
    const asked = { ...claim, TableName, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
    const put = await rejection(
      worker.send(new PutItemCommand({ ...asked, Item: item('taken', { by: { S: 'second' } }) })),
    );
    const update = await rejection(
      worker.send(
        new UpdateItemCommand({
          ...asked,
          Key: item('taken'),
          UpdateExpression: 'SET #by = :by',
          ExpressionAttributeNames: { '#by': 'by' },
          ExpressionAttributeValues: { ':by': { S: 'second' } },
        }),
      ),
    );
    for (const error of [put, update]) {
      expect(error.name).toBe('ConditionalCheckFailedException');
      expect((error as ConditionalCheckFailedException).Item).toEqual(item('taken', { by: { S: 'first' } }));
    }
  });

  test('gives none when it is not', async () => {
    const put = worker.send(new PutItemCommand({ ...claim, TableName, Item: item('taken') }));
    expect(((await rejection(put)) as ConditionalCheckFailedException).Item).toBeUndefined();
  });
});

describe('tables of the templates', () => {
  test('know their ARN, and the attribute by which items expire', async () => {
    const described = await operator.send(new DescribeTableCommand({ TableName }));
    expect(described.Table?.TableArn).toBe(cloud.byLogicalId('Table').arn);
    const ttl = await operator.send(new DescribeTimeToLiveCommand({ TableName }));
    expect(ttl.TimeToLiveDescription).toEqual({ TimeToLiveStatus: 'ENABLED', AttributeName: 'expiresAt' });
  });

  test('keep expired items, as the service may for days', async () => {
    await worker.send(new PutItemCommand({ TableName, Item: item('old', { expiresAt: { N: '1' } }) }));
    const found = await worker.send(new GetItemCommand({ TableName, Key: item('old'), ConsistentRead: true }));
    expect(found.Item).toBeDefined();
  });

  test('are the only ones: an unknown table is not found', async () => {
    const read = operator.send(new GetItemCommand({ TableName: 'nowhere', Key: item('a') }));
    expect((await rejection(read)).name).toBe('ResourceNotFoundException');
  });
});

test('what the emulator lacks is said not to be supported', async () => {
  const write = operator.send(
    new TransactWriteItemsCommand({ TransactItems: [{ Put: { TableName, Item: item('x') } }] }),
  );
  expect((await rejection(write)).message).toContain('does not support dynamodb:TransactWriteItems');
});

function byKey(pk: string) {
  return { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': { S: pk } } };
}
