import { manifestKey, type Manifest } from '../../../lambdas/domain/finalize/manifest.ts';
import type { Submission } from '../../../lambdas/domain/model.ts';
import { createTestApi, keyOfUrl, type TestApi } from '../../support/api/api.ts';
import { makeSubmission, SUBMISSION_ID, TENANT_ID } from '../../support/factories.ts';
import { START_MS } from '../../support/memory/index.ts';

const PATH = `/v1/submissions/${SUBMISSION_ID}/results`;
const PREFIX = `results/${TENANT_ID}/${SUBMISSION_ID}/v2`;

const file = (kind: 'succeeded' | 'failed', format: 'ndjson' | 'csv', part = 1): Manifest['files'][number] => ({
  kind,
  format,
  part,
  key: `${PREFIX}/${kind}-0000${part}.${format}`,
  records: 3,
  bytes: 100,
  sha256: 'ab'.repeat(32),
});

const MANIFEST: Manifest = {
  v: 1,
  submissionId: SUBMISSION_ID,
  version: 2,
  state: 'partially_failed',
  createdAt: new Date(START_MS).toISOString(),
  counts: { total: 6, succeeded: 3, failed: 3, cancelled: 0 },
  failures: { invalid_record: 3 },
  files: [file('succeeded', 'ndjson'), file('failed', 'csv', 2)],
};

async function arranged(overrides: Partial<Submission>, manifest?: object): Promise<TestApi> {
  const api = createTestApi();
  const submission = makeSubmission(overrides);
  await api.world.submissions.create(submission);
  if (manifest) api.world.objects.seed(manifestKey(submission, submission.resultsVersion), JSON.stringify(manifest));
  return api;
}

test('results are links that work for minutes, made anew with every request', async () => {
  const api = await arranged({ state: 'partially_failed', resultsVersion: 2 }, MANIFEST);
  const { status, body } = await api.call('GET', PATH);
  expect(status).toBe(200);
  const expiresAt = new Date(START_MS + 600_000).toISOString();
  const described = { url: expect.any(String), expiresAt, records: 3, bytes: 100, sha256: 'ab'.repeat(32) };
  expect(body).toEqual({
    version: 2,
    state: 'partially_failed',
    files: [
      { kind: 'succeeded', format: 'ndjson', part: 1, ...described },
      { kind: 'failed', format: 'csv', part: 2, ...described },
    ],
  });
  expect(body.files.map(({ url }: { url: string }) => keyOfUrl(url))).toEqual(MANIFEST.files.map(({ key }) => key));
  expect(body.files[0].url).toContain('expires=600&as=');
  expect(body.files[0].url).toContain(`${SUBMISSION_ID}-v2-succeeded-00001.ndjson`);

  await api.clock.advance(60_000);
  expect((await api.call('GET', PATH)).body.files[0].expiresAt > expiresAt).toBe(true);
});

test('results never name where they are kept beside in their links', async () => {
  const { text } = await (await arranged({ state: 'complete', resultsVersion: 2 }, MANIFEST)).call('GET', PATH);
  expect(text).not.toContain('"key"');
});

test.each(['accepted', 'processing', 'finalizing', 'cancelling'] as const)(
  'there are none while it is %s, also where an earlier version stands',
  async (state) => {
    const { status, headers, body } = await (await arranged({ state, resultsVersion: 2 }, MANIFEST)).call('GET', PATH);
    expect([status, body.code, headers['Retry-After']]).toEqual([409, 'not_ready', '5']);
  },
);

test('there are none of a rejected file, and waiting does not help', async () => {
  const { status, headers, body } = await (await arranged({ state: 'rejected' })).call('GET', PATH);
  expect([status, body.code]).toEqual([409, 'no_results']);
  expect(headers).not.toHaveProperty('Retry-After');
});

test('a manifest that is not one is our fault', async () => {
  const api = await arranged({ state: 'complete', resultsVersion: 2 }, { v: 99 });
  const { status, body } = await api.call('GET', PATH);
  expect([status, body.code]).toEqual([500, 'internal_error']);
});
