import { parseFanOutMessage } from '../../../lambdas/domain/queues/messages.ts';
import { derivedSubmissionId } from '../../../lambdas/domain/api/ids.ts';
import { createTestApi, type TestApi } from '../../support/api/api.ts';
import { TENANT_ID } from '../../support/factories.ts';
import type { PortHook } from '../../support/memory/index.ts';

const KEY = 'order 4711';

const submit = async (api: TestApi, body: object, key: string | undefined = KEY, tenant = TENANT_ID) =>
  api.call('POST', '/v1/submissions', { body, tenant, headers: { 'IDEMPOTENCY-key': key } });
const fanOutIds = ({ world }: TestApi) =>
  world.queues.live.fanOut.messages().map(({ body }) => parseFanOutMessage(body).submissionId);

class Crash extends Error {}

/** Dies in a call of a port, once. */
const crashing = (port: string, method: string, when: 'before' | 'after'): PortHook => {
  let armed = true;
  return async (call, apply) => {
    if (!armed || call.port !== port || call.method !== method) return apply();
    armed = false;
    if (when === 'after') await apply();
    throw new Crash('killed');
  };
};

describe('a request with an idempotency key', () => {
  test('that is repeated is one submission and gets its current state', async () => {
    const api = createTestApi();
    const uploadId = await api.upload();
    const first = await submit(api, { uploadId, reference: 'a' });
    await api.clock.advance(60_000);
    // The order of members and white space do not make another request.
    const body = `{ "reference":"a",\n "uploadId":${JSON.stringify(uploadId)}}`;
    const second = await api.call('POST', '/v1/submissions', {
      body,
      headers: { 'content-type': 'application/json', 'idempotency-key': KEY },
    });
    expect(second.body).toEqual({ ...first.body, estimatedCompletionAt: expect.any(String) });
    expect(second.headers['Location']).toBe(first.headers['Location']);
    expect([first, second].map(({ headers }) => headers['Idempotency-Replayed'])).toEqual([undefined, 'true']);
    await api.world.submissions.requestStop(first.body.id, { kind: 'cancelled', atMs: api.clock.now() });
    const third = await submit(api, { uploadId, reference: 'a' });
    expect([third.status, third.body.state]).toEqual([202, 'cancelling']);
    expect(fanOutIds(api)).toEqual([first.body.id]);
    expect(first.body.id).toBe(derivedSubmissionId(TENANT_ID, KEY));
  });

  test.each([
    ['another reference', { reference: 'b' }],
    ['another format', { format: 'json' }],
    ['another number of records', { expectedRecords: 3 }],
    ['another callback', { callbackUrl: 'https://hooks.example.com/b' }],
  ])('is refused with %s', async (_what, change) => {
    const api = createTestApi();
    const uploadId = await api.upload();
    await submit(api, { uploadId });
    const { status, body } = await submit(api, { uploadId, ...change });
    expect([status, body.code]).toEqual([422, 'idempotency_key_reused']);
    expect(fanOutIds(api)).toHaveLength(1);
  });

  test.each(['remembered', 'forgotten'])('is the same with another upload of the same bytes (%s)', async (answers) => {
    const api = createTestApi();
    const upload = async (content: string, fileName = 'a.csv') => api.upload(content, { fileName });
    const request = { reference: 'a', profile: { duplicates: 'allow' } };
    const first = await submit(api, { ...request, uploadId: await upload('record_id\n1\n') });
    if (answers === 'forgotten') api.answers.once = async (_named, _budget, work) => work();
    const again = await submit(api, { ...request, uploadId: await upload('record_id\n1\n') });
    expect([again.status, again.body.id, again.headers['Idempotency-Replayed']]).toEqual([202, first.body.id, 'true']);
    const others = [
      { ...request, uploadId: await upload('record_id\n2\n') },
      { ...request, uploadId: await upload('record_id\n1\n', 'b.csv') },
      { uploadId: await upload('record_id\n1\n') },
      { ...request, uploadId: 'up_01KE9Q5XW0V4T3Z8M2N6P7R1SD.YS5jc3Y' },
    ];
    for (const other of others) expect((await submit(api, other)).body.code).toBe('idempotency_key_reused');
    expect(fanOutIds(api)).toEqual([first.body.id]);
  });

  test('is refused with another upload where no checksum of the bytes is known', async () => {
    const api = createTestApi();
    const { head } = api.world.objects;
    api.world.objects.head = async (key) => {
      const found = await head(key);
      return found && { etag: found.etag, sizeBytes: found.sizeBytes };
    };
    await submit(api, { uploadId: await api.upload() });
    expect((await submit(api, { uploadId: await api.upload() })).body.code).toBe('idempotency_key_reused');
  });

  test('is refused with another file in the body', async () => {
    const api = createTestApi();
    const headers = { 'content-type': 'text/csv', 'idempotency-key': KEY };
    const first = await api.call('POST', '/v1/submissions', { body: 'record_id\n1\n', headers });
    const same = await api.call('POST', '/v1/submissions', { body: 'record_id\n1\n', headers });
    const other = await api.call('POST', '/v1/submissions', { body: 'record_id\n2\n', headers });
    expect(same.text).toBe(first.text);
    expect(other.body.code).toBe('idempotency_key_reused');
  });

  test('is a submission of its own for every tenant', async () => {
    const api = createTestApi();
    const first = await submit(api, { uploadId: await api.upload() });
    const second = await submit(api, { uploadId: await api.upload(undefined, { tenant: 'globex' }) }, KEY, 'globex');
    expect(second.status).toBe(202);
    expect(second.body.id).not.toBe(first.body.id);
  });

  test('that was refused before its upload is accepted when it is sent again after it', async () => {
    const api = createTestApi();
    const { body: place } = await api.call('POST', '/v1/uploads', { body: {} });
    expect((await submit(api, { uploadId: place.uploadId })).body.code).toBe('upload_missing');
    api.world.objects.seed(`uploads/${TENANT_ID}/${place.uploadId}`, 'record_id\n1\n');
    expect((await submit(api, { uploadId: place.uploadId })).status).toBe(202);
  });

  test('may be repeated with another body after a refusal', async () => {
    const api = createTestApi();
    const { body: place } = await api.call('POST', '/v1/uploads', { body: {} });
    expect((await submit(api, { uploadId: place.uploadId })).status).toBe(422);
    expect((await submit(api, { uploadId: await api.upload() })).status).toBe(202);
  });

  test.each([
    ['before', 'submissions', 'create'],
    ['after', 'submissions', 'create'],
    ['before', 'admission', 'setOpenWork'],
    ['before', 'queues.fanOut', 'send'],
    ['after', 'queues.fanOut', 'send'],
    ['before', 'submissions', 'markRelayed'],
    ['after', 'submissions', 'markRelayed'],
  ] as const)('that died %s %s.%s is accepted once by its repetition', async (when, port, method) => {
    const api = createTestApi({ hook: crashing(port, method, when) });
    const uploadId = await api.upload();
    expect((await submit(api, { uploadId })).status).toBe(500);
    const again = await submit(api, { uploadId });
    expect(again.status).toBe(202);
    const submissions = api.world.inspect.submissions();
    expect(submissions.map(({ submissionId }) => submissionId)).toEqual([again.body.id]);
    expect(submissions[0]?.outboxPending).toBe(false);
    expect(new Set(fanOutIds(api))).toEqual(new Set([again.body.id]));
  });

  test('that stored its file and died does not write the file again', async () => {
    const writes: unknown[] = [];
    const crash = crashing('submissions', 'create', 'before');
    const api = createTestApi({
      hook: async (call, apply) => {
        if (call.port === 'objects' && call.method === 'create') writes.push(call.args[0]);
        return crash(call, apply);
      },
    });
    const request = { body: 'record_id\n1\n', headers: { 'content-type': 'text/csv', 'idempotency-key': KEY } };
    expect((await api.call('POST', '/v1/submissions', request)).status).toBe(500);
    expect((await api.call('POST', '/v1/submissions', request)).status).toBe(202);
    expect(writes).toHaveLength(1);
  });
});

describe('when the first answer is not there yet', () => {
  const request = { tenantId: TENANT_ID, idempotencyKey: KEY };

  test('another request with the key is refused for that, not for being early', async () => {
    const api = createTestApi();
    api.answers.occupy({ ...request, requestHash: 'another' });
    expect((await submit(api, { uploadId: await api.upload() })).body.code).toBe('idempotency_key_reused');
  });

  test('the same request is told to come back while nothing is accepted', async () => {
    const api = createTestApi();
    const uploadId = await api.upload();
    const requestHash = await hashOf({ uploadId });
    api.answers.occupy({ ...request, requestHash });
    const { status, headers, body } = await submit(api, { uploadId });
    expect([status, body.code, headers['Retry-After']]).toEqual([409, 'request_in_progress', '1']);
  });

  test('the same request is answered with what the one before it accepted, and its fan-out is asked for', async () => {
    const api = createTestApi({ hook: crashing('queues.fanOut', 'send', 'before') });
    const uploadId = await api.upload();
    await submit(api, { uploadId });
    const [accepted] = api.world.inspect.submissions();
    api.answers.occupy({ ...request, requestHash: accepted?.requestHash ?? '' });

    const { status, body } = await submit(api, { uploadId });
    expect([status, body.id]).toEqual([202, accepted?.submissionId]);
    expect(fanOutIds(api)).toEqual([accepted?.submissionId]);
  });

  /** What a request hashes to, seen in a world where it went well. */
  async function hashOf(body: { uploadId: string }): Promise<string> {
    const twin = createTestApi();
    await twin.upload();
    await submit(twin, body);
    return twin.world.inspect.submissions()[0]?.requestHash ?? '';
  }
});

describe('when the memory of answers has forgotten', () => {
  test('the submission itself answers, whatever became of limits and file', async () => {
    const api = createTestApi({
      settings: { admission: { maxOpenRecordsPerTenant: 5, maxOpenRecords: 5, maxOpenSubmissionsPerTenant: 1 } },
    });
    const uploadId = await api.upload();
    const first = await submit(api, { uploadId });
    api.answers.clear();
    await api.clock.advance(2 * 86_400_000);
    for (const key of api.world.objects.keys()) api.world.objects.delete(key);

    const again = await submit(api, { uploadId });
    expect([again.status, again.body.id]).toEqual([202, first.body.id]);
    expect(fanOutIds(api)).toHaveLength(1);
  });

  test('another request with the key is still refused', async () => {
    const api = createTestApi();
    const uploadId = await api.upload();
    await submit(api, { uploadId });
    api.answers.clear();
    const { status, body } = await submit(api, { uploadId, reference: 'other' });
    expect([status, body.code]).toEqual([422, 'idempotency_key_reused']);
  });

  test('the counts of now are told', async () => {
    const api = createTestApi();
    const uploadId = await api.upload();
    const { body } = await submit(api, { uploadId });
    api.answers.clear();
    await api.world.ledger.mark(body.id, 0, { succeeded: [0], cancelled: [], failed: new Map() }, 4e9);
    expect((await submit(api, { uploadId })).body.counts.succeeded).toBe(1);
  });
});

test.each([
  ['empty', ''],
  ['too long', 'k'.repeat(256)],
  ['not printable', 'a\u0007b'],
  ['not ASCII', 'schlüssel'],
])('a key that is %s is refused', async (_what, key) => {
  const api = createTestApi();
  const { status, body } = await submit(api, { uploadId: await api.upload() }, key);
  expect(status).toBe(400);
  expect(body.errors).toEqual([{ header: 'Idempotency-Key', detail: expect.any(String) }]);
});

test('a key of 255 characters is taken', async () => {
  const api = createTestApi();
  expect((await submit(api, { uploadId: await api.upload() }, 'k'.repeat(255))).status).toBe(202);
});

test('derived ids have the shape of all ids and depend on tenant and key', () => {
  const id = derivedSubmissionId('acme', 'k');
  expect(id).toMatch(/^sub_[0-9A-HJKMNP-TV-Z]{26}$/);
  expect(derivedSubmissionId('acme', 'k')).toBe(id);
  expect(new Set([id, derivedSubmissionId('acme', 'l'), derivedSubmissionId('acm', 'ek')]).size).toBe(3);
  // Stored data: never to change.
  expect(id).toBe('sub_8PN8W6NPN4ASAM46N1GCSYE23J');
});
