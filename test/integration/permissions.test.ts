import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { SubmissionView } from '../../lambdas/domain/api/schemas.ts';
import type { Denial, StatementReference } from '../../local/cloud/index.ts';
import { startLocal, type LocalSluice } from '../../local/start.ts';
import { assemblyWithout, call, clientOf, ended, SAMPLE, waitFor } from './support/sluice.ts';

/** The main path sends text as it is. */
const UNPACKED = 'files that must be unpacked or decoded first';

/** The main path makes no webhooks; the test of webhooks does, and meets no denial. */
const BY_WEBHOOKS = 'webhooks and their deliveries';
const WEBHOOKS_BESIDE: readonly (readonly [string, readonly string[], string])[] = [
  [
    'submit ChangeWebhooks',
    ['dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
    BY_WEBHOOKS,
  ],
  ['submit MakeWebhookSecrets', ['dynamodb:UpdateItem'], BY_WEBHOOKS],
  ['submit RequestDeliveries', ['sqs:SendMessage'], BY_WEBHOOKS],
  ['status ReadWebhooks', ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'], BY_WEBHOOKS],
  ['status ListDeliveries', ['dynamodb:Query'], BY_WEBHOOKS],
  ['webhooks FindEndpoints', ['dynamodb:GetItem', 'dynamodb:UpdateItem'], BY_WEBHOOKS],
  ['webhooks SignDeliveries', ['dynamodb:GetItem'], BY_WEBHOOKS],
  ['webhooks TrackDeliveries', ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'], BY_WEBHOOKS],
  ['webhooks TryAgainLater', ['sqs:SendMessage'], BY_WEBHOOKS],
];

/** What functions may do that nothing on the main path needs, and what does: replay, and the repair of what went wrong. */
const BESIDE_THE_MAIN_PATH: readonly (readonly [what: string, actions: readonly string[], because: string])[] = [
  ['submit AcceptSubmissions', ['dynamodb:Query'], 'cancelling, and repeating what stands, answer with counts'],
  [
    'submit RepeatAnswers',
    ['dynamodb:GetItem', 'dynamodb:DeleteItem'],
    'a refusal is forgotten; an answer is read again',
  ],
  [
    'fan-out TrackProgress',
    ['dynamodb:GetItem', 'dynamodb:Query'],
    'a change that was refused is looked at; stopped chunks are settled',
  ],
  ['worker * ShareProviders', ['dynamodb:GetItem'], 'a reservation that was refused is looked at'],
  ['worker * WriteOutcomes', ['dynamodb:GetItem'], 'a row that was refused is looked at'],
  ['finalizer ContinueLater', ['sqs:SendMessage'], 'results that take more than one slice'],
  ['fan-out AnnounceEnds', ['sqs:SendMessage'], 'files that are rejected'],
  ...WEBHOOKS_BESIDE,
  ['finalizer WriteResults', ['s3:AbortMultipartUpload', 's3:GetObject'], 'large results: given up, continued'],
  ['reconciler MoveOn', ['dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:UpdateItem'], 'only for what is overdue'],
  [
    'reconciler SettleRecords',
    ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:PutItem'],
    'lost or stopped records',
  ],
  ['reconciler ReadSources', ['s3:GetObject'], 'lost records are sent again from the file'],
  ...['fan-out', 'finalizer', 'prepare', 'reconciler', 'redrive', 'status'].map(
    (name): (typeof BESIDE_THE_MAIN_PATH)[number] => [
      `${name} SeeMissingSources`,
      ['s3:ListBucket'],
      'decides what S3 answers for a missing file',
    ],
  ),
  ...['submit', 'preview'].map((name): (typeof BESIDE_THE_MAIN_PATH)[number] => [
    `${name} SeeMissingUploads`,
    ['s3:ListBucket'],
    'decides what S3 answers for a missing file',
  ]),
  ['prepare ConsumeQueue', ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], UNPACKED],
  ['prepare TrackProgress', ['dynamodb:GetItem', 'dynamodb:UpdateItem'], UNPACKED],
  ['prepare ReadSources', ['s3:GetObject'], UNPACKED],
  ['prepare WritePrepared', ['s3:PutObject', 's3:AbortMultipartUpload'], UNPACKED],
  ['prepare SendOn', ['sqs:SendMessage'], UNPACKED],
  ['prepare WriteOwnLog', ['logs:CreateLogStream', 'logs:PutLogEvents'], UNPACKED],
  ...['finalizer', 'status'].map((name): (typeof BESIDE_THE_MAIN_PATH)[number] => [
    `${name} SeeMissingResults`,
    ['s3:ListBucket'],
    'decides what S3 answers for missing results',
  ]),
  ['reconciler SendAgain', ['sqs:SendMessage'], 'lost messages'],
  [
    'reconciler DrainDeadLetters',
    ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility'],
    'replay after an outage',
  ],
  ...['redrive', 'reconciler'].map((name): (typeof BESIDE_THE_MAIN_PATH)[number] => [
    `${name} SetApart`,
    ['s3:PutObject'],
    'dead letters that stay unreadable after their third replay',
  ]),
  ['submit RecountSoon', ['dynamodb:UpdateItem'], 'a tenant that is refused for its own open work'],
  ['redrive WriteOwnLog', ['logs:CreateLogStream', 'logs:PutLogEvents'], 'run by hand'],
  ['redrive SelectAndReopen', ['dynamodb:Query', 'dynamodb:GetItem', 'dynamodb:UpdateItem'], 'run by hand'],
  ['redrive FindSubmissions', ['dynamodb:Query', 'dynamodb:Scan'], 'run by hand'],
  ['redrive ReadHeads', ['dynamodb:BatchGetItem'], 'run by hand'],
  ['redrive ReplayRecords', ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:PutItem'], 'run by hand'],
  ['redrive ReadPace', ['dynamodb:GetItem'], 'run by hand'],
  ['redrive ReadSources', ['s3:GetObject'], 'run by hand'],
  ['redrive SendAgain', ['sqs:SendMessage'], 'run by hand'],
  [
    'redrive DrainDeadLetters',
    ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility'],
    'run by hand',
  ],
];
const withoutLane = (what: string): string => what.replace(/ (?:small|bulk) /, ' * ');
const isExpected = (what: string, action: string): boolean =>
  BESIDE_THE_MAIN_PATH.some(([name, actions]) => name === withoutLane(what) && actions.includes(action));

/** More records than the small lane takes, most of them without anything to look up. */
const BULK = Array.from({ length: 520 }, (_, index) =>
  JSON.stringify({ record_id: String(index), ...(index < 20 ? { domain: `bulk-${index}.example` } : {}) }),
).join('\n');

/** The main path: both lanes, a repeated request, every question that a customer can ask, and the minute's round. */
async function takeTheMainPath(sluice: LocalSluice): Promise<void> {
  const client = clientOf(sluice);
  await call(sluice, '/v1/profiles/sample', { method: 'PUT', contentType: 'application/json', body: '{}' });
  const uploadId = await client.upload(SAMPLE);
  const preview = JSON.stringify({ uploadId, profile: 'sample' });
  const previewed = { method: 'POST', contentType: 'application/json', body: preview };
  expect(await call(sluice, '/v1/previews', previewed)).toMatchObject({
    status: 200,
    body: { asGiven: { valid: 193 } },
  });
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
  // Every statement of ours is named; the function that empties buckets before they are deleted is the CDK's own.
  statements.filter(
    ({ kind, functionNames, sid }) => kind === 'identity' && functionNames.length > 0 && sid !== undefined,
  );

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

  test('names no action that nothing uses: what the main path does not, something known does', () => {
    const { cloud } = sluice;
    const used = new Map(cloud.usedStatements().map((statement) => [keyOf(statement), Object.keys(statement.calls)]));
    const statements = ofFunctions([...cloud.usedStatements(), ...cloud.unusedStatements()]);
    const unused = statements.flatMap((statement) =>
      statement.actions
        .filter((action) => !used.get(keyOf(statement))?.includes(action))
        .map((action): [string, string] => [nameOf(sluice, statement), action]),
    );
    expect(unused.filter(([name, action]) => !isExpected(name, action))).toEqual([]);
    expect(unused.length).toBeGreaterThan(20);
    const names = new Set(statements.map((statement) => withoutLane(nameOf(sluice, statement))));
    expect(BESIDE_THE_MAIN_PATH.map(([name]) => name).filter((name) => !names.has(name))).toEqual([]);
  });
});

const keyOf = ({ policy, index }: StatementReference): string => `${policy} ${index}`;

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
    ['FanOutRole', 'ReadSources', 's3:GetObject', /:::.*\/uploads\//],
  ])('%s %s fails with an access denied that names it', async (policy, sid, action, resource) => {
    const denial = await firstDenialWithout(policy, sid);
    expect(denial).toMatchObject({ action, resource: expect.stringMatching(resource) });
    expect(denial.functionName).toContain(policy.replace(/Role$/, '').slice(0, 12));
    expect(denial.message).toContain(`${denial.functionName} is not authorized to perform: ${action}`);
  });
});
