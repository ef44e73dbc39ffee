import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { AnswerCache, AnswerKey } from '../../domain/providers/ports.ts';
import type { Clock } from '../../domain/time.ts';
import { loadAnswers, storeAnswers } from './answers.ts';
import { DynamoTable, parseItem, type Key } from './dynamo.ts';
import { expr } from './expression.ts';
import { itemBytes } from './item-size.ts';

const itemSchema = v.object({
  an: v.union([v.string(), v.instance(Uint8Array)]),
  askedAtMs: v.number(),
  expiresAtSeconds: v.number(),
});

/**
 * Partitions of one owner's answers, by the first character of the hash (base64url): one alone bears a thousand writes a second. Who
 * erases a tenant's answers queries each of the 64. Shared answers have no tenant in their key.
 */
const keyOf = ({ provider, tenantId = '', hash }: AnswerKey): Key => ({
  submissionId: `answers#${tenantId}#${hash.charAt(0)}`,
  part: `${provider}#${hash}`,
});

/** Kept answers in the submissions table, an item for each lookup. They expire. */
export function createAnswerCache(client: DynamoDBDocumentClient, tableName: string, clock: Clock): AnswerCache {
  const table = new DynamoTable(client, tableName, clock);
  return {
    async get(key) {
      // Half the price of a consistent read, and what was written a moment ago is asked for once more at worst.
      const item = await table.get(keyOf(key), 'eventual');
      if (item === undefined) return undefined;
      const what = `answer of ${key.provider} for lookup ${key.hash}`;
      const { an, askedAtMs, expiresAtSeconds } = parseItem(itemSchema, item, what);
      const answer = loadAnswers(an, what)[key.provider];
      if (answer === undefined || expiresAtSeconds <= clock.now() / 1_000) return undefined;
      return { answer, askedAtMs };
    },

    async put(key, { answer, askedAtMs }, expiresAtSeconds) {
      const otherBytes = itemBytes({ ...keyOf(key), an: '', askedAtMs, expiresAtSeconds });
      const an = storeAnswers({ [key.provider]: answer }, otherBytes);
      await table.update(
        keyOf(key),
        expr`SET #an = ${an}, #askedAtMs = ${askedAtMs}, #expiresAtSeconds = ${expiresAtSeconds}`,
        expr`attribute_not_exists(#askedAtMs) OR #askedAtMs < ${askedAtMs}`,
      );
    },
  };
}
