import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startLocal, type LocalSluice } from '../../local/start.ts';
import { encoded, gzipped, textRow, withPassword, workbook, zipped } from '../support/prepare/files.ts';
import { clientOf, ended } from './support/sluice.ts';

let sluice: LocalSluice;
beforeAll(async () => {
  sluice = await startLocal({ schedules: 'manual' });
});
afterAll(() => sluice.stop());

const CSV = 'record_id,name\n1,Größe\n2,b\n';
const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const SHEET = workbook({
  sheets: { Export: textRow(2, 'record_id', 'name') + textRow(3, '1', 'two\nlines') + textRow(5, '2', 'b') },
});

async function submit(body: Uint8Array, headers: Readonly<Record<string, string>>) {
  const response = await fetch(`${sluice.apiUrl}/v1/submissions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sluice.tenants[0]?.apiKey ?? ''}`, ...headers },
    body: Buffer.from(body),
  });
  const { id } = (await response.json()) as { id: string };
  expect({ status: response.status }).toEqual({ status: 202 });
  return ended(clientOf(sluice), id);
}

test.each([
  ['gzip', gzipped(CSV), { 'content-type': 'application/gzip' }, { kind: 'gzip' }],
  ['a compressed body', gzipped(CSV), { 'content-type': 'text/csv', 'content-encoding': 'gzip' }, { kind: 'gzip' }],
  [
    'an archive',
    zipped({ 'list.csv': CSV }),
    { 'content-type': 'application/zip' },
    { kind: 'zip', member: 'list.csv' },
  ],
  ['a workbook', SHEET, { 'content-type': XLSX }, { kind: 'xlsx', sheet: 'Export' }],
  [
    'UTF-16',
    encoded(CSV, 'utf-16le', { addBOM: true }),
    { 'content-type': 'text/csv' },
    { kind: 'text', charset: 'utf-16le' },
  ],
  [
    'windows-1252',
    encoded(CSV, 'windows-1252'),
    { 'content-type': 'text/csv; charset=windows-1252' },
    { kind: 'text', charset: 'windows-1252' },
  ],
])('%s is worked as the text in it', async (_what, file, headers, preparedFrom) => {
  expect(await submit(file, headers)).toMatchObject({
    state: 'complete',
    counts: { total: 2, succeeded: 2 },
    preparedFrom,
  });
});

test('a text in UTF-8 is not prepared', async () => {
  const submission = await submit(Buffer.from(CSV), { 'content-type': 'text/csv' });
  expect(submission).toMatchObject({ state: 'complete', counts: { total: 2 } });
  expect(submission).not.toHaveProperty('preparedFrom');
});

test('what cannot be unpacked is rejected with the remedy', async () => {
  const submission = await submit(withPassword(zipped({ 'list.csv': CSV })), { 'content-type': 'application/zip' });
  expect(submission).toMatchObject({
    state: 'rejected',
    reason: 'ENCRYPTED',
    message: expect.stringContaining('Pack it without one'),
  });
});
