import type { RecordRow, Submission } from '../model.ts';
import type { RecordStore } from '../records/ports.ts';
import type { SubmissionStore } from '../submissions/ports.ts';
import { readHead } from './submission-summary.ts';
import { parseQuery } from './input.ts';
import { invalidPart, notFound } from './problems.ts';
import type { Answer } from './request.ts';
import { noParametersSchema } from './schemas.ts';
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
    const submission = await readHead(deps.submissions, tenantId, request.path['id'] ?? '');
    const { submissionId } = submission;
    const [row] = await deps.records.getMany([{ submissionId, recordNo }]);
    if (row === undefined && recordNo > submission.fanOut.records) throw notFound();
    return { status: 200, body: viewOf(submission, recordNo, row) };
  };

/** A record by its row, or without one: absence is `pending`. */
export const viewOf = ({ submissionId }: Pick<Submission, 'submissionId'>, recordNo: number, row?: RecordRow) =>
  row === undefined ? pendingRecordView(submissionId, recordNo) : recordView(row);

function recordNoOf(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw invalidPart({ parameter: 'recordNo', detail: 'recordNo is the number of a record in its file, from 1 on.' });
}
