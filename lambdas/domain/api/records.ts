import { stoppedRow } from '../ledger/stopped-row.ts';
import { chunkOf, isOpen, offsetOf, type LedgerChunk, type RecordRow, type Submission } from '../model.ts';
import type { LedgerStore } from '../ledger/ports.ts';
import type { ObjectStore } from '../source/ports.ts';
import { rebuildMessages } from '../source/source.ts';
import type { Telemetry } from '../telemetry.ts';
import type { RecordStore } from '../records/ports.ts';
import type { SubmissionStore } from '../submissions/ports.ts';
import { readHead, readWithLedger } from './submission-summary.ts';
import { parseQuery } from './input.ts';
import { invalidPart, notFound } from './problems.ts';
import type { Answer } from './request.ts';
import { noParametersSchema, type RecordView } from './schemas.ts';
import { pendingRecordView, recordView } from './views.ts';

export interface RecordsDeps {
  submissions: SubmissionStore;
  records: RecordStore;
}

export interface RecordInputDeps {
  ledger: LedgerStore;
  objects: ObjectStore;
  telemetry: Telemetry;
}

/** GET /v1/submissions/{id}/records/{recordNo}: what happened to this record? */
export const getRecord =
  (deps: RecordsDeps & RecordInputDeps): Answer =>
  async (request, { tenantId }) => {
    parseQuery(noParametersSchema, request.query);
    const recordNo = recordNoOf(request.path['recordNo'] ?? '');
    const { submission, ledger } = await readForRecords(deps.submissions, tenantId, request.path['id'] ?? '');
    const { submissionId } = submission;
    const [row] = await deps.records.getMany([{ submissionId, recordNo }]);
    if (row === undefined && !mayExist(submission, recordNo)) throw notFound();
    const input = await inputOf(deps, submission, recordNo);
    return { status: 200, body: { ...viewOf({ submission, ledger }, recordNo, row), ...input } };
  };

/** Of a file that is still being read nobody knows how many records it has. */
const mayExist = ({ state, fanOut, terms }: Submission, recordNo: number): boolean =>
  recordNo <= fanOut.records || (isOpen(state) && !fanOut.done && recordNo <= terms.maxRecords);

/** Codes of a file of which nothing can be shown. */
const LOST: ReadonlySet<string> = new Set(['FILE_MISSING', 'FILE_CHANGED']);

/** The record as it was sent, and what was used of it. What cannot be read now is left out: the outcome is known all the same. */
async function inputOf(
  deps: RecordInputDeps,
  submission: Submission,
  recordNo: number,
): Promise<Pick<RecordView, 'line' | 'record' | 'used'>> {
  if (recordNo > submission.fanOut.records) return {};
  try {
    const rebuilt = (await rebuildMessages(deps, submission, chunkOf(recordNo), [recordNo])).get(recordNo);
    if (rebuilt === undefined) return {};
    const { line, content } = rebuilt;
    if (content.kind === 'defect') return LOST.has(content.defect) ? {} : { line };
    return { line, record: content.fields, ...(content.kind === 'mapped' && { used: content.used }) };
  } catch (error) {
    const { submissionId, tenantId } = submission;
    deps.telemetry.emit({ name: 'unexpected_error', level: 'warn', submissionId, tenantId, recordNo, error });
    return {};
  }
}

/** A submission as its records need it. */
export interface WithLedger {
  submission: Submission;
  /** Empty where rows decide about every record. */
  ledger: readonly LedgerChunk[];
}

/** Reads the ledger as well where a stop order may have ended records without a row. */
export async function readForRecords(submissions: SubmissionStore, tenantId: string, id: string): Promise<WithLedger> {
  const submission = await readHead(submissions, tenantId, id);
  const wasStopped = submission.stop !== undefined || submission.generation > 0;
  return wasStopped ? readWithLedger(submissions, tenantId, id) : { submission, ledger: [] };
}

/** A record by its row; without one it is pending, unless its submission was stopped. */
export function viewOf({ submission, ledger }: WithLedger, recordNo: number, row?: RecordRow): RecordView {
  const chunk = ledger.find((each) => each.chunk === chunkOf(recordNo));
  const known = stoppedRow(submission, chunk, offsetOf(recordNo), row) ?? row;
  return known === undefined ? pendingRecordView(submission.submissionId, recordNo) : recordView(known);
}

function recordNoOf(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw invalidPart({ parameter: 'recordNo', detail: 'recordNo is the number of a record in its file, from 1 on.' });
}
