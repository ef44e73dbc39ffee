import { createHash } from 'node:crypto';
import { newUpload, readUploadId } from '../../../lambdas/domain/api/ids.ts';
import { createTestApi, keyOfUrl } from '../../support/api/api.ts';
import { TENANT_ID } from '../../support/factories.ts';
import { seededRandom, START_MS } from '../../support/memory/index.ts';

const ask = async (body: object, tenant = TENANT_ID) => createTestApi().call('POST', '/v1/uploads', { body, tenant });

describe('a place to upload to', () => {
  test('is good for one write within minutes', async () => {
    const { status, body } = await ask({});
    expect(status).toBe(201);
    expect(body).toEqual({
      uploadId: expect.stringMatching(/^up_[0-9A-HJKMNP-TV-Z]{26}$/),
      method: 'PUT',
      url: expect.stringContaining('expires=900'),
      headers: { 'if-none-match': '*' },
      expiresAt: new Date(START_MS + 900_000).toISOString(),
    });
    expect(keyOfUrl(body.url)).toBe(`uploads/${TENANT_ID}/${body.uploadId}`);
  });

  test('needs no body', async () => {
    expect((await createTestApi().call('POST', '/v1/uploads')).status).toBe(201);
  });

  test('is a new one with every request', async () => {
    const { call } = createTestApi();
    const ids = [await call('POST', '/v1/uploads'), await call('POST', '/v1/uploads')].map(({ body }) => body.uploadId);
    expect(new Set(ids).size).toBe(2);
  });

  test('is the same one for the same idempotency key, with a fresh link', async () => {
    const { call, clock } = createTestApi();
    const headers = { 'idempotency-key': 'k' };
    const first = await call('POST', '/v1/uploads', { headers, body: { fileName: 'a.csv' } });
    await clock.advance(3_600_000);
    const second = await call('POST', '/v1/uploads', { headers, body: { fileName: 'a.csv' } });
    expect(second.body.uploadId).toBe(first.body.uploadId);
    expect(second.body.expiresAt).toBe(new Date(START_MS + 4_500_000).toISOString());
    expect([first, second].map((answer) => answer.headers['Idempotency-Replayed'])).toEqual([undefined, 'true']);
    const other = await call('POST', '/v1/uploads', { headers, body: { fileName: 'b.csv' } });
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
    const ofOther = await call('POST', '/v1/uploads', { headers, body: { fileName: 'a.csv' }, tenant: 'globex' });
    expect(ofOther.body.uploadId).not.toBe(first.body.uploadId);
    await clock.advance(86_400_000);
    const late = await call('POST', '/v1/uploads', { headers, body: { fileName: 'a.csv' } });
    expect([late.status, late.body.code]).toEqual([422, 'upload_expired']);
  });

  test('does not share its idempotency key with a submission', async () => {
    const api = createTestApi();
    const headers = { 'idempotency-key': 'k' };
    const { body } = await api.call('POST', '/v1/uploads', { headers });
    api.world.objects.seed(keyOfUrl(body.url), 'record_id\n1\n');
    const submitted = await api.call('POST', '/v1/submissions', { headers, body: { uploadId: body.uploadId } });
    expect(submitted.status).toBe(202);
  });

  test('is not ready while a request with its key is under way', async () => {
    const { call, answers } = createTestApi();
    const requestHash = createHash('sha256').update('[null,null]').digest('hex');
    answers.occupy({ tenantId: TENANT_ID, idempotencyKey: 'uploads\nk', requestHash });
    const { status, body } = await call('POST', '/v1/uploads', { headers: { 'idempotency-key': 'k' } });
    expect([status, body.code]).toEqual([409, 'request_in_progress']);
  });

  test('takes only the size that was announced', async () => {
    expect((await ask({ sizeBytes: 42 })).body.url).toContain('size=42');
  });

  test('is refused for more than a file may have', async () => {
    expect((await ask({ sizeBytes: 1_000_000 })).status).toBe(201);
    const { status, body } = await ask({ sizeBytes: 1_000_001 });
    expect([status, body.code]).toEqual([413, 'file_too_large']);
  });
});

describe('file names', () => {
  test.each([
    ['data.csv', 'data.csv'],
    ['../../results/acme/x.csv', 'x.csv'],
    ['..\\..\\x.csv', 'x.csv'],
    ['/etc/passwd', 'passwd'],
    ['%2e%2e%2fx', '%2e%2e%2fx'],
    ['日本語.csv', '日本語.csv'],
    ['..', undefined],
    ['a/', undefined],
    ['x'.repeat(255), 'x'.repeat(255)],
    ['🦆'.repeat(127), '🦆'.repeat(127)],
  ])('%s is remembered as %s and is no part of the key', async (fileName, remembered) => {
    const { status, body } = await ask({ fileName });
    expect(status).toBe(201);
    expect(keyOfUrl(body.url)).toMatch(new RegExp(`^uploads/${TENANT_ID}/up_[0-9A-HJKMNP-TV-Z]{26}$`));
    expect(readUploadId(body.uploadId)?.fileName).toBe(remembered);
  });

  test.each([['a\nb'], ['\u0000'], ['x'.repeat(256)], ['x'.repeat(5_000)], [''], [7], [null], [['a']], ['\uD800']])(
    '%j is refused',
    async (fileName) => {
      const { status, body } = await ask({ fileName });
      expect([status, body.code]).toEqual([400, 'invalid_request']);
      expect(body.errors).toEqual([{ pointer: '/fileName', detail: expect.any(String) }]);
    },
  );
});

describe('an upload id', () => {
  test('says when it was made and where the file lies', () => {
    const upload = newUpload(START_MS, seededRandom(1), 'data.csv');
    expect(readUploadId(upload.uploadId)).toEqual(upload);
    expect(upload.createdAtMs).toBe(START_MS);
  });

  test.each([
    '',
    'up_',
    'up_01KE9Q5XW0V4T3Z8M2N6P7R1S',
    'up_01KE9Q5XW0V4T3Z8M2N6P7R1SDX',
    'up_01ke9q5xw0v4t3z8m2n6p7r1sd',
    'up_81KE9Q5XW0V4T3Z8M2N6P7R1SD',
    'up_01KE9Q5XW0V4T3Z8M2N6P7R1SD.',
    'up_01KE9Q5XW0V4T3Z8M2N6P7R1SD.a+b',
    'up_01KE9Q5XW0V4T3Z8M2N6P7R1SD.gA',
    ' up_01KE9Q5XW0V4T3Z8M2N6P7R1SD',
    'up_01KE9Q5XW0V4T3Z8M2N6P7R1SD\n',
    'sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD',
  ])('is not %j', (text) => {
    expect(readUploadId(text)).toBeUndefined();
  });
});
