import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createApiClient, type ApiClient, type Submission } from '../../cli/client/client.ts';
import { OPERATION_IDS, OPERATIONS, type Operation } from '../../lambdas/domain/api/operations.ts';
import { startLocal, type LocalSluice } from '../../local/start.ts';
import { violations } from '../support/api/document.ts';

let sluice: LocalSluice;
let client: ApiClient;
let submission: Submission;

/** What comes back from any call of the client: held against the OpenAPI document before it is used. */
async function checked<T extends { response: Response; data?: unknown; error?: unknown }>(
  method: string,
  resource: string,
  call: Promise<T>,
): Promise<T> {
  const result = await call;
  const { status, headers } = result.response;
  const contentType = headers.get('content-type') ?? undefined;
  const answer = { status, headers: {}, contentType, body: result.data ?? result.error };
  expect([method, resource, violations({ method, resource }, answer)]).toEqual([method, resource, []]);
  expect(headers.get('x-request-id')).toMatch(/^[\w-]{20,}$/);
  return result;
}

const idempotent = (key: string) => ({ header: { 'Idempotency-Key': key } });

beforeAll(async () => {
  sluice = await startLocal({ schedules: 'manual' });
  client = createApiClient(sluice.apiUrl, sluice.tenants[0]?.apiKey ?? '');
});
afterAll(async () => sluice.stop());

describe('the generated client', () => {
  test('uploads and submits once, however often it repeats that', async () => {
    const body = { fileName: 'a.csv' };
    const params = idempotent('upload');
    const { data: upload } = await checked('POST', '/v1/uploads', client.POST('/v1/uploads', { params, body }));
    if (upload === undefined) throw new Error('The upload was refused.');
    const content = 'record_id,domain\n1,one.example\n2,two.example\n';
    await fetch(upload.url, { method: upload.method, headers: upload.headers, body: content });
    const again = await client.POST('/v1/uploads', { params, body });
    expect([again.data?.uploadId, again.response.headers.get('idempotency-replayed')]).toEqual([
      upload.uploadId,
      'true',
    ]);

    const submit = async () =>
      checked(
        'POST',
        '/v1/submissions',
        client.POST('/v1/submissions', { params: idempotent('submission'), body: { uploadId: upload.uploadId } }),
      );
    const first = await submit();
    if (first.data === undefined) throw new Error('The submission was refused.');
    expect(first.response.headers.get('ratelimit')).toMatch(/^"submissions";r=\d+, "records";r=\d+$/);
    const second = await submit();
    expect([second.data?.id, second.response.headers.get('idempotency-replayed')]).toEqual([first.data.id, 'true']);
    submission = first.data;
  });

  test('waits for the end of a submission, and learns that nothing has changed since', async () => {
    const path = { id: submission.id };
    const wait = async (headers: object = {}) =>
      checked(
        'GET',
        '/v1/submissions/{id}',
        client.GET('/v1/submissions/{id}', { params: { path, query: { wait: 20 }, header: headers } }),
      );
    let { data, response } = await wait();
    while (data !== undefined && !/^(?:complete|partially_failed|failed)$/.test(data.state)) {
      ({ data, response } = await wait());
    }
    expect(data?.counts.total).toBe(2);
    const unchanged = await client.GET('/v1/submissions/{id}', {
      params: { path, header: { 'If-None-Match': response.headers.get('etag') ?? '' } },
    });
    expect(unchanged.response.status).toBe(304);
  });

  test('reads lists, records and results as they are described', async () => {
    const path = { id: submission.id };
    const list = await checked('GET', '/v1/submissions', client.GET('/v1/submissions'));
    expect(list.data?.items.map(({ id }) => id)).toEqual([submission.id]);
    const records = await checked(
      'GET',
      '/v1/submissions/{id}/records',
      client.GET('/v1/submissions/{id}/records', { params: { path } }),
    );
    expect(records.data?.items.map(({ recordNo }) => recordNo)).toEqual([1, 2]);
    const one = { ...path, recordNo: 1 };
    const record = await checked(
      'GET',
      '/v1/submissions/{id}/records/{recordNo}',
      client.GET('/v1/submissions/{id}/records/{recordNo}', { params: { path: one } }),
    );
    expect(record.data?.output?.['record_id']).toBe('1');
    const results = await checked(
      'GET',
      '/v1/submissions/{id}/results',
      client.GET('/v1/submissions/{id}/results', { params: { path } }),
    );
    expect(results.data?.version).toBe(1);
    const cancelled = await checked(
      'POST',
      '/v1/submissions/{id}/cancel',
      client.POST('/v1/submissions/{id}/cancel', { params: { path }, body: {} }),
    );
    expect(cancelled.error?.code).toBe('already_closed');
  });
});

describe('the gateway', () => {
  /** What the placeholders of paths stand for. */
  const known = new Map([
    ['recordNo', '1'],
    ['name', 'crm'],
  ]);
  const url = (operation: Operation): string =>
    `${sluice.apiUrl}${operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => known.get(name) ?? '')}`;
  const authorization = (): string => `Bearer ${sluice.tenants[0]?.apiKey ?? ''}`;

  beforeAll(async () => {
    known.set('id', submission.id);
    const body = { url: 'https://hooks.customer.example/sluice' };
    const webhook = await checked('POST', '/v1/webhooks', client.POST('/v1/webhooks', { body }));
    const path = { webhookId: webhook.data?.id ?? '' };
    const test = client.POST('/v1/webhooks/{webhookId}/test', { params: { path }, body: {} });
    const delivery = await checked('POST', '/v1/webhooks/{webhookId}/test', test);
    known.set('webhookId', path.webhookId).set('deliveryId', delivery.data?.id ?? '');
  });

  test('stores a profile and answers with it', async () => {
    const profile = { columns: { domain: 'Website' } };
    const headers = { authorization: authorization(), 'content-type': 'application/json' };
    const stored = await fetch(url(OPERATIONS.putProfile), { method: 'PUT', headers, body: JSON.stringify(profile) });
    expect([stored.status, await stored.json()]).toMatchObject([200, { name: 'crm', version: 1, profile }]);
    const listed = await fetch(url(OPERATIONS.listProfiles), { headers });
    expect(await listed.json()).toMatchObject({ items: [{ name: 'crm', version: 1 }] });
  });

  test.each(OPERATION_IDS)('answers methods that the path of %s does not have, and HEAD', async (id) => {
    const operation: Operation = OPERATIONS[id];
    const wrong = await fetch(url(operation), { method: 'PATCH', headers: { authorization: authorization() } });
    expect([wrong.status, await wrong.json()]).toMatchObject([405, { code: 'method_not_allowed' }]);
    expect(wrong.headers.get('allow')).toContain(operation.method);
    if (operation.method !== 'GET') return;
    const head = await fetch(url(operation), { method: 'HEAD', headers: { authorization: authorization() } });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(head.headers.get('x-request-id')).not.toBeNull();
  });

  test('asks for a key by its scheme, with a request id', async () => {
    for (const method of ['GET', 'DELETE', 'HEAD']) {
      const { status, headers } = await fetch(`${sluice.apiUrl}/v1/submissions`, { method });
      expect([method, status, headers.get('www-authenticate')]).toEqual([method, 401, 'Bearer realm="sluice"']);
      expect(headers.get('x-request-id')).not.toBeNull();
    }
  });
});
