import { createTestApi, type TestApi } from '../../support/api/api.ts';
import { gzipped } from '../../support/prepare/files.ts';
import { createPipeline } from '../../support/pipeline.ts';

const PROFILE = { columns: { record_id: 'No', domain: 'Site' }, normalise: { domain: ['trim', 'host_of_url'] } };

async function submitted(api: TestApi, content: string | Uint8Array, request: object = {}, fileName = 'a.csv') {
  const uploadId = await api.upload(content, { fileName });
  const { body } = await api.call('POST', '/v1/submissions', { body: { uploadId, ...request } });
  return (query: Record<string, string>) => api.call('GET', `/v1/submissions/${body.id}/records`, { query });
}

test('a record is found by the identifier of the customer, with its outcome, its line and what was sent', async () => {
  const { api, upload } = createPipeline();
  const file = 'No;Site\nA-1;acme.example\nA-2;https://www.b.example/x\nA-3;not a host\n';
  const { submission } = await upload(file, 'a.csv', { profile: PROFILE });
  const find = async (recordId: string, more = {}) =>
    (await api.call('GET', `/v1/submissions/${submission.id}/records`, { query: { recordId, ...more } })).body;
  expect(await find('A-2')).toMatchObject({
    items: [
      {
        recordNo: 2,
        state: 'succeeded',
        line: 3,
        record: { No: 'A-2', Site: 'https://www.b.example/x' },
        used: { record_id: 'A-2', domain: 'b.example' },
      },
    ],
    nextCursor: null,
  });
  expect(await find('A-3')).toMatchObject({ items: [{ recordNo: 3, state: 'failed', reason: 'invalid_record' }] });
  expect(await find('A-3', { state: 'succeeded' })).toEqual({ items: [], nextCursor: null });
  expect(await find('A-4')).toEqual({ items: [], nextCursor: null });
});

test('it is pending, and not missing, before the file has been read', async () => {
  const find = await submitted(createTestApi(), 'record_id,name\n1,Ada\n2,Emre\n');
  const { status, body } = await find({ recordId: '2' });
  expect(status).toBe(200);
  expect(body.items).toMatchObject([{ recordNo: 2, state: 'pending', attempts: 0, line: 3, record: { name: 'Emre' } }]);
});

test('numbers of JSON are identifiers, too', async () => {
  const find = await submitted(createTestApi(), '{"record_id":17}\n{"record_id":18}\n', {}, 'a.ndjson');
  expect((await find({ recordId: '18' })).body.items).toMatchObject([{ recordNo: 2 }]);
});

test('records with the same identifier are pages of one list, which no other list continues', async () => {
  const find = await submitted(createTestApi(), 'record_id,name\n1,a\n2,b\n1,c\n1,d\n');
  const first = (await find({ recordId: '1', limit: '2' })).body;
  expect(first.items).toMatchObject([{ recordNo: 1 }, { recordNo: 3 }]);
  const second = (await find({ recordId: '1', limit: '2', cursor: first.nextCursor })).body;
  expect(second).toMatchObject({ items: [{ recordNo: 4, line: 5 }], nextCursor: null });
  expect((await find({ recordId: '2', cursor: first.nextCursor })).body.code).toBe('invalid_cursor');
  expect((await find({ cursor: first.nextCursor })).body.code).toBe('invalid_cursor');
});

test('a large file is read as far as the time allows, and on from there', async () => {
  const rows = Array.from({ length: 9_000 }, (_, index) => `${index},${'x'.repeat(90)}`);
  const find = await submitted(createTestApi({ remainingMs: 1_000 }), `record_id,name\n${rows.join('\n')}\n`);
  let page = (await find({ recordId: '8999' })).body;
  let pages = 1;
  for (; page.nextCursor !== null && page.items.length === 0; pages++) {
    page = (await find({ recordId: '8999', cursor: page.nextCursor })).body;
  }
  expect(page.items).toMatchObject([{ recordNo: 9_000, line: 9_001 }]);
  expect(pages).toBeGreaterThan(2);
});

test('a file that is still being unpacked is not ready, and says when to ask again', async () => {
  const find = await submitted(createTestApi(), gzipped('record_id\n1\n'), {}, 'a.csv.gz');
  const { status, body, headers } = await find({ recordId: '1' });
  expect([status, body.code, headers['Retry-After']]).toEqual([409, 'not_ready', '5']);
});
