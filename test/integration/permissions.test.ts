import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { SubmissionView } from '../../lambdas/domain/api/schemas.ts';
import type { Denial, StatementReference } from '../../local/contract.ts';
import { startLocal, type LocalSluice } from '../../local/start.ts';
import { assemblyWithout, call, clientOf, ended, SAMPLE, waitFor } from './support/sluice.ts';

/** What functions may do that nothing on the main path needs, by function: replay, and the repair of what went wrong. */
const UNUSED_ON_THE_MAIN_PATH = [
  // A file so large that its results take more than one slice.
  'finalizer ContinueLater',
  'reconciler DrainDeadLetters',
  'reconciler ReadUploads',
  'reconciler SendAgain',
  'reconciler SettleRecords',
  'redrive DrainDeadLetters',
  'redrive FindSubmissions',
  'redrive ReadHeads',
  'redrive ReadUploads',
  'redrive ReplayRecords',
  'redrive SelectAndReopen',
  'redrive SendAgain',
  'redrive WriteOwnLog',
];

/** More records than the small lane takes, most of them without anything to look up. */
const BULK = Array.from({ length: 520 }, (_, index) =>
  JSON.stringify({ record_id: String(index), ...(index < 20 ? { domain: `bulk-${index}.example` } : {}) }),
).join('\n');

/** The main path: both lanes, a repeated request, every question that a customer can ask, and the minute's round. */
async function takeTheMainPath(sluice: LocalSluice): Promise<void> {
  const client = clientOf(sluice);
  const small = await client.submitFile(SAMPLE, 'small');
  const request = {
    method: 'POST',
    contentType: 'application/x-ndjson',
    body: BULK,
    tenant: 1,
    headers: { 'idempotency-key': 'bulk-1' },
  };
  const { body } = await call(sluice, '/v1/submissions', request);
  const bulk = body as SubmissionView;
  // While both are open, so that there is something to look at.
  await sluice.fireSchedule('reconciler');
  expect((await call(sluice, '/v1/submissions', request)).body).toMatchObject({ id: bulk.id });
  expect(await ended(client, small.id)).toMatchObject({ lane: 'small', state: 'partially_failed' });
  expect(await ended(clientOf(sluice, 1), bulk.id)).toMatchObject({ lane: 'bulk', state: 'complete' });
  for (const path of ['', `/${small.id}/records?state=failed`, `/${small.id}/records/1`, `/${small.id}/results`]) {
    expect(await call(sluice, `/v1/submissions${path}`)).toMatchObject({ status: 200 });
  }
}

/** `worker small SendOn`: the function, its lane if it has one, and what the statement is for. */
function nameOf(sluice: LocalSluice, { functionNames, sid }: StatementReference): string {
  const environment = sluice.functions.specs.find(({ name }) => functionNames.includes(name))?.environment ?? {};
  return [environment['POWERTOOLS_SERVICE_NAME'], environment['LANE'], sid]
    .filter((part) => part !== undefined)
    .join(' ');
}

const ofFunctions = <T extends StatementReference>(statements: readonly T[]): T[] =>
  statements.filter(({ kind, functionNames }) => kind === 'identity' && functionNames.length > 0);

describe('every statement of a function', () => {
  let sluice: LocalSluice;
  beforeAll(async () => {
    sluice = await startLocal({ schedules: 'manual' });
    await takeTheMainPath(sluice);
  });
  afterAll(() => sluice.stop());

  test('that was used is needed: without it a call is refused, by function, action and resource', async () => {
    expect(sluice.cloud.denials()).toEqual([]);
    const used = ofFunctions(sluice.cloud.usedStatements());
    expect(used.length).toBeGreaterThan(30);
    for (const statement of used) {
      const refused = await sluice.cloud.refusedWithout(statement);
      expect([nameOf(sluice, statement), refused.length > 0]).toEqual([nameOf(sluice, statement), true]);
      for (const { functionName, action, resource, message } of refused) {
        expect(statement.functionNames).toContain(functionName);
        expect(message).toContain(`${functionName} is not authorized to perform: ${action} on resource: ${resource}`);
      }
    }
  });

  test('that was not used is known, and is for something else than the main path', () => {
    const unused = ofFunctions(sluice.cloud.unusedStatements()).map((statement) => nameOf(sluice, statement));
    expect(unused.toSorted()).toEqual(UNUSED_ON_THE_MAIN_PATH);
  });
});

/** Runs the sample without one statement, until something was denied. */
async function firstDenialWithout(policy: string, sid: string): Promise<Denial> {
  const assembly = await assemblyWithout(policy, sid);
  const sluice = await startLocal({ assemblyDirectory: assembly.directory, schedules: 'manual' });
  try {
    const submitted = clientOf(sluice).submitFile(SAMPLE, sid);
    // Some runs fail at the very first request, some accept the file and get stuck behind it.
    submitted.catch(() => undefined);
    const [denial] = await waitFor(
      () => sluice.cloud.denials(),
      ({ length }) => length > 0,
    );
    if (denial === undefined) throw new Error('Nothing was denied.');
    return denial;
  } finally {
    await sluice.stop();
    await assembly.remove();
  }
}

describe('a run without one statement', () => {
  test.each([
    ['AuthorizationAuthorizerRole', 'ReadKeys', 'dynamodb:GetItem', /:table\/.*Tenants/],
    ['SmallLaneWorkerRole', 'WriteOutcomes', 'dynamodb:BatchGetItem', /:table\/.*Records/],
    ['FanOutRole', 'ReadUploads', 's3:GetObject', /:::.*\/uploads\//],
  ])('%s %s fails with an access denied that names it', async (policy, sid, action, resource) => {
    const denial = await firstDenialWithout(policy, sid);
    expect(denial).toMatchObject({ action, resource: expect.stringMatching(resource) });
    expect(denial.functionName).toContain(policy.replace(/Role$/, '').slice(0, 12));
    expect(denial.message).toContain(`${denial.functionName} is not authorized to perform: ${action}`);
  });
});
