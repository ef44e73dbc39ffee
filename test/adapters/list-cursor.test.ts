import { encodeCursor } from '../../lambdas/adapters/dynamodb/cursor.ts';
import { createSubmissionStore } from '../../lambdas/adapters/dynamodb/submission-store.ts';
import { InvalidCursorError } from '../../lambdas/domain/errors.ts';
import { startTables, type TestTables } from '../contracts/tables.ts';
import { makeSubmission, TENANT_ID } from '../support/factories.ts';
import { createTestClock, START_MS } from '../support/memory/index.ts';

let tables: TestTables;
beforeAll(async () => {
  tables = await startTables();
});
afterAll(async () => tables.stop());

const SCOPE = `tenant ${TENANT_ID}`;
test('a cursor whose place no list has is refused, and one of another place only skips', async () => {
  const submissions = createSubmissionStore(tables.client, await tables.create('submissions'), createTestClock());
  await submissions.create(makeSubmission());
  await submissions.create(makeSubmission({ submissionId: 'sub_01KE9Q5XW0V4T3Z8M2N6P7R1SE', tenantId: 'globex' }));
  const list = async (cursor: string) => submissions.listByTenant({ tenantId: TENANT_ID, limit: 10, cursor });

  for (const position of ['[]', '["1","x"]', '[1.5,"x"]', '[1,""]', `[1,"${'x'.repeat(2_000)}"]`, 'null']) {
    await expect(list(encodeCursor(SCOPE, JSON.parse(position)))).rejects.toThrow(InvalidCursorError);
  }
  const before = await list(encodeCursor(SCOPE, [START_MS + 1, 'sub_01KE9Q5XW0V4T3Z8M2N6P7R1SE']));
  expect(before.items.map(({ tenantId }) => tenantId)).toEqual([TENANT_ID]);
  expect((await list(encodeCursor(SCOPE, [0, 'x']))).items).toEqual([]);
});
