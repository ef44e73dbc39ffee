import { ScanCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { ApiKey, ApiKeyStore } from '../../domain/tenants/api-keys.ts';
import { SCOPES } from '../../domain/api/request.ts';
import type { Clock } from '../../domain/time.ts';
import { dependencyError } from '../aws-errors.ts';
import { DynamoTable, parseItem, type Item, type Key } from './dynamo.ts';
import { expr } from './expression.ts';

/*
 * Items of the tenants table: pk = key#<SHA-256 of the key, hex>. Without an expiry: a key works until it is revoked.
 */
const PREFIX = 'key#';
const keyOf = (hash: string): Key => ({ pk: `${PREFIX}${hash}` });

const keySchema = v.object({
  pk: v.pipe(v.string(), v.startsWith(PREFIX)),
  keyId: v.string(),
  tenantId: v.string(),
  /** A scope that only a newer version knows allows nothing here. */
  scopes: v.pipe(
    v.array(v.string()),
    v.transform((scopes) => SCOPES.filter((scope) => scopes.includes(scope))),
  ),
  createdAtMs: v.number(),
  revokedAtMs: v.exactOptional(v.number()),
  name: v.exactOptional(v.string()),
});

function parseKey(item: Item): ApiKey {
  const { pk, ...rest } = parseItem(keySchema, item, 'API key');
  return { hash: pk.slice(PREFIX.length), ...rest };
}

/** Reads keys, for the authorizer. */
export function createApiKeyStore(client: DynamoDBDocumentClient, tableName: string, clock: Clock): ApiKeyStore {
  const table = new DynamoTable(client, tableName, clock);
  return {
    async find(hash) {
      const item = await table.get(keyOf(hash));
      return item && parseKey(item);
    },
  };
}

/** Keeps keys, for the operator: no function may write or list them. */
export interface ApiKeyRegistry {
  add(key: ApiKey): Promise<void>;
  /** Every key, revoked ones too, of one tenant or of all. Reads the whole table. */
  list(tenantId?: string): Promise<ApiKey[]>;
  /** Revokes a key unless it is revoked; returns it as stored, undefined when there is none. */
  revoke(hash: string, nowMs: number): Promise<ApiKey | undefined>;
}

export function createApiKeyRegistry(client: DynamoDBDocumentClient, tableName: string, clock: Clock): ApiKeyRegistry {
  const table = new DynamoTable(client, tableName, clock);
  return {
    async add({ hash, ...rest }) {
      await table.put(keyOf(hash), { ...rest, scopes: [...rest.scopes] }, expr`attribute_not_exists(#pk)`);
    },

    async list(tenantId) {
      const keys = (await scanKeys(client, tableName)).map(parseKey);
      return keys
        .filter((key) => tenantId === undefined || key.tenantId === tenantId)
        .toSorted((a, b) =>
          a.tenantId === b.tenantId ? a.createdAtMs - b.createdAtMs : a.tenantId < b.tenantId ? -1 : 1,
        );
    },

    async revoke(hash, nowMs) {
      const isLive = expr`attribute_exists(#pk) AND attribute_not_exists(#revokedAtMs)`;
      const written = await table.update(keyOf(hash), expr`SET #revokedAtMs = ${nowMs}`, isLive);
      const item = written.applied ? written.item : await written.standing();
      return item && parseKey(item);
    },
  };
}

async function scanKeys(client: DynamoDBDocumentClient, tableName: string): Promise<Item[]> {
  const items: Item[] = [];
  let after: Item | undefined;
  try {
    do {
      const page = await client.send(
        new ScanCommand({
          TableName: tableName,
          ConsistentRead: true,
          FilterExpression: 'begins_with(#pk, :prefix)',
          ExpressionAttributeNames: { '#pk': 'pk' },
          ExpressionAttributeValues: { ':prefix': PREFIX },
          ...(after === undefined ? {} : { ExclusiveStartKey: after }),
        }),
      );
      items.push(...(page.Items ?? []));
      after = page.LastEvaluatedKey;
    } while (after !== undefined);
  } catch (error) {
    throw dependencyError(error, `listing the keys of table ${tableName}`, {
      service: 'dynamodb',
      action: 'Scan',
      resource: tableName,
    });
  }
  return items;
}
