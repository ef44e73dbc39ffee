import { randomUUID } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { DependencyUnavailableError } from '../../domain/errors.ts';
import { OPEN_STATES, type LedgerChunk } from '../../domain/model.ts';
import type { SubmissionStore } from '../../domain/submissions/ports.ts';
import type { Clock } from '../../domain/time.ts';
import { DynamoTable, parseItem, type Item, type Key } from './dynamo.ts';
import { expr, isIn } from './expression.ts';
import { chunkNumberOf, isLedgerItem, LAST_CHUNK, ledgerKey, parseLedger } from './ledger-item.ts';
import { submissionControl } from './submission-control.ts';
import { submissionFanOut } from './submission-fan-out.ts';
import { submissionFinalize } from './submission-finalize.ts';
import { HEAD_PART, headItem, headKey, openShardOf, parseHead } from './submission-item.ts';
import { submissionLists } from './submission-lists.ts';
import { SubmissionTable } from './submission-table.ts';

type Basics = Pick<
  SubmissionStore,
  'create' | 'get' | 'getWithLedger' | 'ledgerPage' | 'markRelayed' | 'scheduleCheck' | 'keepSchemas' | 'getSchemas'
>;

const schemasKey = (hash: string): Key => ({ submissionId: `schemas#${hash}`, part: 'schemas' });
const jsonSchema = v.record(v.string(), v.unknown());
const schemasItem = v.object({
  schemas: v.pipe(
    v.string(),
    v.parseJson(),
    v.object({
      record: jsonSchema,
      responses: v.record(v.string(), jsonSchema),
      lookups: v.exactOptional(v.array(v.string())),
    }),
  ),
});

function submissionBasics(table: SubmissionTable): Basics {
  const chunksOf = (items: readonly Item[]): LedgerChunk[] =>
    items
      .filter(isLedgerItem)
      .map(parseLedger)
      .filter(({ expiresAtSeconds }) => expiresAtSeconds * 1000 > table.now())
      .map(({ chunk }) => chunk);

  return {
    async create(submission) {
      const { submissionId } = submission;
      const createdBy = randomUUID();
      const absent = expr`attribute_not_exists(#submissionId) OR NOT (${table.table.unexpired()})`;
      const written = await table.table.put(headKey(submissionId), headItem(submission, createdBy), absent);
      const item = written.applied ? written.item : await written.standing();
      if (item === undefined) {
        throw new DependencyUnavailableError(`The submission ${submissionId} vanished while it was created.`);
      }
      const stored = parseHead(item);
      // Only the SDK's own repetition carries the same token: a write that was applied and not answered is recognised by it.
      return { created: written.applied || stored.createdBy === createdBy, stored: stored.submission };
    },

    async get(submissionId) {
      return (await table.find(submissionId))?.submission;
    },

    async getWithLedger(submissionId) {
      const items = await table.table.queryAll({ where: expr`#submissionId = ${submissionId}` });
      const head = items.find((item) => item['part'] === HEAD_PART);
      const stored = head && parseHead(head);
      if (stored === undefined || table.isExpired(stored)) return undefined;
      return { submission: stored.submission, ledger: chunksOf(items).toSorted((a, b) => a.chunk - b.chunk) };
    },

    async ledgerPage(submissionId, { from, limit }) {
      const first = ledgerKey(submissionId, from)['part'];
      const range = expr`#submissionId = ${submissionId} AND #part BETWEEN ${first} AND ${ledgerKey(submissionId, LAST_CHUNK)['part']}`;
      const { items, next } = await table.table.queryPage({ where: range, limit });
      const last = next === undefined ? LAST_CHUNK : chunkNumberOf(next);
      return { chunks: chunksOf(items), ...(last < LAST_CHUNK && { next: last + 1 }) };
    },

    async keepSchemas(hash, schemas) {
      const key = schemasKey(hash);
      const absent = expr`attribute_not_exists(#submissionId)`;
      await table.table.put(key, { ...key, schemas: JSON.stringify(schemas) }, absent);
    },

    async getSchemas(hash) {
      const item = await table.table.get(schemasKey(hash));
      return item && parseItem(schemasItem, item, `schemas ${hash}`).schemas;
    },

    async markRelayed(submissionId) {
      await table.change(submissionId, expr`SET #outboxPending = ${false}`);
    },

    async scheduleCheck(submissionId, nextCheckAtMs) {
      const shard = openShardOf(submissionId);
      const set = expr`SET #nextCheckAtMs = ${nextCheckAtMs}, #openShard = ${shard}`;
      await table.change(submissionId, set, isIn('state', OPEN_STATES));
    },
  };
}

/** The head items of the submissions table, see {@link SubmissionStore}. */
export function createSubmissionStore(
  client: DynamoDBDocumentClient,
  tableName: string,
  clock: Clock,
): SubmissionStore {
  const table = new SubmissionTable(new DynamoTable(client, tableName, clock));
  return {
    ...submissionBasics(table),
    ...submissionLists(table),
    ...submissionFanOut(table),
    ...submissionFinalize(table),
    ...submissionControl(table),
  };
}
