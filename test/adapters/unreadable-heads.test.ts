import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { createSubmissionStore } from '../../lambdas/adapters/dynamodb/submission-store.ts';
import type { SubmissionStore } from '../../lambdas/domain/submissions/ports.ts';
import { startTables, type TestTables } from '../contracts/tables.ts';
import { makeSubmission, SUBMISSION_ID, TENANT_ID } from '../support/factories.ts';
import { createTestClock, START_MS } from '../support/memory/index.ts';

let tables: TestTables;
beforeAll(async () => {
  tables = await startTables();
});
afterAll(async () => tables.stop());

const OTHER = 'sub_01KE9Q5XW0V4T3Z8M2N6P7R1SE';

/** Two open submissions, the first of which somebody has changed by hand. */
async function damaged(): Promise<SubmissionStore> {
  const table = await tables.create('submissions');
  const submissions = createSubmissionStore(tables.client, table, createTestClock());
  await submissions.create(makeSubmission({ nextCheckAtMs: START_MS }));
  await submissions.create(makeSubmission({ submissionId: OTHER, nextCheckAtMs: START_MS }));
  await tables.client.send(
    new UpdateCommand({
      TableName: table,
      Key: { submissionId: SUBMISSION_ID, part: 'head' },
      UpdateExpression: 'SET fanOut = :none',
      ExpressionAttributeValues: { ':none': 'by hand' },
    }),
  );
  return submissions;
}

const OTHERS_AND_A_REPORT = {
  items: [{ submissionId: OTHER }],
  unreadable: [{ submissionId: SUBMISSION_ID, error: { message: expect.stringContaining('fanOut') } }],
};

test('a head that cannot be read hides no other from the reconciler, and is told of', async () => {
  const submissions = await damaged();
  expect(await submissions.listOpen({ limit: 10 })).toMatchObject(OTHERS_AND_A_REPORT);
  expect(await submissions.listDue({ nowMs: START_MS, limit: 10 })).toMatchObject([{ submissionId: OTHER }]);
});

test('a head that cannot be read hides no other from an operator, and is told of', async () => {
  expect(await (await damaged()).listAll({ limit: 10 })).toMatchObject(OTHERS_AND_A_REPORT);
});

test("a head that cannot be read hides no other of its tenant's, and is told of", async () => {
  const submissions = await damaged();
  expect(await submissions.listByTenant({ tenantId: TENANT_ID, limit: 10 })).toMatchObject(OTHERS_AND_A_REPORT);
});
