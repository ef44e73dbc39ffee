import type { DeployedResource, JsonObject } from '../../contract.ts';
import type { ConditionContext } from '../authorization/context.ts';
import { isRecord, textOf } from '../shapes.ts';

/**
 * The partition keys that a call is about, which policies may restrict. A scan names none, as in an account.
 *
 * @param input the call's input; of a batch, what it asks of this table
 */
export function leadingKeysOf(table: DeployedResource, input: Record<string, unknown>): ConditionContext {
  const name = partitionKeyOf(table.properties, input['IndexName']);
  const items = [input['Key'], input['Item'], ...listOf(input['Keys']), ...writesOf(input)];
  const keys = [...items.map((item) => (isRecord(item) ? item[name] : undefined)), queriedKey(input, name)];
  const values = [...new Set(keys.map(plain).filter((key) => key !== ''))];
  return values.length === 0 ? {} : { 'dynamodb:LeadingKeys': values };
}

function partitionKeyOf(properties: JsonObject, index: unknown): string {
  const indexes = listOf(properties['GlobalSecondaryIndexes']).filter(isRecord);
  const owner = indexes.find(({ IndexName }) => IndexName === index) ?? properties;
  const partition = listOf(owner['KeySchema'])
    .filter(isRecord)
    .find(({ KeyType }) => KeyType === 'HASH');
  return textOf(partition?.['AttributeName']);
}

/** Requests of a batch of writes: `{PutRequest: {Item}}` or `{DeleteRequest: {Key}}`. */
const writesOf = (input: Record<string, unknown>): unknown[] =>
  listOf(input['Writes'])
    .flatMap((request) => (isRecord(request) ? Object.values(request) : []))
    .flatMap((request) => (isRecord(request) ? [request['Item'], request['Key']] : []));

/** The value that a query's condition gives the partition key: `#pk = :pk`, the name itself or a placeholder of it. */
function queriedKey(input: Record<string, unknown>, name: string): unknown {
  const names = isRecord(input['ExpressionAttributeNames']) ? input['ExpressionAttributeNames'] : {};
  const values = isRecord(input['ExpressionAttributeValues']) ? input['ExpressionAttributeValues'] : {};
  const comparisons = textOf(input['KeyConditionExpression']).matchAll(/([#\w]+)\s*=\s*(:\w+)/g);
  const found = [...comparisons].find(([, left = '']) => (names[left] ?? left) === name);
  return found?.[2] === undefined ? undefined : values[found[2]];
}

/** `{S: "a"}` or `{N: "1"}` as text. */
const plain = (value: unknown): string => (isRecord(value) ? textOf(value['S'] ?? value['N'] ?? value['B']) : '');

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
