import { gzipSync } from 'node:zlib';
import { READER_VERSION } from '../../../lambdas/domain/submissions/terms.ts';
import { DependencyUnavailableError } from '../../../lambdas/domain/errors.ts';
import { recountOpenWork } from '../../../lambdas/domain/reconcile/open-work.ts';
import { parseFanOutMessage } from '../../../lambdas/domain/queues/messages.ts';
import { BASE_URL, createTestApi, type TestApi } from '../../support/api/api.ts';
import { TENANT_ID } from '../../support/factories.ts';
import { START_MS, type PortHook } from '../../support/memory/index.ts';

const CSV = 'record_id,domain\n1,example.com\n2,example.org\n';
const JSON_TYPE = { 'content-type': 'application/json' };

const submit = async (api: TestApi, body: object, headers: Record<string, string> = {}) =>
  api.call('POST', '/v1/submissions', { body, headers });
const fanOutMessages = ({ world }: TestApi) =>
  world.queues.live.fanOut.messages().map(({ body }) => parseFanOutMessage(body));

describe('submitting an upload', () => {
  test('is acknowledged at once with the submission and where it is', async () => {
    const api = createTestApi();
    const uploadId = await api.upload(CSV, { fileName: 'customers.csv' });

    const { status, headers, body } = await submit(api, { uploadId, reference: 'run 7', expectedRecords: 2 });

    expect(status).toBe(202);
    expect(headers['Location']).toBe(`${BASE_URL}/v1/submissions/${body.id}`);
    expect(body).toEqual({
      id: expect.stringMatching(/^sub_[0-9A-HJKMNP-TV-Z]{26}$/),
      state: 'accepted',
      lane: null,
      reference: 'run 7',
      createdAt: new Date(START_MS).toISOString(),
      updatedAt: new Date(START_MS).toISOString(),
      counts: { total: null, pending: 0, succeeded: 0, failed: 0, cancelled: 0 },
      failures: {},
      estimatedCompletionAt: expect.any(String),
      expiresAt: new Date(START_MS + 30 * 86_400_000).toISOString(),
      links: {
        self: `${BASE_URL}/v1/submissions/${body.id}`,
        records: `${BASE_URL}/v1/submissions/${body.id}/records`,
        results: `${BASE_URL}/v1/submissions/${body.id}/results`,
      },
    });
  });

  test('stores what was asked for, with the ETag of the file, and asks for its fan-out', async () => {
    const api = createTestApi();
    const uploadId = await api.upload(CSV, { fileName: 'customers.csv' });
    const { body } = await submit(api, {
      uploadId,
      expectedRecords: 2,
      reference: 'run 7',
      callbackUrl: 'https://hooks.example.com/done',
    });

    expect(await api.world.submissions.getSchemas(api.schemas.hash)).toBeDefined();
    const [stored] = api.world.inspect.submissions();
    const [key = ''] = api.world.objects.keys();
    expect(stored).toMatchObject({
      submissionId: body.id,
      tenantId: TENANT_ID,
      state: 'accepted',
      source: { key, sizeBytes: CSV.length, etag: (await api.world.objects.head(key))?.etag },
      format: 'csv',
      fileName: 'customers.csv',
      expectedRecords: 2,
      reference: 'run 7',
      callbackUrl: 'https://hooks.example.com/done',
      outboxPending: false,
      terms: {
        maxRecordBytes: 2_000,
        maxRecords: 10_000,
        readerVersion: READER_VERSION,
        providers: ['company', 'geo'],
        schemas: api.schemas.hash,
      },
      deadlineAtMs: START_MS + 24 * 3_600_000,
      nextCheckAtMs: START_MS + 60_000,
      expiresAtSeconds: START_MS / 1000 + 30 * 86_400,
    });
    expect(fanOutMessages(api)).toEqual([{ v: 1, submissionId: body.id, tenantId: TENANT_ID }]);
    expect(await api.world.admission.openWork(TENANT_ID)).toEqual([{ submissionId: body.id, records: 2 }]);
  });

  test.each([
    ['the request', 'data.csv', { format: 'ndjson' }, CSV, 'ndjson'],
    ['the file name', 'data.jsonl', {}, CSV, 'ndjson'],
    ['the file name, in any case', 'DATA.JSON', {}, CSV, 'json'],
    ['the first bytes, an object', undefined, {}, ' \n{"record_id":"1"}', 'ndjson'],
    ['the first bytes, an array behind a byte order mark', undefined, {}, '\uFEFF [{}]', 'json'],
    ['the first bytes, anything else', 'data.bin', {}, CSV, 'csv'],
    ['an empty file, for fan-out to refuse', undefined, {}, '', 'csv'],
  ])('takes the format from %s', async (_from, fileName, request, content, format) => {
    const api = createTestApi();
    const uploadId = await api.upload(content, fileName === undefined ? {} : { fileName });
    expect((await submit(api, { uploadId, ...request })).status).toBe(202);
    expect(api.world.inspect.submissions()[0]?.format).toBe(format);
  });

  test('says what the tenant may have open, and what is left', async () => {
    const api = createTestApi();
    const first = await submit(api, { uploadId: await api.upload(), expectedRecords: 4_000 });
    expect(first.headers).toMatchObject({
      'RateLimit-Policy': '"submissions";q=10, "records";q=5000',
      RateLimit: '"submissions";r=9, "records";r=1000',
    });
    const second = await submit(api, { uploadId: await api.upload(), expectedRecords: 10 });
    expect(second.headers['RateLimit']).toBe('"submissions";r=8, "records";r=990');
  });

  test('is possible again and again: an upload cannot change once it is written', async () => {
    const api = createTestApi();
    const uploadId = await api.upload();
    const first = await submit(api, { uploadId });
    const second = await submit(api, { uploadId });
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(second.body.id).not.toBe(first.body.id);
  });

  test.each([
    ['an id that was never given out', 'up_01KE9Q5XW0V4T3Z8M2N6P7R1SD'],
    ['an id of another shape', '../../results/acme'],
    ['an id with something behind it', 'up_01KE9Q5XW0V4T3Z8M2N6P7R1SD/../x'],
    ['an encoded name that is not canonical', 'up_01KE9Q5XW0V4T3Z8M2N6P7R1SD.AB'],
  ])('is refused for %s', async (_what, uploadId) => {
    const api = createTestApi();
    const { status, body } = await submit(api, { uploadId });
    expect(status).toBe(422);
    expect(body.code).toMatch(/^upload_(missing|expired)$/);
    expect(api.world.inspect.submissions()).toEqual([]);
  });

  test.each([
    ['two objects, of which the first is none,', '{"record_id":}\n{"record_id":"2"}\n', 400],
    ['many of them', '{"record_id":}\n'.repeat(2_000), 413],
  ])('names the type for lines when %s come as JSON', async (_what, body, status) => {
    const answer = await createTestApi().call('POST', '/v1/submissions', { body, headers: JSON_TYPE });
    expect(answer.status).toBe(status);
    expect(answer.body.detail).toContain('send it as application/x-ndjson');
  });

  test('is refused until the file is there, and works afterwards', async () => {
    const api = createTestApi();
    const { body: place } = await api.call('POST', '/v1/uploads', { body: {} });
    const refused = await submit(api, { uploadId: place.uploadId });
    expect(refused.status).toBe(422);
    expect(refused.body).toMatchObject({ code: 'upload_missing', errors: [{ pointer: '/uploadId' }] });

    api.world.objects.seed(`uploads/${TENANT_ID}/${place.uploadId}`, CSV);
    expect((await submit(api, { uploadId: place.uploadId })).status).toBe(202);
  });

  test("is refused for another tenant's upload as for one that was never made", async () => {
    const api = createTestApi();
    const uploadId = await api.upload(CSV, { tenant: 'globex' });
    const foreign = await submit(api, { uploadId });
    const unknown = await submit(api, { uploadId: uploadId.replace(/.$/, (last) => (last === '0' ? '1' : '0')) });
    expect(foreign.status).toBe(422);
    expect(foreign.text).toBe(unknown.text);
  });

  test('is refused a day after the upload, since the file would be gone before its records', async () => {
    const api = createTestApi();
    const uploadId = await api.upload();
    await api.clock.advance(86_400_000);
    expect((await submit(api, { uploadId })).status).toBe(202);
    await api.clock.advance(1);
    expect((await submit(api, { uploadId })).body.code).toBe('upload_expired');
  });

  test('is refused for a file that is too large', async () => {
    const api = createTestApi({ settings: { maxFileBytes: CSV.length - 1 } });
    const { status, body } = await submit(api, { uploadId: await api.upload(CSV) });
    expect([status, body.code]).toEqual([413, 'file_too_large']);
  });

  test('is refused for what a tenant has open once only, where that has ended without anybody noting it', async () => {
    const api = createTestApi();
    const { admission, submissions, telemetry } = api.world;
    await admission.saveTenantsWithWork([]);
    for (let n = 0; n < 10; n++) await admission.setOpenWork(TENANT_ID, { submissionId: `sub_ended_${n}`, records: 1 });
    const refused = await submit(api, { uploadId: await api.upload() });
    expect([refused.status, refused.body.code]).toEqual([429, 'too_many_open_submissions']);

    // The next run of the reconciler, which never saw one of them.
    await recountOpenWork({ admission, submissions }, new Map());

    expect((await submit(api, { uploadId: await api.upload() })).status).toBe(202);
    expect(telemetry.named('unexpected_error')).toEqual([]);
  });

  test('is refused for what a tenant has open when that cannot be noted, too', async () => {
    const api = createTestApi({
      hook: async ({ method }, apply) => {
        if (method === 'recountSoon') throw new DependencyUnavailableError('Throttled.');
        return apply();
      },
    });
    const work = { submissionId: 'sub_large', records: 5_000 };
    await api.world.admission.setOpenWork(TENANT_ID, work);
    const { status, body } = await submit(api, { uploadId: await api.upload() });
    expect([status, body.code]).toEqual([429, 'too_many_open_records']);
  });

  test('is refused when more records are expected than a file may have', async () => {
    const api = createTestApi();
    const { status, body } = await submit(api, { uploadId: await api.upload(), expectedRecords: 10_001 });
    expect([status, body.code]).toEqual([422, 'too_many_records']);
  });
});

describe('submitting a file in the body', () => {
  const direct = async (api: TestApi, body: string | Uint8Array, contentType: string, query?: Record<string, string>) =>
    api.call('POST', '/v1/submissions', { body, headers: { 'content-type': contentType }, ...(query && { query }) });

  test.each([
    ['text/csv', CSV, 'csv'],
    ['TEXT/CSV; charset="UTF-8"; header=present', CSV, 'csv'],
    ['application/x-ndjson', '{"record_id":"1"}\n', 'ndjson'],
    ['application/ndjson', '{"record_id":"1"}\n', 'ndjson'],
    ['application/jsonl', '{"record_id":"1"}\n', 'ndjson'],
    ['application/x-jsonlines;charset= utf-8', '{"record_id":"1"}\n', 'ndjson'],
    ['text/tab-separated-values', 'record_id\tname\n', 'csv'],
    ['application/json', '\n [{"record_id":"1"}]', 'json'],
    ['application/json', '\uFEFF[{"record_id":"1"}]', 'json'],
  ])('%s keeps the bytes as they came', async (contentType, content, format) => {
    const api = createTestApi();
    const { status, body } = await direct(api, content, contentType);
    expect(status).toBe(202);
    const [stored] = api.world.inspect.submissions();
    expect(stored).toMatchObject({ submissionId: body.id, format });
    expect(stored?.source.key).toMatch(new RegExp(`^uploads/${TENANT_ID}/[0-9a-f]{64}-${body.id}$`));
    expect(api.world.objects.text(stored?.source.key ?? '')).toBe(content);
  });

  test('keeps bytes that are no text', async () => {
    const api = createTestApi();
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    await direct(api, bytes, 'text/csv');
    const [key = ''] = api.world.objects.keys();
    expect(await api.world.objects.getSmall(key, 1_000)).toEqual(bytes);
  });

  test('takes from the query what a JSON request would say', async () => {
    const api = createTestApi();
    const query = {
      fileName: 'C:\\data\\mine.csv',
      expectedRecords: '2',
      reference: 'run 8',
      callbackUrl: 'https://hooks.example.com/x',
    };
    await direct(api, CSV, 'text/csv', query);
    expect(api.world.inspect.submissions()[0]).toMatchObject({ ...query, fileName: 'mine.csv', expectedRecords: 2 });
  });

  test('does not take the query of a file for one of a JSON request', async () => {
    const api = createTestApi();
    const query = { reference: 'run 8' };
    const { status, body } = await api.call('POST', '/v1/submissions', {
      body: { uploadId: await api.upload() },
      query,
    });
    expect(status).toBe(400);
    expect(body.errors).toEqual([{ parameter: 'reference', detail: expect.stringContaining('nothing is allowed') }]);
  });

  test('is refused beyond its limit, and taken at it', async () => {
    const api = createTestApi({ settings: { maxDirectBodyBytes: CSV.length } });
    expect((await direct(api, CSV, 'text/csv')).status).toBe(202);
    const { status, body } = await direct(api, `${CSV}\n`, 'text/csv');
    expect([status, body.code]).toEqual([413, 'body_too_large']);
  });

  test('that is empty is taken: its rejection has a reason', async () => {
    expect((await direct(createTestApi(), '', 'text/csv')).status).toBe(202);
  });

  test.each([
    ['no content type', {}],
    ['another one', { 'content-type': 'text/plain' }],
    ['what is no media type', { 'content-type': 'csv' }],
    ['a name that every object has', { 'content-type': 'constructor' }],
    ['a charset that nobody knows', { 'content-type': 'text/csv; charset=klingon' }],
    ['a body compressed by another method', { 'content-type': 'text/csv', 'content-encoding': 'br' }],
    ['a compressed request', { 'content-type': 'application/json', 'content-encoding': 'gzip' }],
  ])('is refused with %s', async (_what, headers) => {
    const { status, body } = await createTestApi().call('POST', '/v1/submissions', { body: CSV, headers });
    expect([status, body.code]).toEqual([415, 'unsupported_media_type']);
  });

  test('keeps the character set that it is declared to have', async () => {
    const api = createTestApi();
    const headers = { 'content-type': 'text/csv; charset=ISO-8859-1' };
    expect((await api.call('POST', '/v1/submissions', { body: CSV, headers })).status).toBe(202);
    expect(api.world.inspect.submissions()[0]?.terms.reading).toEqual({ charset: 'windows-1252' });
  });

  test.each([
    ['text/csv', 'csv'],
    ['application/gzip', 'csv'],
    ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'csv'],
  ])('may be compressed, as %s', async (contentType, format) => {
    const api = createTestApi();
    const headers = { 'content-type': contentType, 'content-encoding': 'gzip' };
    const { status } = await api.call('POST', '/v1/submissions', { body: gzipSync(CSV), headers });
    expect(status).toBe(202);
    expect(api.world.inspect.submissions()[0]).toMatchObject({ format });
  });

  test('takes the format of a compressed file from its name', async () => {
    const api = createTestApi();
    await direct(api, gzipSync('{}'), 'application/gzip', { fileName: 'list.ndjson.gz' });
    expect(api.world.inspect.submissions()[0]).toMatchObject({ format: 'ndjson', fileName: 'list.ndjson.gz' });
  });
});

describe('when a part of the system fails', () => {
  const failing =
    (port: string, method: string, when: 'before' | 'after'): PortHook =>
    async (call, apply) => {
      if (call.port !== port || call.method !== method) return apply();
      if (when === 'after') await apply();
      throw new DependencyUnavailableError('down');
    };

  test.each([
    ['queues.fanOut', 'send', 'before'],
    ['queues.fanOut', 'send', 'after'],
    ['submissions', 'markRelayed', 'before'],
    ['admission', 'setOpenWork', 'before'],
  ] as const)('%s.%s (%s), the submission is accepted and left to the reconciler', async (port, method, when) => {
    const api = createTestApi({ hook: failing(port, method, when) });
    const { status } = await submit(api, { uploadId: await api.upload() });
    expect(status).toBe(202);
    const [stored] = api.world.inspect.submissions();
    expect(stored?.outboxPending).toBe(port !== 'admission');
    expect(api.world.telemetry.events).toContainEqual(
      expect.objectContaining({ outcome: 'left_to_reconciler', level: 'warn' }),
    );
  });

  test.each([
    ['objects', 'head'],
    ['admission', 'openWork'],
    ['admission', 'backlog'],
    ['submissions', 'create'],
  ])('%s.%s, nothing is promised and the client told to come back', async (port, method) => {
    const api = createTestApi({ hook: failing(port, method, 'before') });
    const { status, headers, body } = await submit(api, { uploadId: await api.upload() });
    expect([status, body.code, headers['Retry-After']]).toEqual([503, 'unavailable', '5']);
    expect(fanOutMessages(api)).toEqual([]);
  });

  test('a message that the queue refuses counts as not sent', async () => {
    const api = createTestApi({
      hook: async (call, apply) =>
        call.port === 'queues.fanOut' && call.method === 'send'
          ? [{ index: 0, senderFault: false, code: 'InternalError' }]
          : apply(),
    });
    expect((await submit(api, { uploadId: await api.upload() })).status).toBe(202);
    expect(api.world.inspect.submissions()[0]?.outboxPending).toBe(true);
  });
});

test('a request without a body is told what to send', async () => {
  const { status, body } = await createTestApi().call('POST', '/v1/submissions', { headers: JSON_TYPE });
  expect(status).toBe(400);
  expect(body.errors).toEqual([{ pointer: '/uploadId', detail: 'uploadId: a value is required.' }]);
});
