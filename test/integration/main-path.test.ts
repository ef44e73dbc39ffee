import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PROVIDERS } from '../../config/providers.ts';
import type { SubmissionView } from '../../lambdas/domain/api/schemas.ts';
import { downloadResults, failedRecords, type ResultFile } from '../../local/demo/results.ts';
import { startLocal, type LocalSluice } from '../../local/start.ts';
import { call, clientOf, ended, SAMPLE } from './support/sluice.ts';

let sluice: LocalSluice;
let submission: SubmissionView;
let files: ResultFile[];
const directory = mkdtempSync(join(tmpdir(), 'sluice-results-'));

beforeAll(async () => {
  sluice = await startLocal({ schedules: 'manual' });
  const client = clientOf(sluice);
  const { id } = await client.submitFile(SAMPLE, 'sample');
  submission = await ended(client, id);
  files = await downloadResults(await client.results(id), directory);
});
afterAll(async () => {
  await sluice.stop();
  rmSync(directory, { recursive: true, force: true });
});

const record = (recordNo: number) => call(sluice, `/v1/submissions/${submission.id}/records/${recordNo}`);

describe('the sample file', () => {
  test('ends with exact counts and every reason', () => {
    expect(submission).toMatchObject({
      state: 'partially_failed',
      lane: 'small',
      reference: 'sample',
      counts: { total: 200, pending: 0, succeeded: 192, failed: 8, cancelled: 0 },
      failures: { invalid_record: 5, malformed_row: 2, provider_rejected: 1 },
    });
  });

  test('tells for every failed row which one it was, where, and why', async () => {
    const failed = await failedRecords(files, 100);
    expect(failed.map(({ recordNo, line, reason }) => [recordNo, line, reason])).toEqual([
      [18, 21, 'invalid_record'],
      [34, 37, 'invalid_record'],
      [66, 69, 'provider_rejected'],
      [97, 100, 'invalid_record'],
      [111, 114, 'malformed_row'],
      [132, 135, 'invalid_record'],
      [151, 154, 'malformed_row'],
      [179, 182, 'invalid_record'],
    ]);
    expect(failed.every(({ message, detail }) => message !== '' && detail !== undefined)).toBe(true);
  });

  test('answers what happened to one record', async () => {
    expect(await record(18)).toMatchObject({
      status: 200,
      body: { state: 'failed', reason: 'invalid_record', attempts: 1 },
    });
    expect(await record(1)).toMatchObject({
      status: 200,
      body: { state: 'succeeded', output: { record_id: 'C-1001', company: { domain: 'indigo-works.example' } } },
    });
    expect((await record(201)).status).toBe(404);
  });

  test.each([
    ['an unknown postal code', 25, { geo: null, company: { domain: expect.any(String) } }],
    ['a domain that no company has', 41, { company: null, geo: { place: expect.any(String) } }],
    ['no domain', 58, { company: null }],
    ['no address', 73, { geo: null }],
  ])('with %s in it succeeds with nothing found', async (_, recordNo, output) => {
    expect(await record(recordNo)).toMatchObject({ body: { state: 'succeeded', output } });
  });

  test('comes back as CSV with its own columns too', () => {
    const csv = files.find(({ kind, format }) => kind === 'succeeded' && format === 'csv');
    const header = readFileSync(csv?.path ?? '', 'utf8').split(/\r?\n/)[0];
    expect(header).toMatch(/^record_id,name,email,domain,country,postal_code,segment,note,/);
    expect(files.map(({ kind, format, records }) => [kind, format, records])).toEqual(
      expect.arrayContaining([
        ['succeeded', 'ndjson', 192],
        ['failed', 'ndjson', 8],
        ['succeeded', 'csv', 192],
        ['failed', 'csv', 8],
      ]),
    );
  });

  test('asks each provider at most once for each record that it applies to', async () => {
    // 200 records without seven that are invalid or unreadable, and one without the provider's key.
    // What the canary is asked, to confirm that nothing was found, comes on top.
    for (const { name, canary } of PROVIDERS) {
      const { ok, failed } = await sluice.providers.counters(name);
      const { [Object.values(canary).join('/')]: confirmations = 0, ...byKey } =
        await sluice.providers.callsByKey(name);
      // Records with equal lookups share a call where they meet in a batch.
      const calls = ok - confirmations;
      expect([name, failed, calls <= 192]).toEqual([name, 0, true]);
      expect(Object.values(byKey).reduce((sum, count) => sum + count, 0)).toBe(calls);
    }
  });

  test('belongs to its tenant alone', async () => {
    expect((await call(sluice, `/v1/submissions/${submission.id}`, { tenant: 1 })).status).toBe(404);
    expect(await call(sluice, '/v1/submissions', { tenant: 1 })).toEqual({
      status: 200,
      body: { items: [], nextCursor: null },
    });
  });
});

describe('the pipeline', () => {
  test('takes a file in the body of the request', async () => {
    const accepted = await call(sluice, '/v1/submissions', {
      method: 'POST',
      contentType: 'application/x-ndjson',
      body: '{"record_id":"1","domain":"one.example"}\nnot json\n',
    });
    expect(accepted).toMatchObject({ status: 202, body: { state: 'accepted' } });
    const { id } = accepted.body as SubmissionView;
    expect(await ended(clientOf(sluice), id)).toMatchObject({
      state: 'partially_failed',
      counts: { succeeded: 1, failed: 1 },
      failures: { malformed_row: 1 },
    });
  });

  test('lets an operator run a function through the AWS endpoint', async () => {
    const { awsEndpoint: endpoint, region, operatorCredentials } = sluice.cloud;
    const client = new LambdaClient({ endpoint, region, credentials: { ...operatorCredentials } });
    const { name } = sluice.functionOf('reconciler');
    const answer = await client.send(new InvokeCommand({ FunctionName: name, Payload: '{}', LogType: 'Tail' }));
    client.destroy();
    expect([answer.StatusCode, answer.FunctionError]).toEqual([200, undefined]);
    expect(Buffer.from(answer.LogResult ?? '', 'base64').toString()).toContain('REPORT RequestId');
  });

  test('runs its schedule', async () => {
    await expect(sluice.fireSchedule('reconciler')).resolves.toBeUndefined();
  });

  test('was denied nothing', () => {
    expect(sluice.cloud.denials()).toEqual([]);
  });

  test('counts what it does', () => {
    const finished = sluice.metrics.store.list().filter(({ name }) => name === 'RecordsSucceeded');
    const sum = finished
      .flatMap((id) => sluice.metrics.store.points(id))
      .reduce((total, { sum: added }) => total + added, 0);
    expect(sum).toBe(193);
  });
});

test('the upload and submission of the documentation, run twice, are one submission', async () => {
  const once = async () => {
    const place = await call(sluice, '/v1/uploads', { method: 'POST', body: '{"fileName":"twice.csv"}' });
    const { uploadId, url } = place.body as { uploadId: string; url: string };
    // As curl sends a file by default.
    const headers = { 'if-none-match': '*', 'content-type': 'application/x-www-form-urlencoded' };
    expect((await fetch(url, { method: 'PUT', headers, body: 'record_id\n1\n' })).status).toBe(200);
    const contentType = 'application/json';
    const request = {
      method: 'POST',
      contentType,
      headers: { 'idempotency-key': 'documented' },
      body: JSON.stringify({ uploadId }),
    };
    return call(sluice, '/v1/submissions', request);
  };
  const [first, second] = [await once(), await once()];
  expect([first.status, second.status]).toEqual([202, 202]);
  expect((second.body as SubmissionView).id).toBe((first.body as SubmissionView).id);
});
