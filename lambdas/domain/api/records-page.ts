import * as v from 'valibot';
import { outcomeAt } from '../ledger/ledger.ts';
import { chunkOf, offsetOf, recordNoAt, type LedgerChunk, type RecordRow, type Submission } from '../model.ts';
import type { RecordStore } from '../records/ports.ts';
import type { ObjectStore } from '../source/ports.ts';
import type { TimeBudget } from '../time.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { readWithLedger } from './submission-summary.ts';
import { parseQuery } from './input.ts';
import { isDecidedByRow, mayMatch, matches, type RecordFilter } from './record-filter.ts';
import { findByIdentifier, placeSchema } from './records-by-id.ts';
import { readForRecords, viewOf, type RecordsDeps, type WithLedger } from './records.ts';
import type { Answer } from './request.ts';
import { recordListParametersSchema, type RecordView } from './schemas.ts';

/** Record number behind which the next page begins. */
const positionSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** Rows read at a time. */
const READ_ROWS = 100;
/** Rows looked at for one page: a filter that hits little answers with a short page and a cursor, not with a timeout. */
const MAX_EXAMINED = 1_000;
/**
 * A function may answer with 6 MB (https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html), in which the body is a text in
 * a JSON object. A record adds at most some hundred kilobytes to a page that is nearly full.
 */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** Bytes that a record adds to the answer as it is sent: UTF-8, and escaped once more. */
const sentBytes = (view: RecordView): number => Buffer.byteLength(JSON.stringify(JSON.stringify(view)));

/** GET /v1/submissions/{id}/records: by record number. */
export const listRecords =
  (deps: RecordsDeps & { objects: ObjectStore }): Answer =>
  async (request, { tenantId }) => {
    const { recordId, state, reason, limit, cursor } = parseQuery(recordListParametersSchema, request.query);
    const id = request.path['id'] ?? '';
    const scope = ['records', tenantId, id, state ?? '', reason ?? ''];
    if (recordId !== undefined) {
      const asked = { id, recordId, filter: { state, reason }, limit, cursor, scope: [...scope, recordId] };
      return { status: 200, body: await pageOfIdentifier(deps, tenantId, asked, request.budget) };
    }
    const after = cursor === undefined ? 0 : decodeCursor(scope, positionSchema, cursor);
    const filter: RecordFilter = { state, reason };
    const { numbers, ...found } = await candidatesOf(deps, tenantId, id, filter, after);
    const { items, next } = await collect(deps, found, numbers, filter, limit);
    return { status: 200, body: { items, nextCursor: next === undefined ? null : encodeCursor(scope, next) } };
  };

interface AskedById {
  id: string;
  recordId: string;
  filter: RecordFilter;
  limit: number;
  cursor: string | undefined;
  scope: readonly string[];
}

/** A page of the records with one identifier: they come with what was sent, since the file is read for them anyway. */
async function pageOfIdentifier(
  deps: RecordsDeps & { objects: ObjectStore },
  tenantId: string,
  { id, recordId, filter, limit, cursor, scope }: AskedById,
  budget: TimeBudget,
): Promise<{ items: RecordView[]; nextCursor: string | null }> {
  const from = cursor === undefined ? undefined : decodeCursor(scope, placeSchema, cursor);
  const read = await readForRecords(deps.submissions, tenantId, id);
  const wanted = { recordId, from, limit: Math.min(limit, READ_ROWS) };
  const { found, next } = await findByIdentifier(deps, read.submission, wanted, budget);
  const views = await viewsOf(
    deps.records,
    read,
    found.map(({ recordNo }) => recordNo),
  );
  const items = views.map((view, index) => ({ ...view, ...found[index] })).filter((view) => matches(filter, view));
  return { items, nextCursor: next === undefined ? null : encodeCursor(scope, next) };
}

interface Candidates extends WithLedger {
  /** Record numbers that may belong to the list, ascending. */
  numbers: Iterator<number>;
}

async function candidatesOf(
  { submissions }: RecordsDeps,
  tenantId: string,
  id: string,
  filter: RecordFilter,
  after: number,
): Promise<Candidates> {
  if (filter.state === undefined && filter.reason === undefined) {
    const found = await readForRecords(submissions, tenantId, id);
    return { ...found, numbers: upTo(found.submission.fanOut.records, after) };
  }
  const { submission, ledger } = await readWithLedger(submissions, tenantId, id);
  return { submission, ledger, numbers: byLedger(submission, ledger, filter, after) };
}

function* upTo(last: number, after: number): Generator<number, void, undefined> {
  for (let recordNo = after + 1; recordNo <= last; recordNo++) yield recordNo;
}

/** The ledger tells which outcomes there are, so that only rows of the wanted kind are read. */
function* byLedger(
  { fanOut }: Submission,
  ledger: readonly LedgerChunk[],
  filter: RecordFilter,
  after: number,
): Generator<number, void, undefined> {
  const byChunk = new Map(ledger.map((chunk) => [chunk.chunk, chunk]));
  // Workers may be ahead of fan-out's last checkpoint: what has an outcome is there.
  const lastChunk = Math.max(chunkOf(Math.max(fanOut.records, 1)), ...byChunk.keys());
  for (let chunk = chunkOf(after + 1); chunk <= lastChunk; chunk++) {
    const stored = byChunk.get(chunk);
    const first = chunk === chunkOf(after + 1) ? offsetOf(after + 1) : 0;
    for (let offset = first; chunkOf(recordNoAt(chunk, offset)) === chunk; offset++) {
      const recordNo = recordNoAt(chunk, offset);
      const outcome = stored === undefined ? 'pending' : outcomeAt(stored, offset);
      if (outcome === 'pending' && recordNo > fanOut.records) continue;
      if (mayMatch(filter, outcome, stored, offset)) yield recordNo;
    }
  }
}

interface RecordPage {
  items: RecordView[];
  /** Record number behind which the next page begins; undefined on the last one. */
  next: number | undefined;
}

async function collect(
  { records }: RecordsDeps,
  found: WithLedger,
  numbers: Iterator<number>,
  filter: RecordFilter,
  limit: number,
): Promise<RecordPage> {
  const items: RecordView[] = [];
  let bytes = 0;
  let examined = 0;
  for (const batch of batchesOf(numbers, isDecidedByRow(filter) ? READ_ROWS : Math.min(limit, READ_ROWS))) {
    const views = await viewsOf(records, found, batch.numbers);
    for (const [index, view] of views.entries()) {
      examined++;
      if (matches(filter, view)) {
        items.push(view);
        bytes += sentBytes(view);
      }
      const isFull = items.length >= limit || bytes >= MAX_PAGE_BYTES || examined >= MAX_EXAMINED;
      const isLast = batch.isLast && index === views.length - 1;
      if (isFull && !isLast) return { items, next: view.recordNo };
    }
  }
  return { items, next: undefined };
}

/** Cuts into pieces, and tells the last one. */
function* batchesOf(numbers: Iterator<number>, size: number): Generator<{ numbers: number[]; isLast: boolean }> {
  let ahead = numbers.next();
  while (ahead.done !== true) {
    const batch: number[] = [];
    while (ahead.done !== true && batch.length < size) {
      batch.push(ahead.value);
      ahead = numbers.next();
    }
    yield { numbers: batch, isLast: ahead.done === true };
  }
}

async function viewsOf(records: RecordStore, found: WithLedger, numbers: readonly number[]): Promise<RecordView[]> {
  const { submissionId } = found.submission;
  const rows = await records.getMany(numbers.map((recordNo) => ({ submissionId, recordNo })));
  const byNumber = new Map<number, RecordRow>(rows.map((row) => [row.recordNo, row]));
  return numbers.map((recordNo) => viewOf(found, recordNo, byNumber.get(recordNo)));
}
