import { stoppedRow } from '../ledger/stopped-row.ts';
import { chunkOf, offsetOf, type LedgerChunk, type RecordRow, type Submission } from '../model.ts';
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

/** GET /v1/submissions/{id}/records/{recordNo}: what happened to this record? */
export const getRecord =
  (deps: RecordsDeps): Answer =>
  async (request, { tenantId }) => {
    parseQuery(noParametersSchema, request.query);
    const recordNo = recordNoOf(request.path['recordNo'] ?? '');
    const { submission, ledger } = await readForRecords(deps.submissions, tenantId, request.path['id'] ?? '');
    const { submissionId } = submission;
    const [row] = await deps.records.getMany([{ submissionId, recordNo }]);
    if (row === undefined && recordNo > submission.fanOut.records) throw notFound();
    return { status: 200, body: viewOf({ submission, ledger }, recordNo, row) };
  };

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
