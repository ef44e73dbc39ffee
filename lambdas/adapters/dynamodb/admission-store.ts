import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { DependencyUnavailableError } from '../../domain/errors.ts';
import { LANES } from '../../domain/model.ts';
import { DEAD_LETTER_QUEUES, type AdmissionStore, type OpenWork } from '../../domain/tenants/ports.ts';
import type { Clock } from '../../domain/time.ts';
import { DynamoTable, parseItem, type Item, type Key } from './dynamo.ts';
import { expr, named } from './expression.ts';

/*
 * Items of the tenants table:
 *   pk = tenant#<id>#<shard>   `open`: map of submission id to { r: records, l: lane }
 *   pk = system                `backlog`: the newest snapshot
 *   pk = system#dead-letters   `log`: since when the dead-letter queues hold messages
 *   pk = system#tenants        `tenants`: ids of those with open submissions, as of the reconciler's last run
 * Every write of a map costs its whole size, and an item ends at 400 KB: the shards make both far away.
 */
const SHARDS = 8;
const SYSTEM_KEY: Key = { pk: 'system' };
const TENANTS_KEY: Key = { pk: 'system#tenants' };
const DEAD_LETTERS_KEY: Key = { pk: 'system#dead-letters' };
const MAX_ROUNDS = 3;

const ALWAYS = expr`attribute_exists(#pk) OR attribute_not_exists(#pk)`;

const tenantKey = (tenantId: string, shard: number): Key => ({ pk: `tenant#${tenantId}#${shard}` });

function shardOf(submissionId: string): number {
  let sum = 0;
  for (const character of submissionId) sum += character.charCodeAt(0);
  return sum % SHARDS;
}

const openSchema = v.object({
  open: v.optional(
    v.record(v.string(), v.object({ r: v.number(), l: v.exactOptional(v.picklist(LANES)) })),
    () => ({}),
  ),
});
const backlogSchema = v.object({
  backlog: v.object({
    asOfMs: v.number(),
    openRecords: v.object({ small: v.number(), bulk: v.number() }),
    openSubmissions: v.number(),
    troubledAtMs: v.optional(v.number(), 0),
    pacePerSecond: v.exactOptional(v.number()),
  }),
});

const waitSchema = v.exactOptional(v.object({ sinceMs: v.number(), seenMs: v.number() }));
const deadLettersSchema = v.object({
  log: v.object({
    waiting: v.object(v.entriesFromList(DEAD_LETTER_QUEUES, waitSchema)),
    pass: v.exactOptional(v.object({ troubledAtMs: v.number(), left: v.number() })),
  }),
});

const tenantsSchema = v.object({ tenants: v.array(v.string()) });

const workOf = (item: Item): OpenWork[] =>
  Object.entries(parseItem(openSchema, item, `open work ${String(item['pk'])}`).open).map(([submissionId, { r, l }]) =>
    l === undefined ? { submissionId, records: r } : { submissionId, records: r, lane: l },
  );

/** What admission goes by, in the tenants table, see {@link AdmissionStore}. Nothing of it expires: submissions end. */
export function createAdmissionStore(client: DynamoDBDocumentClient, tableName: string, clock: Clock): AdmissionStore {
  const table = new DynamoTable(client, tableName, clock);

  return {
    async openWork(tenantId) {
      const keys = Array.from({ length: SHARDS }, (_, shard) => tenantKey(tenantId, shard));
      const work = (await table.getMany(keys)).flatMap(workOf);
      return work.toSorted((a, b) => (a.submissionId < b.submissionId ? -1 : 1));
    },

    async setOpenWork(tenantId, { submissionId, records, lane }) {
      const key = tenantKey(tenantId, shardOf(submissionId));
      const entry = lane === undefined ? { r: records } : { r: records, l: lane };
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const change = expr`SET #open.${named(submissionId)} = ${entry}`;
        const written = await table.update(key, change, expr`attribute_exists(#open)`);
        if (written.applied) return;
        const first = expr`SET #open = ${{ [submissionId]: entry }}`;
        const begun = await table.update(key, first, expr`attribute_not_exists(#open)`);
        if (begun.applied) return;
      }
      throw new DependencyUnavailableError(`The open work of ${submissionId} could not be written: too many races.`);
    },

    async clearOpenWork(tenantId, submissionId) {
      const key = tenantKey(tenantId, shardOf(submissionId));
      await table.update(key, expr`REMOVE #open.${named(submissionId)}`, expr`attribute_exists(#open)`);
    },

    async tenantsWithWork() {
      const item = await table.get(TENANTS_KEY);
      return item === undefined ? [] : parseItem(tenantsSchema, item, 'tenants with open work').tenants;
    },

    async saveTenantsWithWork(tenants) {
      await table.update(TENANTS_KEY, expr`SET #tenants = ${[...tenants]}`, ALWAYS);
    },

    async recountSoon(tenantId) {
      const change = expr`SET #tenants = list_append(#tenants, ${[tenantId]})`;
      await table.update(TENANTS_KEY, change, expr`attribute_exists(#tenants) AND NOT contains(#tenants, ${tenantId})`);
    },

    async deadLetters() {
      const item = await table.get(DEAD_LETTERS_KEY);
      return item && parseItem(deadLettersSchema, item, 'log of dead letters').log;
    },

    async saveDeadLetters({ waiting, pass }) {
      const log = { waiting: { ...waiting }, ...(pass && { pass: { ...pass } }) };
      await table.update(DEAD_LETTERS_KEY, expr`SET #log = ${log}`, ALWAYS);
    },

    async backlog() {
      const item = await table.get(SYSTEM_KEY);
      return item && parseItem(backlogSchema, item, 'backlog').backlog;
    },

    async saveBacklog(backlog) {
      const { asOfMs, openRecords, ...rest } = backlog;
      const older = expr`attribute_not_exists(#backlog) OR #backlog.#asOfMs <= ${asOfMs}`;
      const change = expr`SET #backlog = ${{ asOfMs, openRecords: { ...openRecords }, ...rest }}`;
      await table.update(SYSTEM_KEY, change, older);
    },
  };
}
