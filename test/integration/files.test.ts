import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { SubmissionView } from '../../lambdas/domain/api/schemas.ts';
import { startLocal, type LocalSluice } from '../../local/start.ts';
import { COMPANIES } from '../files/corpus/corpus.ts';
import { CORPUS } from '../files/corpus/index.ts';
import { SAMPLES, SUPPORT } from '../files/manifest.ts';
import type { ResultLine } from '../support/pipeline.ts';
import { call, clientOf, ended } from './support/sluice.ts';

let sluice: LocalSluice;
beforeAll(async () => {
  sluice = await startLocal({ schedules: 'manual' });
});
afterAll(() => sluice.stop());

/** A hundred files take their time on a machine that has other work. */
const TIMEOUT_MS = 600_000;
/** Files that are under way together. */
const AT_ONCE = 6;

interface Worked {
  submission: SubmissionView;
  succeeded: ResultLine[];
  failed: ResultLine[];
}

/** Uploads a file as a customer does, submits it, and reads its results. */
async function work(bytes: string | Uint8Array, fileName: string, request: object): Promise<Worked> {
  const post = { method: 'POST', contentType: 'application/json' };
  const place = await call(sluice, '/v1/uploads', { ...post, body: JSON.stringify({ fileName }) });
  const { uploadId, url } = place.body as { uploadId: string; url: string };
  const stored = await fetch(url, { method: 'PUT', headers: { 'if-none-match': '*' }, body: Buffer.from(bytes) });
  if (stored.status !== 200) throw new Error(`${fileName}: storage answered ${stored.status} ${await stored.text()}`);
  const accepted = await call(sluice, '/v1/submissions', { ...post, body: JSON.stringify({ uploadId, ...request }) });
  if (accepted.status !== 202) throw new Error(`${fileName}: ${JSON.stringify(accepted.body)}`);
  const client = clientOf(sluice);
  const submission = await ended(client, (accepted.body as SubmissionView).id);
  if (submission.state === 'rejected') return { submission, succeeded: [], failed: [] };
  const { files } = await client.results(submission.id);
  const linesOf = async (kind: string): Promise<ResultLine[]> => {
    const texts = files
      .filter((file) => file.kind === kind && file.format === 'ndjson')
      .map(async (file) => (await fetch(file.url)).text());
    const lines = (await Promise.all(texts)).flatMap((text) => text.split('\n')).filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as ResultLine);
  };
  return { submission, succeeded: await linesOf('succeeded'), failed: await linesOf('failed') };
}

/** Works files side by side, and answers what was found of each in their order. */
async function each<T, R>(all: readonly T[], one: (item: T) => Promise<R>): Promise<R[]> {
  const waiting = [...all.entries()];
  const found: R[] = [];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) found[next[0]] = await one(next[1]);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return found;
}

/** The one with thousands of records is worked in memory (test/files/corpus.test.ts): here it takes as long as all others. */
const OVER_HTTP = CORPUS.filter(({ bytes }) => bytes.length < 50_000);

const placesOf = (lines: readonly ResultLine[]) => lines.map(({ recordNo, line, reason }) => [recordNo, line, reason]);

test(
  'every file of the corpus has each of its records right over HTTP, or is refused for the reason that it must',
  async () => {
    const found = await each(OVER_HTTP, async ({ name, bytes, profile }) => {
      const { submission, succeeded, failed } = await work(bytes, name, profile ? { profile } : {});
      // The providers of the local cloud refuse hosts of some scripts; what they were asked is right.
      const byProvider = Object.groupBy(failed, ({ reason }) => String(reason === 'provider_rejected'));
      const asked = [...succeeded, ...(byProvider['true'] ?? [])].toSorted((a, b) => a.recordNo - b.recordNo);
      const used = asked.map((line) => line.used ?? line.record);
      return { name, reason: submission.reason, used, failed: placesOf(byProvider['false'] ?? []) };
    });
    expect(found).toEqual(
      OVER_HTTP.map(({ name, records = COMPANIES, failed = [], rejected }) => ({
        name,
        reason: rejected?.[0],
        used: rejected ? [] : records.map((fields) => expect.objectContaining(fields)),
        failed: failed.map(([recordNo, line, reason]) => [recordNo, line, reason]),
      })),
    );
  },
  TIMEOUT_MS,
);

test('every sample has the records, reasons and lines of its manifest over HTTP', async () => {
  const found = await each(SAMPLES, async ({ file, format }) => {
    const bytes = readFileSync(new URL(`samples/${file}`, SUPPORT));
    const { submission, failed } = await work(bytes, file, { format });
    const unreadable = failed.filter(({ record }) => record === undefined);
    return { file, reason: submission.reason, total: submission.counts.total, lines: placesOf(unreadable) };
  });
  expect(found).toEqual(
    SAMPLES.map(({ file, code, records, defects }) => ({
      file,
      reason: code,
      total: code === undefined ? records + defects.length : null,
      lines: code === undefined ? defects.map(({ recordNo, line, reason }) => [recordNo, line, reason]) : [],
    })),
  );
});
