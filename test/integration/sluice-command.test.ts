import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runSluice } from '../../cli/sluice/main.ts';
import { startLocal, type LocalSluice } from '../../local/start.ts';
import { SAMPLE } from './support/sluice.ts';

let local: LocalSluice;
const directory = mkdtempSync(join(tmpdir(), 'sluice-command-'));
beforeAll(async () => {
  local = await startLocal({ schedules: 'manual' });
});
afterAll(async () => {
  await local.stop();
  rmSync(directory, { recursive: true });
});

async function sluice(...args: readonly string[]) {
  const output: string[] = [];
  const exitCode = await runSluice(args, {
    environment: { SLUICE_URL: local.apiUrl, SLUICE_KEY: local.tenants[0]?.apiKey, XDG_CONFIG_HOME: directory },
    input: process.stdin,
    output: { write: (text) => output.push(text) },
    terminal: { write: () => undefined },
  });
  return { exitCode, lines: output.join('').split('\n').slice(0, -1) };
}

test('a customer previews an export, keeps the proposed profile, and submits by it', async () => {
  const file = join(directory, 'crm.csv');
  const rows = ['C-1;https://www.mueller.example/;Germany', 'C-2;http://acme.example;USA'];
  writeFileSync(file, ['Customer ID;Website;Country', ...rows, ''].join('\n'));
  const profile = join(directory, 'profile.json');
  const { exitCode, lines } = await sluice('preview', file, '--save', profile);
  expect(exitCode).toBe(0);
  expect(lines.join('\n')).toContain('As it is: rejected, MISSING_REQUIRED_COLUMN');
  expect(lines.join('\n')).toContain('With the proposed profile: 2 of the first 2 records are valid');
  expect(JSON.parse(readFileSync(profile, 'utf8'))).toEqual({
    columns: { record_id: 'Customer ID', domain: 'Website' },
    normalise: { domain: ['trim', 'host_of_url'], country: ['trim', 'country_alpha2'] },
  });
  expect((await sluice('profiles', 'put', 'crm', profile)).lines).toEqual(['crm@1']);
  expect((await sluice('profiles')).lines[0]).toMatch(/^crm@1 /);
  expect((await sluice('submit', file, '--profile', 'crm', '--watch', '--json')).exitCode).toBe(0);
  expect((await sluice('submit', file, '--profile', join(directory, 'none.json'))).exitCode).toBe(1);
  expect((await sluice('profiles', 'delete', 'crm')).exitCode).toBe(0);
  expect((await sluice('preview', file, '--profile', 'crm')).exitCode).toBe(3);
});

test('a customer submits a file, follows it, and has the results; the same command again processes nothing twice', async () => {
  const first = await sluice('submit', SAMPLE, '--watch', '--out', directory, '--json');
  expect(first.exitCode).toBe(5);
  const [submission, ...files] = first.lines.map((line) => JSON.parse(line));
  expect(submission).toMatchObject({ state: 'partially_failed', counts: { total: 200, succeeded: 192, failed: 8 } });
  expect(files.map(({ kind, format, records }) => [kind, format, records])).toEqual([
    ['succeeded', 'ndjson', 192],
    ['failed', 'ndjson', 8],
    ['succeeded', 'csv', 192],
    ['failed', 'csv', 8],
  ]);
  const lines = readFileSync(files[0].path, 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).recordNo)).toHaveLength(192);

  const second = await sluice('submit', SAMPLE, '--json');
  expect(JSON.parse(second.lines[0] ?? '')).toMatchObject({ id: submission.id });
  expect((await sluice('list')).lines.filter((line) => line.startsWith(submission.id))).toHaveLength(1);

  const failed = await sluice('records', submission.id, '--state', 'failed');
  expect(failed.lines.map((line) => JSON.parse(line).recordNo)).toEqual([18, 34, 66, 97, 111, 132, 151, 179]);
  expect((await sluice('records', submission.id, '18')).lines).toHaveLength(1);
  const [identified] = (await sluice('records', submission.id, '--record-id', 'C-1016')).lines;
  expect(JSON.parse(identified ?? '')).toMatchObject({ recordNo: 16, record: { record_id: 'C-1016' } });
  expect((await sluice('status', 'sub_none')).exitCode).toBe(3);
  expect((await sluice('cancel', submission.id)).exitCode).toBe(3);
});
