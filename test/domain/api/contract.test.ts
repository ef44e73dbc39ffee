import { createHash } from 'node:crypto';
import { manifestKey } from '../../../lambdas/domain/finalize/manifest.ts';
import { OPERATION_IDS, OPERATIONS, type Operation, type OperationId } from '../../../lambdas/domain/api/operations.ts';
import type { SourceObject } from '../../../lambdas/domain/model.ts';
import type { Random } from '../../../lambdas/domain/time.ts';
import { newSubmissionId } from '../../../lambdas/domain/api/ids.ts';
import type { WebhookDelivery } from '../../../lambdas/domain/webhooks/model.ts';
import { DependencyUnavailableError } from '../../../lambdas/domain/errors.ts';
import { InProgressError } from '../../../lambdas/domain/api/ports.ts';
import { arrangeSubmission } from '../../support/api/arrange.ts';
import { createTestApi, type Call, type TestApi } from '../../support/api/api.ts';
import { makeSubmission, SUBMISSION_ID, TENANT_ID } from '../../support/factories.ts';
import { Coverage, documentedStatuses, fuzzCall } from '../../support/api/fuzz.ts';
import { gzipped } from '../../support/prepare/files.ts';
import { ENDPOINT } from '../../support/webhook-rig.ts';
import { seededRandom, START_MS } from '../../support/memory/index.ts';

/** What the gateway answers by itself, where no function can. */
const BY_GATEWAY: Partial<Record<OperationId, readonly number[]>> = { getDescription: [500, 503] };
const GATEWAY_STATUSES = [504];
const RECORD_LIMIT = 5_000;

const pathOf = (id: OperationId, submissionId = SUBMISSION_ID): string =>
  OPERATIONS[id].path
    .replace('{id}', submissionId)
    .replace('{recordNo}', '1')
    .replace('{name}', 'crm')
    .replace('{webhookId}', ENDPOINT.endpointId)
    .replace('{deliveryId}', DELIVERY.deliveryId);
const csv = (body: string, headers: Record<string, string> = {}): Call => ({
  body,
  headers: { 'content-type': 'text/csv', ...headers },
});
const JSON_TYPE = { 'content-type': 'application/json' };

/** Makes every call of a port end so, and every use of an idempotency key. */
function broken(error: Error): TestApi {
  const fail = async (): Promise<never> => {
    throw error;
  };
  const api = createTestApi({ hook: fail });
  api.answers.once = fail;
  return api;
}

/** A file that is there. */
const sourceIn = ({ world }: TestApi): SourceObject => {
  const key = 'uploads/acme/up_1';
  return { key, ...world.objects.seed(key, 'record_id\n1\n2\n3\n') };
};

/** A submission with records. */
const arranged = async (api: TestApi) => {
  const overrides = { submissionId: 'sub_01KE9Q5XW0V4T3Z8M2N6P7R1SE', source: sourceIn(api) };
  return arrangeSubmission(api.world, 3, { 1: { state: 'succeeded' } }, overrides);
};

/** Nothing was uploaded under it. */
const UNKNOWN_UPLOAD = 'up_01KE9Q5XW0V4T3Z8M2N6P7R1SD';

const WEBHOOK = { url: 'https://hooks.sluice.example/events' };
const DELIVERY: WebhookDelivery = {
  deliveryId: 'dlv_01KE9Q5XW0V4T3Z8M2N6P7R1SD_0_01KE9Q5XW0V4T3Z8M2N6P7R1SD',
  tenantId: TENANT_ID,
  endpointId: ENDPOINT.endpointId,
  eventId: 'evt_01KE9Q5XW0V4T3Z8M2N6P7R1SD_0',
  type: 'submission.completed',
  submissionId: SUBMISSION_ID,
  body: '{}',
  state: 'given_up',
  attempts: 10,
  attemptsBefore: 0,
  lastAttempt: { atMs: START_MS, durationMs: 10_000, failure: 'timeout' },
  createdAtMs: START_MS,
  updatedAtMs: START_MS,
  expiresAtSeconds: START_MS / 1_000 + 86_400,
};

/** What the walk asks about webhooks. */
async function walkWebhooks({ world }: TestApi, ask: (id: OperationId, call?: Call, on?: TestApi) => Promise<void>) {
  for (const id of ['createWebhook', 'putWebhook'] as const) {
    await ask(id, { body: WEBHOOK }, broken(new Error('defect')));
    await ask(id, { body: WEBHOOK }, broken(new DependencyUnavailableError('throttled')));
  }
  await ask('putWebhook', { body: WEBHOOK });
  await world.webhooks.putEndpoint(ENDPOINT);
  await world.webhooks.createDelivery(DELIVERY);
  for (const id of WEBHOOK_OPERATIONS) {
    const { body }: Operation = OPERATIONS[id];
    if (body) await ask(id, { body: `{"a":"${'x'.repeat(20_000)}"}`, headers: JSON_TYPE });
    await ask(id, body ? { body: 'url' in body.json.entries ? WEBHOOK : {} } : {});
  }
  await world.webhooks.putEndpoint({ ...ENDPOINT, disabledBecause: 'gone' });
  await ask('testWebhook', { body: {} });
  await ask('resendDelivery', { body: {} });
  for (let number = 0; number < 20; number++) {
    await world.webhooks.putEndpoint({ ...ENDPOINT, endpointId: `we_${number}` });
  }
  await ask('createWebhook', { body: WEBHOOK });
  await ask('deleteWebhook');
}
const WEBHOOK_OPERATIONS = [
  'createWebhook',
  'listWebhooks',
  'getWebhook',
  'putWebhook',
  'rotateWebhookSecret',
  'testWebhook',
  'listDeliveries',
  'getDelivery',
  'resendDelivery',
] as const;

/** A call for every documented status of every operation that a function answers. */
async function walk(coverage: Coverage): Promise<void> {
  const api = createTestApi();
  const ask = async (id: OperationId, call: Call = {}, { on = api, submissionId = SUBMISSION_ID } = {}) => {
    const { status } = await on.call(OPERATIONS[id].method, pathOf(id, submissionId), call);
    coverage.add(id, status);
  };
  const submission = makeSubmission({ state: 'complete', resultsVersion: 1 });
  await api.world.submissions.create(submission);
  const manifest = {
    v: 1,
    submissionId: SUBMISSION_ID,
    version: 1,
    state: 'complete',
    createdAt: new Date(START_MS).toISOString(),
    counts: { total: 0, succeeded: 0, failed: 0, cancelled: 0 },
    failures: {},
    files: [],
  };
  api.world.objects.seed(manifestKey(submission, 1), JSON.stringify(manifest));
  const { body: accepted } = await api.call('POST', '/v1/submissions', csv('record_id\n1\n'));
  const open = { submissionId: accepted.id };

  for (const id of OPERATION_IDS) {
    const { scope, body }: Operation = OPERATIONS[id];
    await ask(id, { query: { unknown: '1' }, ...(body && { body: '{}', headers: JSON_TYPE }) });
    if (scope === undefined) continue;
    await ask(id, { tenant: null });
    await ask(id, { scopes: 'none' });
    const call: Call = body ? { body: '{}', headers: { ...JSON_TYPE, 'idempotency-key': 'k' } } : {};
    if (id === 'createSubmission') Object.assign(call, csv('record_id\n1\n'));
    await ask(id, call, { on: broken(new Error('defect')) });
    await ask(id, call, { on: broken(new DependencyUnavailableError('throttled')) });
    if (id !== 'putProfile') await ask(id, body ? call : {}, { submissionId: 'sub_unknown' });
  }
  await ask('getDescription');
  await ask('createUpload', { body: {} });
  await ask('createUpload', { body: { sizeBytes: 1e9 } });
  await ask('createUpload', { body: {}, headers: { 'idempotency-key': 'a' } });
  await ask('createUpload', { body: { sizeBytes: 1 }, headers: { 'idempotency-key': 'a' } });
  const requestHash = createHash('sha256').update('[null,null]').digest('hex');
  api.answers.occupy({ tenantId: TENANT_ID, idempotencyKey: 'uploads\nb', requestHash });
  await ask('createUpload', { body: {}, headers: { 'idempotency-key': 'b' } });

  await ask('createPreview', { body: { uploadId: await api.upload() } });
  await ask('createPreview', { body: `{"a":"${'x'.repeat(20_000)}"}`, headers: JSON_TYPE });
  await ask('createPreview', { body: { uploadId: UNKNOWN_UPLOAD } });
  const previewed = { body: { uploadId: UNKNOWN_UPLOAD } };
  await ask('createPreview', previewed, { on: broken(new Error('defect')) });
  await ask('createPreview', previewed, { on: broken(new DependencyUnavailableError('throttled')) });

  await ask('createSubmission', csv('record_id\n1\n'));
  await ask('createSubmission', csv('x'.repeat(60_000)));
  await ask('createSubmission', { body: 'x', headers: { 'content-type': 'text/plain' } });
  await ask('createSubmission', { body: { uploadId: UNKNOWN_UPLOAD } });
  await ask('createSubmission', csv('record_id\n1\n', { 'idempotency-key': 'c' }));
  const full = createTestApi();
  await full.world.admission.setOpenWork(TENANT_ID, { submissionId: 'sub_other', records: RECORD_LIMIT });
  await ask('createSubmission', csv('record_id\n1\n'), { on: full });
  const dying = createTestApi();
  dying.answers.once = async () => {
    throw new InProgressError('under way');
  };
  await ask('createSubmission', csv('record_id\n1\n', { 'idempotency-key': 'd' }), { on: dying });

  await ask('putProfile', { body: {} });
  await ask('putProfile', { body: `{"a":"${'x'.repeat(20_000)}"}`, headers: JSON_TYPE });
  for (let number = 0; number < 100; number++) await api.world.profiles.put(TENANT_ID, `p${number}`, {}, START_MS);
  await ask('listProfiles');
  await ask('getProfile');
  await ask('deleteProfile');
  await ask('putProfile', { body: {} });
  await walkWebhooks(api, async (id, call, on = api) => ask(id, call, { on }));
  await ask('listSubmissions');
  await ask('getSubmission');
  await ask('getSubmission', { headers: { 'if-none-match': '*' } });
  await ask('cancelSubmission', { body: {} }, open);
  await ask('cancelSubmission', { body: {} });
  await ask('cancelSubmission', { body: `{"a":"${'x'.repeat(20_000)}"}`, headers: JSON_TYPE }, open);
  await ask('listRecords');
  const packed = await api.call('POST', '/v1/submissions', {
    body: PACKED,
    headers: { 'content-type': 'application/gzip' },
  });
  await ask('listRecords', { query: { recordId: '1' } }, { submissionId: packed.body.id });
  await ask('getRecord', {}, { submissionId: (await arranged(api)).submissionId });
  await ask('getResults');
  await ask('getResults', {}, open);
}

test('every documented status of every operation is answered by some call', async () => {
  const coverage = new Coverage();
  await walk(coverage);
  for (const id of OPERATION_IDS) {
    const { scope }: Operation = OPERATIONS[id];
    // Throttling is the gateway's; admission of submissions has the same status.
    const byGateway = [...GATEWAY_STATUSES, ...(BY_GATEWAY[id] ?? []), ...(id === 'createSubmission' ? [] : [429])];
    const expected = documentedStatuses(id).filter((status) => !byGateway.includes(status));
    expect([id, scope, coverage.statusesOf(id)]).toEqual([id, scope, expected]);
  }
});

test.each([1, 2, 3])('no request gets an undocumented status or a server error (seed %i)', async (seed) => {
  const random = seededRandom(seed);
  const api = createTestApi({ settings: { admission: PLENTY } });
  const source = sourceIn(api);
  await api.world.submissions.create(makeSubmission({ state: 'complete', resultsVersion: 1, source }));
  const uploads = [await api.upload(), await api.upload('{"record_id":"1"}\n', { fileName: 'a.jsonl' })];
  const { submissionId } = await arranged(api);
  const submissions = [
    SUBMISSION_ID,
    submissionId,
    (await api.call('POST', '/v1/submissions', csv('record_id\n1\n'))).body.id,
  ];
  const webhooks: string[] = [];
  await api.world.webhooks.createDelivery({ ...DELIVERY, endpointId: 'callback' });
  const coverage = new Coverage();
  for (let calls = 0; calls < 1_200; calls++) {
    // Other calls of the sequence delete it.
    if (calls % 10 === 0) await api.world.profiles.put(TENANT_ID, 'crm', {}, START_MS);
    if (calls % 10 === 0) webhooks.push(await webhookOf(api, random));
    const { operation, method, path, key, ...call } = fuzzCall(random, {
      submissions,
      uploads,
      webhooks: webhooks.slice(-1),
      deliveries: [DELIVERY.deliveryId],
    });
    const tenant = { good: TENANT_ID, foreign: 'globex', none: null }[key];
    // The test's gateway holds every answer of an operation against the document, and throws.
    const { status, headers } = await api.call(method, path, { ...call, tenant });
    expect([method, path, status < 500]).toEqual([method, path, true]);
    expect(headers['X-Request-Id']).toBeDefined();
    if (method === OPERATIONS[operation].method) coverage.add(operation, status);
  }
  // Valid requests came through, so that more than refusals was tried; there are no results here.
  for (const id of OPERATION_IDS) {
    const reached = id === 'getResults' ? 409 : OPERATIONS[id].success.status;
    expect([id, coverage.statusesOf(id)]).toEqual([id, expect.arrayContaining([reached])]);
  }
});

const PACKED = gzipped('record_id\n1\n');
/** A new webhook, in the place of all others: a tenant has few. */
async function webhookOf({ world }: TestApi, random: Random): Promise<string> {
  for (const { endpointId } of await world.webhooks.listEndpoints(TENANT_ID)) {
    await world.webhooks.removeEndpoint(TENANT_ID, endpointId, START_MS);
  }
  const endpointId = newSubmissionId(START_MS, random).replace('sub', 'we');
  await world.webhooks.putEndpoint({ ...ENDPOINT, endpointId });
  return endpointId;
}

const PLENTY = { maxOpenRecordsPerTenant: 1e9, maxOpenRecords: 1e9, maxOpenSubmissionsPerTenant: 1e6 };
