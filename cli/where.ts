/**
 * What happened to this submission, or to this record of it? `npm run where -- sub_01J…` or `npm run where -- sub_01J… 17`.
 * Reads the tables and changes nothing.
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
import { describeRecord, describeSubmission, type Waiting } from './where-text.ts';

const USAGE = `Usage: npm run where -- <submission id> [record number] [--table NAME] [--records-table NAME]

The tables are SubmissionsTableName and RecordsTableName among the outputs of the stage's data stack: give them as --table and
--records-table, or in SUBMISSIONS_TABLE and RECORDS_TABLE.
Credentials, AWS_REGION and AWS_ENDPOINT_URL are read from the environment; npm run local prints those to export.`;

/** Open records that are looked at one by one. */
const MAX_OPEN = 1_000;

export interface WhereDeps {
  submissions: Pick<SubmissionStore, 'getWithLedger'>;
  records: Pick<RecordStore, 'getMany'>;
  clock: Clock;
  print: (line: string) => void;
}

const OPTIONS = { table: { type: 'string' }, 'records-table': { type: 'string' } } as const;
const readArguments = (args: readonly string[]) =>
  parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });

/**
 * Prints one screen.
 *
 * @throws UsageError for arguments that make no sense; InvalidDataError when there is no such submission
 */
export async function runWhere(deps: WhereDeps, args: readonly string[]): Promise<void> {
  const [submissionId, number, ...rest] = readArguments(args).positionals;
  if (submissionId === undefined) throw new UsageError('Name a submission.');
  if (rest.length > 0) throw new UsageError(`Unexpected: ${rest.join(' ')}.`);
  const recordNo = readNumber(number);
  const found = await deps.submissions.getWithLedger(submissionId);
  if (found === undefined) {
    throw new InvalidDataError(`There is no submission ${submissionId}, or it has expired. Is it another stage's?`);
  }
  const lines =
    recordNo === undefined
      ? describeSubmission(found, await whatWaits(deps, found), deps.clock.now())
      : describeRecord(found, recordNo, await rowOf(deps, submissionId, recordNo), deps.clock.now());
  for (const line of lines) deps.print(line);
}

function readNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`The record number is ${text}: set a whole number from 1, as in the file.`);
}

async function rowOf({ records }: WhereDeps, submissionId: string, recordNo: number) {
  const [row] = await records.getMany([{ submissionId, recordNo }]);
  return row;
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
