import { describe, expect, test } from '@jest/globals';
import type { DeployedResource } from '../../contract.ts';
import { leadingKeysOf } from '../../aws/services/leading-keys.ts';
import { resource } from '../support/functions.ts';

const table: DeployedResource = resource('AWS::DynamoDB::Table', 'Table', {
  properties: {
    KeySchema: [
      { AttributeName: 'sk', KeyType: 'RANGE' },
      { AttributeName: 'pk', KeyType: 'HASH' },
    ],
    GlobalSecondaryIndexes: [{ IndexName: 'byOwner', KeySchema: [{ AttributeName: 'owner', KeyType: 'HASH' }] }],
  },
});
const a = { pk: { S: 'a' }, sk: { S: 'x' } };

describe('the partition keys of a call', () => {
  test.each<[string, Record<string, unknown>, string[]]>([
    ['one item', { Key: a }, ['a']],
    ['an item that is written', { Item: { ...a, more: { S: 'b' } } }, ['a']],
    ['a batch that is read, each once', { Keys: [a, { pk: { N: '7' } }, a] }, ['a', '7']],
    [
      'a batch that is written',
      { Writes: [{ PutRequest: { Item: a } }, { DeleteRequest: { Key: { pk: { S: 'b' } } } }] },
      ['a', 'b'],
    ],
    [
      'a query with placeholders',
      {
        KeyConditionExpression: '#s > :s AND #p = :p',
        ExpressionAttributeNames: { '#p': 'pk', '#s': 'sk' },
        ExpressionAttributeValues: { ':p': { S: 'a' }, ':s': { S: 'x' } },
      },
      ['a'],
    ],
    [
      'a query of an index',
      {
        IndexName: 'byOwner',
        KeyConditionExpression: 'owner = :o',
        ExpressionAttributeValues: { ':o': { S: 'me' } },
      },
      ['me'],
    ],
  ])('%s', (_what, input, expected) => {
    expect(leadingKeysOf(table, input)).toEqual({ 'dynamodb:LeadingKeys': expected });
  });

  test('a scan has none', () => {
    expect(leadingKeysOf(table, { TableName: 'Table' })).toEqual({});
  });
});
