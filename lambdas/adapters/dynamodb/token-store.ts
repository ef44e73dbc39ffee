import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { TokenStore } from '../../domain/providers/ports.ts';
import type { Clock } from '../../domain/time.ts';
import { DynamoTable, parseItem, type Key } from './dynamo.ts';
import { expr } from './expression.ts';

/** No provider's name has this character. */
const tokenKey = (provider: string): Key => ({ provider: `token#${provider}` });

const tokenSchema = v.object({ sealed: v.exactOptional(v.string()) });

/** Access tokens in the providers table, beside the state of each provider, see {@link TokenStore}. */
export function createTokenStore(client: DynamoDBDocumentClient, tableName: string, clock: Clock): TokenStore {
  const table = new DynamoTable(client, tableName, clock);
  return {
    async read(provider) {
      const item = await table.get(tokenKey(provider));
      return item && parseItem(tokenSchema, item, `access token of provider ${provider}`).sealed;
    },

    async claim(provider, { owner, nowMs, untilMs }) {
      const { applied } = await table.update(
        tokenKey(provider),
        expr`SET #leaseOwner = ${owner}, #leaseUntilMs = ${untilMs}`,
        expr`attribute_not_exists(#leaseUntilMs) OR #leaseUntilMs <= ${nowMs} OR #leaseOwner = ${owner}`,
      );
      return applied;
    },

    async write(provider, owner, sealed) {
      await table.update(
        tokenKey(provider),
        expr`SET #sealed = ${sealed} REMOVE #leaseOwner, #leaseUntilMs`,
        expr`#leaseOwner = ${owner}`,
      );
    },
  };
}
