import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createCountsCache } from '../../../lambdas/domain/api/counts-cache.ts';
import { listSubmissions } from '../../../lambdas/domain/api/status.ts';
import { chunkCount } from '../../../lambdas/domain/model.ts';
import { makeProcessing, TENANT_ID } from '../../support/factories.ts';
import { createTestClock, START_MS } from '../../support/memory/index.ts';
import { startTables, type TestTables } from '../../contracts/tables.ts';

const RECORDS = 1_000_000;
const FILES = 20;
const failures = { invalid_record: 1_200, provider_rejected: 34 };
const counts = { total: RECORDS, pending: 0, succeeded: RECORDS - 1_234, failed: 1_234, cancelled: 0, failures };

let tables: TestTables;
let units = 0;
beforeAll(async () => {
  tables = await startTables();
  tables.client.middlewareStack.add(
    (next) => async (args) => {
      Object.assign(args.input, { ReturnConsumedCapacity: 'TOTAL' });
      const answer = await next(args);
      const { ConsumedCapacity } = answer.output as { ConsumedCapacity?: Consumed | Consumed[] };
      for (const each of [ConsumedCapacity ?? []].flat()) units += each.CapacityUnits;
      return answer;
    },
    { step: 'initialize' },
  );
});
afterAll(async () => tables.stop());

interface Consumed {
  CapacityUnits: number;
}

const request = (query: Record<string, string>) => ({
  path: {},
  query,
  headers: {},
  body: new Uint8Array(),
  baseUrl: 'https://api.example',
  budget: { remainingMs: () => 29_000 },
});
const caller = { tenantId: TENANT_ID, keyId: 'key', scopes: ['read'] };
const idOf = (file: number): string => `sub_01KE9Q5XW0V4T3Z8M2N6P7R1${String(file).padStart(2, '0')}`;

test('a page of closed files of a million records costs half a unit a file, and no ledger', async () => {
  const world = await tables.world();
  const chunks = chunkCount(RECORDS);
  const allClosed = new Set(Array.from({ length: chunks }, (_, chunk) => chunk));
  for (let file = 0; file < FILES; file++) {
    const submissionId = idOf(file);
    await world.submissions.create(
      makeProcessing(RECORDS, { submissionId, createdAtMs: START_MS + file, closedChunks: allClosed }),
    );
    await world.submissions.beginFinalizing(submissionId, chunks, START_MS);
    await world.submissions.claimFinalize({ submissionId, owner: 'a', nowMs: START_MS, leaseMs: 60_000 });
    const end = { state: 'partially_failed', resultsVersion: 1, counts, nowMs: START_MS } as const;
    await world.submissions.finish(submissionId, 'a', end);
  }
  const clock = createTestClock();
  const settings = { pacePerSecond: 100, smallLaneShare: 0.25 };
  const list = listSubmissions({ ...world, countsCache: createCountsCache(clock), clock, settings });
  units = 0;
  const page = await list(request({ limit: String(FILES) }), caller);
  expect((page.body as { items: object[] }).items).toHaveLength(FILES);
  expect((page.body as { items: object[] }).items[0]).toMatchObject({ failures });
  // Half a unit for each head, and one page of the index.
  expect(units).toBeLessThanOrEqual(FILES / 2 + 0.5);
});
