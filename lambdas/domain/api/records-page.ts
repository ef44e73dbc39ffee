import * as v from 'valibot';
import { outcomeAt } from '../ledger/ledger.ts';
import { chunkCount, chunkOf, recordNoAt, type LedgerChunk, type RecordRow, type Submission } from '../model.ts';
import type { RecordStore } from '../records/ports.ts';
import type { LedgerStore } from '../ledger/ports.ts';
import type { ObjectStore } from '../source/ports.ts';
import type { SubmissionStore } from '../submissions/ports.ts';
import type { TimeBudget } from '../time.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { readHead } from './submission-summary.ts';
import { parseQuery } from './input.ts';
import { isDecidedByRow, mayMatch, matches, type RecordFilter } from './record-filter.ts';
import { findByIdentifier, placeSchema } from './records-by-id.ts';
import { viewOf, wasStopped, type RecordsDeps } from './records.ts';
import type { Answer } from './request.ts';
import { recordListParametersSchema, type RecordView } from './schemas.ts';

/** Record number behind which the next page begins. */
const positionSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** Rows read at a time. */
const READ_ROWS = 100;
/** Rows looked at for one page: a filter that hits little answers with a short page and a cursor, not with a timeout. */
const MAX_EXAMINED = 1_000;
/** Ledger items of the first read, and of the largest: every read takes twice as many as the one before. */
const FIRST_CHUNKS = 4;
const MAX_CHUNKS = 256;
/**
 * A function may answer with 6 MB (https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html), in which the body is a text in
 * a JSON object. A record adds at most some hundred kilobytes to a page that is nearly full.
 */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** Bytes that a record adds to the answer as it is sent: UTF-8, and escaped once more. */
const sentBytes = (view: RecordView): number => Buffer.byteLength(JSON.stringify(JSON.stringify(view)));

interface ListDeps extends RecordsDeps {
  ledger: LedgerStore;
  objects: ObjectStore;
}

/** GET /v1/submissions/{id}/records: by record number. */
export const listRecords =
  (deps: ListDeps): Answer =>
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
    const submission = await readHead(deps.submissions, tenantId, id);
    const candidates = candidatesOf(deps.submissions, submission, filter, after);
    const { items, next } = await collect(deps.records, submission, candidates, filter, limit);
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
  deps: ListDeps,
  tenantId: string,
  { id, recordId, filter, limit, cursor, scope }: AskedById,
  budget: TimeBudget,
): Promise<{ items: RecordView[]; nextCursor: string | null }> {
  const from = cursor === undefined ? undefined : decodeCursor(scope, placeSchema, cursor);
  const submission = await readHead(deps.submissions, tenantId, id);
  const wanted = { recordId, from, limit: Math.min(limit, READ_ROWS) };
  const { found, next } = await findByIdentifier(deps, submission, wanted, budget);
  const chunks = new Map<number, LedgerChunk | undefined>();
  for (const number of wasStopped(submission) ? found.map(({ recordNo }) => chunkOf(recordNo)) : []) {
    if (!chunks.has(number)) chunks.set(number, await deps.ledger.get(id, number));
  }
  const candidates = found.map(({ recordNo }) => ({ recordNo, chunk: chunks.get(chunkOf(recordNo)) }));
  const views = await viewsOf(deps.records, submission, candidates);
  const items = views.map((view, index) => ({ ...view, ...found[index] })).filter((view) => matches(filter, view));
  return { items, nextCursor: next === undefined ? null : encodeCursor(scope, next) };
}

/** A record that may belong to the list, with what the ledger says of its chunk where that was read. */
interface Candidate {
  recordNo: number;
  chunk: LedgerChunk | undefined;
}

/** Ascending. Without a filter the ledger is read only where a stop order may have ended records without a row. */
function candidatesOf(
  submissions: SubmissionStore,
  submission: Submission,
  filter: RecordFilter,
  after: number,
): AsyncGenerator<Candidate, void, undefined> {
  const isNarrowed = filter.state !== undefined || filter.reason !== undefined;
  if (isNarrowed || wasStopped(submission)) return byLedger(submissions, submission, filter, after);
  return upTo(submission.fanOut.records, after);
}

async function* upTo(last: number, after: number): AsyncGenerator<Candidate, void, undefined> {
  for (let recordNo = after + 1; recordNo <= last; recordNo++) yield { recordNo, chunk: undefined };
}

/** The ledger tells which outcomes there are, so that only rows of the wanted kind are read. */
async function* byLedger(
  submissions: SubmissionStore,
  submission: Submission,
  filter: RecordFilter,
  after: number,
): AsyncGenerator<Candidate, void, undefined> {
  const { records } = submission.fanOut;
  for await (const [number, chunk] of chunksFrom(submissions, submission, chunkOf(after + 1))) {
    for (let offset = 0; chunkOf(recordNoAt(number, offset)) === number; offset++) {
      const recordNo = recordNoAt(number, offset);
      if (recordNo <= after) continue;
      const outcome = chunk === undefined ? 'pending' : outcomeAt(chunk, offset);
      if (outcome === 'pending' && recordNo > records) continue;
      if (mayMatch(filter, outcome, chunk, offset)) yield { recordNo, chunk };
    }
  }
}

/** Every chunk from `first` on, with its ledger item where there is one. Reads ahead by as much as was needed until then. */
async function* chunksFrom(
  submissions: SubmissionStore,
  { submissionId, fanOut }: Submission,
  first: number,
): AsyncGenerator<[number: number, chunk: LedgerChunk | undefined], void, undefined> {
  let number = first;
  let from: number | undefined = first;
  for (let limit = FIRST_CHUNKS; from !== undefined; limit = Math.min(limit * 2, MAX_CHUNKS)) {
    const page: Awaited<ReturnType<SubmissionStore['ledgerPage']>> = await submissions.ledgerPage(submissionId, {
      from,
      limit,
    });
    for (const chunk of page.chunks) {
      while (number < chunk.chunk) yield [number++, undefined];
      yield [number++, chunk];
    }
    from = page.next;
  }
  // Workers may be ahead of fan-out's last checkpoint, and it ahead of them.
  for (; number < chunkCount(fanOut.records); number++) yield [number, undefined];
}

interface RecordPage {
  items: RecordView[];
  /** Record number behind which the next page begins; undefined on the last one. */
  next: number | undefined;
}

async function collect(
  records: RecordStore,
  submission: Submission,
  candidates: AsyncGenerator<Candidate, void, undefined>,
  filter: RecordFilter,
  limit: number,
): Promise<RecordPage> {
  const items: RecordView[] = [];
  let bytes = 0;
  let examined = 0;
  for await (const batch of batchesOf(candidates, isDecidedByRow(filter) ? READ_ROWS : Math.min(limit, READ_ROWS))) {
    const views = await viewsOf(records, submission, batch.candidates);
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
async function* batchesOf(
  candidates: AsyncGenerator<Candidate, void, undefined>,
  size: number,
): AsyncGenerator<{ candidates: Candidate[]; isLast: boolean }, void, undefined> {
  let ahead = await candidates.next();
  while (ahead.done !== true) {
    const batch: Candidate[] = [];
    while (ahead.done !== true && batch.length < size) {
      batch.push(ahead.value);
      ahead = await candidates.next();
    }
    yield { candidates: batch, isLast: ahead.done === true };
  }
}

async function viewsOf(
  records: RecordStore,
  submission: Submission,
  candidates: readonly Candidate[],
): Promise<RecordView[]> {
  const { submissionId } = submission;
  const rows = await records.getMany(candidates.map(({ recordNo }) => ({ submissionId, recordNo })));
  const byNumber = new Map<number, RecordRow>(rows.map((row) => [row.recordNo, row]));
  return candidates.map(({ recordNo, chunk }) => viewOf(submission, chunk, recordNo, byNumber.get(recordNo)));
}
