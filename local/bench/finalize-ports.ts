import { randomBytes } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { marshall } from '@aws-sdk/util-dynamodb';
import { createRecordStore } from '../../lambdas/adapters/dynamodb/record-store.ts';
import { recordItem } from '../../lambdas/adapters/dynamodb/record-item.ts';
import { createObjectStore } from '../../lambdas/adapters/s3/object-store.ts';
import { DOCUMENT_OPTIONS } from '../../lambdas/adapters/clients.ts';
import type { PartTurns } from '../../lambdas/domain/finalize/part-turns.ts';
import { FINALIZE_DEFAULTS, type FinalizeDeps } from '../../lambdas/domain/finalize/deps.ts';
import { CHUNK_RECORDS, recordNoAt, type ProviderAnswers, type Submission } from '../../lambdas/domain/model.ts';
import { AcceptedSchemas } from '../../lambdas/domain/submissions/schemas.ts';
import { systemClock as clock } from '../../lambdas/runtime/clock.ts';
import { newSubmission, port, SCHEMAS } from './fan-out-ports.ts';
import { stubS3, stubTable } from './stub-clients.ts';

/** What a page of a query holds at most, https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.Pagination.html */
const PAGE_BYTES = 1_000_000;
const DAY_MS = 86_400_000;

export interface FinalizePorts {
  readonly deps: FinalizeDeps;
  readonly submission: Submission;
  /** Bytes of results that were written so far. */
  readonly written: () => number;
}

/** What stands in for AWS around the results of one file of which every record has succeeded. */
/** @param turns - Of the process, which all its slices share. */
export function createFinalizePorts(
  path: string,
  { records, answerBytes, turns }: { records: number; answerBytes: number; turns: PartTurns },
): FinalizePorts {
  const accepted = newSubmission(statSync(path).size);
  const fanOut = { ...accepted.fanOut, done: true, records };
  const submission: Submission = { ...accepted, state: 'finalizing', lane: 'bulk', fanOut };
  let written = 0;
  const objects = createObjectStore(
    stubS3((bytes) => (written += bytes)),
    'bench',
  );
  const sizeOf = (chunk: number): number => Math.min(CHUNK_RECORDS, records - chunk * CHUNK_RECORDS);
  const submissions = port<FinalizeDeps['submissions']>('submissions', {
    claimFinalize: async () => ({ outcome: 'claimed', submission }),
    checkpointFinalize: async () => submission,
    finish: async (_id, _owner, { state }) => ({ ...submission, state }),
  });
  const deps: FinalizeDeps = {
    submissions,
    schemas: new AcceptedSchemas(submissions, SCHEMAS),
    ledger: port<FinalizeDeps['ledger']>('ledger', {
      get: async (_id, chunk) => ({
        chunk,
        size: sizeOf(chunk),
        succeeded: new Set(Array.from({ length: sizeOf(chunk) }, (_, offset) => offset)),
        cancelled: new Set(),
        failed: new Map(),
      }),
    }),
    records: createRecordStore(stubTable(pagesOf(submission, answerBytes, sizeOf)), 'records', clock),
    objects: { ...objects, read: async (_source, fromByte) => createReadStream(path, { start: fromByte }) },
    admission: port<FinalizeDeps['admission']>('admission', { clearOpenWork: async () => undefined }),
    finalizeQueue: { send: async () => [] },
    webhookQueue: { send: async () => [] },
    turns,
    telemetry: { emit: () => undefined },
    clock,
    random: Math.random,
    // One slice does all, however slow the machine is.
    settings: { ...FINALIZE_DEFAULTS, sliceMs: DAY_MS },
  };
  return { deps, submission, written: () => written };
}

/** Bodies of the answers to queries for the rows of a chunk. The rows of a page differ in their numbers only. */
function pagesOf(
  { submissionId, expiresAtSeconds, createdAtMs }: Submission,
  answerBytes: number,
  sizeOf: (chunk: number) => number,
): (query: Record<string, unknown>) => string {
  const common = { submissionId, state: 'succeeded', attempts: 1, generation: 0, redrives: 0 } as const;
  const times = { firstEnqueuedAtMs: createdAtMs, updatedAtMs: createdAtMs, expiresAtSeconds };
  const item = recordItem({ ...common, ...times, recordNo: 1, answers: answersOf(answerBytes) });
  const row = JSON.stringify(marshall(item, DOCUMENT_OPTIONS.marshallOptions), asWired);
  const rowsOfPage = Math.max(1, Math.floor(PAGE_BYTES / row.length));
  return (query) => {
    const { ':v0': key } = query['ExpressionAttributeValues'] as Record<string, { S: string }>;
    const chunkKey = key?.S ?? '';
    const chunk = Number(chunkKey.slice(chunkKey.lastIndexOf('#') + 1));
    const after = query['ExclusiveStartKey'] as { recordNo: { N: string } } | undefined;
    const from = after === undefined ? recordNoAt(chunk, 0) : Number(after.recordNo.N) + 1;
    const last = Math.min(from + rowsOfPage, recordNoAt(chunk, sizeOf(chunk))) - 1;
    const numbers = Array.from({ length: last - from + 1 }, (_, index) => from + index);
    const Items = numbers.map((recordNo) =>
      row
        .replace(item['chunkKey'] as string, chunkKey)
        .replace('"recordNo":{"N":"1"}', `"recordNo":{"N":"${recordNo}"}`),
    );
    const isEnd = last === recordNoAt(chunk, sizeOf(chunk) - 1);
    const next = `,"LastEvaluatedKey":{"chunkKey":{"S":"${chunkKey}"},"recordNo":{"N":"${last}"}}`;
    return `{"Items":[${Items.join(',')}]${isEnd ? '' : next}}`;
  };
}

/** Bytes are base64 in DynamoDB's JSON. */
function asWired(this: unknown, name: string, value: unknown): unknown {
  // A buffer describes itself before it comes here.
  const bytes = Reflect.get(this as object, name) as unknown;
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString('base64') : value;
}

/** Answers of about so many bytes together, which cannot be compressed well. */
function answersOf(bytes: number): ProviderAnswers {
  const text = (share: number): string => randomBytes(Math.ceil((bytes * share * 3) / 4)).toString('base64');
  return {
    company: { kind: 'found', data: { name: text(0.8) } },
    geo: { kind: 'found', data: { place: text(0.2) } },
  };
}
