import { createTestApi } from '../../support/api/api.ts';
import { gzipped } from '../../support/prepare/files.ts';

/** The answer; the test's gateway holds it against the OpenAPI document. */
async function preview(content: string | Uint8Array, fileName: string) {
  const api = createTestApi();
  const uploadId = await api.upload(content, { fileName });
  const keys = api.world.objects.keys();
  const { status, body } = await api.call('POST', '/v1/previews', { body: { uploadId } });
  expect(status).toBe(200);
  // A preview leaves nothing behind.
  expect(api.world.objects.keys()).toEqual(keys);
  return body;
}

test('what cannot be unpacked is told as the submission would be rejected', async () => {
  const body = await preview(gzipped('record_id\n1\n').subarray(0, 20), 'a.csv.gz');
  expect(body.asGiven).toEqual({
    refused: { code: 'DAMAGED_FILE', detail: expect.stringContaining('Compress it again') },
  });
  expect(body).not.toHaveProperty('asProposed');
});

test('a column that no profile can name is proposed by its place', async () => {
  const body = await preview('"a\u0007b";id\nacme.example;A-1\nmueller.example;A-2\n', 'a.csv');
  expect(body.asProposed).toMatchObject({
    valid: 2,
    profile: { columns: { domain: { position: 1 }, record_id: 'id' } },
    records: [{ used: { record_id: 'A-1', domain: 'acme.example' } }, {}],
  });
});

test('what a file costs is told before it is submitted, by its records with something to look up', async () => {
  const rows = Array.from({ length: 40 }, (_, row) => `${row},${row % 4 === 0 ? '' : `r${row}.example`}`);
  const body = await preview(`record_id,domain\n${rows.join('\n')}\n`, 'a.csv');
  expect(body.estimate).toMatchObject({ records: 40, isCounted: true, calls: { company: 30, geo: 0 }, cost: 0.15 });
});
