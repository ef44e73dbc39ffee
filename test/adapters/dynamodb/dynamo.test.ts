import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { DynamoTable } from '../../../lambdas/adapters/dynamodb/dynamo.ts';
import { expr } from '../../../lambdas/adapters/dynamodb/expression.ts';
import { DependencyUnavailableError } from '../../../lambdas/domain/errors.ts';
import { createTestClock } from '../../support/memory/index.ts';
import { connectionError, serviceError } from '../service-errors.ts';

const client = DynamoDBDocumentClient.from(new DynamoDBClient({ region: 'us-east-1' }));
const dynamo = mockClient(client);
const clock = createTestClock({ autoAdvance: true });
const table = new DynamoTable(client, 'things', clock);
const keys = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `thing-${index}` }));

const refused = (Item?: ConditionalCheckFailedException['Item']) =>
  new ConditionalCheckFailedException({ message: 'refused', $metadata: {}, ...(Item === undefined ? {} : { Item }) });

beforeEach(() => {
  dynamo.reset();
});

describe('batch reads', () => {
  test('what stays unprocessed is read again until nothing is left', async () => {
    dynamo
      .on(BatchGetCommand)
      .resolvesOnce({
        Responses: { things: [{ id: 'thing-0' }] },
        UnprocessedKeys: { things: { Keys: [{ id: 'thing-1' }, { id: 'thing-2' }] } },
      })
      .resolvesOnce({
        Responses: { things: [{ id: 'thing-1' }] },
        UnprocessedKeys: { things: { Keys: [{ id: 'thing-2' }] } },
      })
      .resolvesOnce({ Responses: { things: [{ id: 'thing-2' }] }, UnprocessedKeys: {} });

    expect(await table.getMany(keys(3))).toEqual(keys(3));

    const asked = dynamo.commandCalls(BatchGetCommand).map(({ args }) => args[0].input.RequestItems?.['things']?.Keys);
    expect(asked).toEqual([keys(3), keys(3).slice(1), keys(3).slice(2)]);
  });

  test('a table that never processes them is a dependency that does not work', async () => {
    dynamo.on(BatchGetCommand).resolves({ UnprocessedKeys: { things: { Keys: keys(1) } } });

    await expect(table.getMany(keys(1))).rejects.toBeInstanceOf(DependencyUnavailableError);
  });

  test('no request has more than a hundred keys or one of them twice', async () => {
    dynamo.on(BatchGetCommand).resolves({ Responses: { things: [] } });

    await table.getMany([...keys(250), ...keys(250)]);

    const sizes = dynamo.commandCalls(BatchGetCommand).map(({ args }) => args[0].input.RequestItems?.['things']?.Keys);
    expect(sizes.map((asked) => asked?.length)).toEqual([100, 100, 50]);
  });
});

describe('conditional writes', () => {
  const write = async () => table.update({ id: 'a' }, expr`SET #n = ${1}`, expr`attribute_not_exists(#n)`);
  const standing = async () => {
    const written = await write();
    return written.applied ? 'applied' : written.standing();
  };

  test('the item that stood in the way comes with the refusal, without another read', async () => {
    dynamo.on(UpdateCommand).rejects(refused({ id: { S: 'a' }, n: { N: '7' }, s: { NS: ['1', '2'] } }));

    expect(await standing()).toEqual({ id: 'a', n: 7, s: new Set([1, 2]) });
    expect(dynamo.commandCalls(GetCommand)).toHaveLength(0);
  });

  test('where the refusal has no item, it is read consistently, when somebody asks for it', async () => {
    dynamo.on(UpdateCommand).rejects(refused());
    dynamo.on(GetCommand).resolves({ Item: { id: 'a', n: 7 } });

    expect(await write()).toMatchObject({ applied: false });
    expect(dynamo.commandCalls(GetCommand)).toHaveLength(0);
    expect(await standing()).toEqual({ id: 'a', n: 7 });
    expect(dynamo.commandCalls(GetCommand)[0]?.args[0].input).toMatchObject({ ConsistentRead: true });
  });

  test('a whole item is written under a condition too', async () => {
    dynamo.on(PutCommand).resolves({});

    await table.put({ id: 'a' }, { n: 1 }, expr`attribute_not_exists(#id)`);

    expect(dynamo.commandCalls(PutCommand)[0]?.args[0].input).toEqual({
      TableName: 'things',
      Item: { id: 'a', n: 1 },
      ConditionExpression: 'attribute_not_exists(#id)',
      ExpressionAttributeNames: { '#id': 'id' },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
  });

  test.each([
    ['a throttle', serviceError('ThrottlingException', 400)],
    ['a broken connection', connectionError('EPIPE')],
  ])('%s is a dependency that does not work, by the name of the item', async (_what, error) => {
    dynamo.on(UpdateCommand).rejects(error);

    await expect(write()).rejects.toThrow(/while writing a of table things/);
    await expect(write()).rejects.toBeInstanceOf(DependencyUnavailableError);
  });

  test('a request that DynamoDB finds invalid is our mistake and not deferred', async () => {
    const mistake = serviceError('ValidationException', 400);
    dynamo.on(UpdateCommand).rejects(mistake);

    await expect(write()).rejects.toBe(mistake);
  });
});
