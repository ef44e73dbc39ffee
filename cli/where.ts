/**
 * What happened to this submission, or to this record of it? `npm run where -- sub_01J…` or `npm run where -- sub_01J… 17`, or by what the
 * customer knows: `npm run where -- --tenant acme --day 2026-01-31 --record-id c-1234`. Reads the tables and changes nothing.
 */
import { parseArgs } from 'node:util';
import { createDynamoClient } from '../lambdas/adapters/clients.ts';
import { createRecordStore } from '../lambdas/adapters/dynamodb/record-store.ts';
import { createSubmissionStore } from '../lambdas/adapters/dynamodb/submission-store.ts';
import { InvalidDataError } from '../lambdas/domain/errors.ts';
import { chunkSize, openOffsets } from '../lambdas/domain/ledger/ledger.ts';
import { chunkCount, CHUNK_RECORDS, recordNoAt, type LedgerChunk, type Submission } from '../lambdas/domain/model.ts';
import type { RecordStore } from '../lambdas/domain/records/ports.ts';
import type { SubmissionStore } from '../lambdas/domain/submissions/ports.ts';
import type { Clock } from '../lambdas/domain/time.ts';
import { systemClock } from '../lambdas/runtime/clock.ts';
import { readCliEnvironment } from './environment.ts';
import { reportFailure, UsageError } from './usage.ts';
import { findRecord, findSubmissions, readDay } from './where-search.ts';
import { describeFound, describeRecord, describeSubmission, type Waiting } from './where-text.ts';

const USAGE = `Usage: npm run where -- <submission id> [record number] [--table NAME] [--records-table NAME]
       npm run where -- --tenant ID --day DAY [record number] [--file TEXT] [--record-id ID]

  --tenant ID      submissions of one tenant
  --day DAY        accepted on this day in UTC: 2026-01-31, today or yesterday
  --file TEXT      whose file name or reference contains this, in any case
  --record-id ID   the record that the customer calls so; of a submission id as well

The tables are SubmissionsTableName and RecordsTableName among the outputs of the stage's data stack: give them as --table and
--records-table, or in SUBMISSIONS_TABLE and RECORDS_TABLE.
Credentials, AWS_REGION and AWS_ENDPOINT_URL are read from the environment; npm run local prints those to export.`;

/** Open records that are looked at one by one. */
const MAX_OPEN = 1_000;

export interface WhereDeps {
  submissions: Pick<SubmissionStore, 'getWithLedger' | 'listByTenant'>;
  records: Pick<RecordStore, 'getMany'>;
  clock: Clock;
  print: (line: string) => void;
}

const OPTIONS = {
  tenant: { type: 'string' },
  day: { type: 'string' },
  file: { type: 'string' },
  'record-id': { type: 'string' },
  table: { type: 'string' },
  'records-table': { type: 'string' },
} as const;
const readArguments = (args: readonly string[]) =>
  parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });

/**
 * Prints one screen: about a submission or a record, or the submissions that the search found where they are not exactly one.
 *
 * @throws UsageError for arguments that make no sense; InvalidDataError when there is no such submission or record
 */
export async function runWhere(deps: WhereDeps, args: readonly string[]): Promise<void> {
  const { values, positionals } = readArguments(args);
  const isSearch = values.tenant !== undefined || values.day !== undefined || values.file !== undefined;
  const submissionIds = isSearch ? await search(deps, values) : positionals.slice(0, 1);
  const [number, ...rest] = isSearch ? positionals : positionals.slice(1);
  if (rest.length > 0) throw new UsageError(`Unexpected: ${rest.join(' ')}.`);
  const recordNo = readNumber(number);
  const [submissionId] = submissionIds;
  if (submissionId === undefined) throw new UsageError('Name a submission, or a tenant and a day.');
  if (submissionIds.length > 1 && values['record-id'] === undefined) return;
  if (values['record-id'] !== undefined) return showRecordId(deps, submissionIds, values['record-id']);
  const found = await load(deps, submissionId);
  if (recordNo !== undefined) return showRecord(deps, found, recordNo);
  print(deps, describeSubmission(found, await whatWaits(deps, found), deps.clock.now()));
}

type Values = ReturnType<typeof readArguments>['values'];
type Found = Awaited<ReturnType<typeof load>>;

/** Ids of what was found, newest first. More than one are listed. */
async function search(deps: WhereDeps, { tenant, day, file }: Values): Promise<string[]> {
  if (tenant === undefined || day === undefined) throw new UsageError('A search needs --tenant and --day.');
  const query = { tenantId: tenant, day: readDay(day, deps.clock.now()), ...(file !== undefined && { file }) };
  const { found, unreadable } = await findSubmissions(deps.submissions, query);
  for (const id of unreadable) deps.print(`${id} cannot be read: it was written by another version, or by hand.`);
  const where = `of tenant ${tenant} on ${day}${file === undefined ? '' : ` with "${file}" in its file name or reference`}`;
  if (found.length === 0) throw new InvalidDataError(`There is no submission ${where}. Days are in UTC.`);
  if (found.length > 1) print(deps, [`${found.length} submissions ${where}:`, ...found.map(describeFound)]);
  return found.map(({ submissionId }) => submissionId);
}

async function showRecordId(deps: WhereDeps, submissionIds: readonly string[], recordId: string): Promise<void> {
  let isFound = false;
  for (const submissionId of submissionIds) {
    const found = await load(deps, submissionId);
    const recordNos = await findRecord(deps.records, found.submission, recordId);
    for (const recordNo of recordNos) await showRecord(deps, found, recordNo);
    isFound ||= recordNos.length > 0;
  }
  if (isFound) return;
  const file = submissionIds.length === 1 ? submissionIds.join() : `these ${submissionIds.length} submissions`;
  throw new InvalidDataError(
    `No record of ${file} is known as "${recordId}". A record without an outcome may not be known by its id yet: give its number in the file.`,
  );
}

async function load({ submissions }: WhereDeps, submissionId: string) {
  const found = await submissions.getWithLedger(submissionId);
  if (found !== undefined) return found;
  throw new InvalidDataError(`There is no submission ${submissionId}, or it has expired. Is it another stage's?`);
}

async function showRecord(deps: WhereDeps, found: Found, recordNo: number): Promise<void> {
  const { submissionId } = found.submission;
  const [row] = await deps.records.getMany([{ submissionId, recordNo }]);
  print(deps, describeRecord(found, recordNo, row, deps.clock.now()));
}

const print = ({ print: printLine }: WhereDeps, lines: readonly string[]): void => {
  for (const line of lines) printLine(line);
};

function readNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`The record number is ${text}: set a whole number from 1, as in the file.`);
}

/** The rows of records without an outcome, up to a number that is still quick to read. */
async function whatWaits(
  { records }: WhereDeps,
  { submission, ledger }: { submission: Submission; ledger: readonly LedgerChunk[] },
): Promise<Waiting> {
  const { submissionId } = submission;
  const open = openNumbers(submission, ledger);
  const looked = open.slice(0, MAX_OPEN);
  const rows = looked.length === 0 ? [] : await records.getMany(looked.map((recordNo) => ({ submissionId, recordNo })));
  return { looked: looked.length, rows };
}

function openNumbers({ fanOut }: Submission, ledger: readonly LedgerChunk[]): number[] {
  const stored = new Map(ledger.map((chunk) => [chunk.chunk, chunk]));
  return Array.from({ length: chunkCount(fanOut.records) }, (_, chunk) => chunk).flatMap((chunk) => {
    const seen = Math.min(CHUNK_RECORDS, fanOut.records - chunk * CHUNK_RECORDS);
    const known = stored.get(chunk);
    const offsets =
      known === undefined
        ? Array.from({ length: seen }, (_, i) => i)
        : openOffsets(known, Math.min(seen, chunkSize(known)));
    return offsets.map((offset) => recordNoAt(chunk, offset));
  });
}

async function main(args: readonly string[]): Promise<void> {
  if (args.length === 0 || args.includes('--help')) return console.log(USAGE);
  const { values } = readArguments(args);
  const { submissionsTable, recordsTable } = readCliEnvironment();
  const tables = { submissions: values.table ?? submissionsTable, records: values['records-table'] ?? recordsTable };
  if (tables.submissions === undefined || tables.records === undefined) {
    throw new UsageError('Name the tables: --table and --records-table, or SUBMISSIONS_TABLE and RECORDS_TABLE.');
  }
  const client = createDynamoClient();
  try {
    const submissions = createSubmissionStore(client, tables.submissions, systemClock);
    const records = createRecordStore(client, tables.records, systemClock);
    await runWhere({ submissions, records, clock: systemClock, print: console.log }, args);
  } finally {
    client.destroy();
  }
}

if (import.meta.main) await main(process.argv.slice(2)).catch((error: unknown) => reportFailure(error, USAGE));
