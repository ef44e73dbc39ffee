import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  UpdateCommand,
  type DynamoDBDocumentClient,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as v from 'valibot';
import { DependencyUnavailableError, InvalidDataError } from '../../domain/errors.ts';
import type { Clock } from '../../domain/time.ts';
import { refuseNewerVersion } from '../../domain/versions.ts';
import { callAws } from '../aws-errors.ts';
import { backoffMs } from '../backoff.ts';
import { expr, Placeholders, type Expression } from './expression.ts';

/** An item before it is parsed. */
export type Item = Record<string, unknown>;
export type Key = Record<string, string | number>;

/**
 * What became of a conditional write: the item after it, or the item that stood in its way (undefined when there is none).
 * That one is read only when it is asked for and did not come with the refusal, so that a role which never asks needs no read.
 */
export type Written = { applied: true; item: Item } | { applied: false; standing(): Promise<Item | undefined> };

export interface QueryInput {
  where: Expression;
  index?: string;
  descending?: boolean;
  limit?: number;
  after?: Item;
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html */
const MAX_BATCH_GET_KEYS = 100;
const MAX_UNPROCESSED_ROUNDS = 8;

/** One table: consistent reads, conditional writes, and errors as the ports promise them. */
export class DynamoTable {
  readonly name: string;
  readonly clock: Clock;
  readonly #client: DynamoDBDocumentClient;

  constructor(client: DynamoDBDocumentClient, name: string, clock: Clock) {
    this.#client = client;
    this.name = name;
    this.clock = clock;
  }

  /** True for items that have not expired: DynamoDB deletes those that have only days later. Compare in conditions too. */
  unexpired(): Expression {
    return expr`#expiresAtSeconds > ${this.clock.now() / 1000}`;
  }

  async get(key: Key, read: 'consistent' | 'eventual' = 'consistent'): Promise<Item | undefined> {
    return this.#calling('GetItem', `reading ${describe(key)}`, async () => {
      const command = new GetCommand({ TableName: this.name, Key: key, ConsistentRead: read === 'consistent' });
      const answer = await this.#client.send(command);
      return answer.Item;
    });
  }

  /** Reads in any number and order, consistent unless told otherwise; items that are not there are not in the answer. */
  async getMany(keys: readonly Key[], read: 'consistent' | 'eventual' = 'consistent'): Promise<Item[]> {
    const distinct = [...new Map(keys.map((key) => [JSON.stringify(key), key])).values()];
    const items: Item[] = [];
    for (let from = 0; from < distinct.length; from += MAX_BATCH_GET_KEYS) {
      items.push(...(await this.#getBatch(distinct.slice(from, from + MAX_BATCH_GET_KEYS), read === 'consistent')));
    }
    return items;
  }

  async #getBatch(keys: readonly Key[], ConsistentRead: boolean): Promise<Item[]> {
    const items: Item[] = [];
    let pending: readonly Item[] = keys;
    for (let round = 0; round < MAX_UNPROCESSED_ROUNDS; round++) {
      await this.clock.sleep(round === 0 ? 0 : backoffMs(round));
      const answer = await this.#calling('BatchGetItem', `reading ${pending.length} items`, async () =>
        this.#client.send(
          new BatchGetCommand({ RequestItems: { [this.name]: { Keys: [...pending], ConsistentRead } } }),
        ),
      );
      items.push(...(answer.Responses?.[this.name] ?? []));
      pending = answer.UnprocessedKeys?.[this.name]?.Keys ?? [];
      if (pending.length === 0) return items;
    }
    throw new DependencyUnavailableError(
      `${pending.length} items of table ${this.name} stayed unprocessed after ${MAX_UNPROCESSED_ROUNDS} batch reads.`,
    );
  }

  /** One page of a query; of the table itself consistently, of an index as it is. */
  async queryPage(query: QueryInput): Promise<{ items: Item[]; next?: Item }> {
    const placeholders = new Placeholders();
    const KeyConditionExpression = query.where.compile(placeholders);
    const answer = await this.#calling('Query', `querying ${query.index ?? 'items'}`, async () =>
      this.#client.send(
        new QueryCommand({
          TableName: this.name,
          KeyConditionExpression,
          ...placeholders.request(),
          ...(query.index === undefined ? { ConsistentRead: true } : { IndexName: query.index }),
          ScanIndexForward: query.descending !== true,
          ...(query.limit === undefined ? {} : { Limit: query.limit }),
          ...(query.after === undefined ? {} : { ExclusiveStartKey: query.after }),
        }),
      ),
    );
    const items = answer.Items ?? [];
    return answer.LastEvaluatedKey === undefined ? { items } : { items, next: answer.LastEvaluatedKey };
  }

  /** One page of a whole index, in no order that means anything. */
  async scanPage(scan: { index: string; limit: number; after?: Item }): Promise<{ items: Item[]; next?: Item }> {
    const answer = await this.#calling('Scan', `scanning ${scan.index}`, async () =>
      this.#client.send(
        new ScanCommand({
          TableName: this.name,
          IndexName: scan.index,
          Limit: scan.limit,
          ...(scan.after === undefined ? {} : { ExclusiveStartKey: scan.after }),
        }),
      ),
    );
    const items = answer.Items ?? [];
    return answer.LastEvaluatedKey === undefined ? { items } : { items, next: answer.LastEvaluatedKey };
  }

  /** Every item of a query, page after page. */
  async queryAll(query: QueryInput): Promise<Item[]> {
    const items: Item[] = [];
    let after: Item | undefined;
    do {
      const page = await this.queryPage(after === undefined ? query : { ...query, after });
      items.push(...page.items);
      after = page.next;
    } while (after !== undefined);
    return items;
  }

  /** Changes an item when `when` holds; otherwise nothing changes. */
  async update(key: Key, change: Expression, when: Expression): Promise<Written> {
    const placeholders = new Placeholders();
    const command = new UpdateCommand({
      TableName: this.name,
      Key: key,
      UpdateExpression: change.compile(placeholders),
      ConditionExpression: when.compile(placeholders),
      ...placeholders.request(),
      ReturnValues: 'ALL_NEW',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    return this.#conditionally('UpdateItem', key, async () => {
      const answer = await this.#client.send(command);
      return answer.Attributes ?? {};
    });
  }

  /** Writes a whole item when `when` holds of what is there. */
  async put(key: Key, attributes: Item, when: Expression): Promise<Written> {
    const placeholders = new Placeholders();
    const item = { ...attributes, ...key };
    const command = new PutCommand({
      TableName: this.name,
      Item: item,
      ConditionExpression: when.compile(placeholders),
      ...placeholders.request(),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    return this.#conditionally('PutItem', key, async () => {
      await this.#client.send(command);
      return item;
    });
  }

  async #conditionally(action: string, key: Key, write: () => Promise<Item>): Promise<Written> {
    const outcome = await this.#calling(action, `writing ${describe(key)}`, async () => {
      try {
        return { item: await write() };
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return { failed: error };
        throw error;
      }
    });
    if (outcome.item !== undefined) return { applied: true, item: outcome.item };
    // DynamoDB leaves the item out when there is none, and emulators always.
    const { Item: refusedBy } = outcome.failed;
    return {
      applied: false,
      standing: async () => (refusedBy === undefined ? this.get(key) : unmarshall(refusedBy)),
    };
  }

  async #calling<T>(action: string, doing: string, call: () => Promise<T>): Promise<T> {
    return callAws(`${doing} of table ${this.name}`, { service: 'dynamodb', action, resource: this.name }, call);
  }
}

const describe = (key: Key): string => Object.values(key).join('/');

/** Major version of the items: a newer one writes it as attribute `v`. Attributes may be added within it. */
const ITEM_VERSION = 1;

/**
 * Parses an item as read. Throws UnsupportedVersionError for one of a newer major version, and {@link InvalidDataError} that names the item
 * and the attribute, without its value.
 */
export function parseItem<S extends v.GenericSchema>(schema: S, item: unknown, what: string): v.InferOutput<S> {
  refuseNewerVersion(`The stored ${what}`, item, ITEM_VERSION);
  const parsed = v.safeParse(schema, item);
  if (parsed.success) return parsed.output;
  const issue = parsed.issues[0];
  throw new InvalidDataError(
    `The stored ${what} is not valid at ${v.getDotPath(issue) ?? 'its root'}: ${issue.expected ?? issue.type} expected. ` +
      'It was written by hand: restore it from the point-in-time backup or delete it.',
  );
}

/** A number set as DynamoDB has it; an absent one is empty. */
export const numberSet = v.optional(v.set(v.number()), () => new Set<number>());
