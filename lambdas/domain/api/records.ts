import { stoppedRow } from '../ledger/stopped-row.ts';
import { chunkOf, isOpen, offsetOf, type LedgerChunk, type RecordRow, type Submission } from '../model.ts';
import type { LedgerStore } from '../ledger/ports.ts';
import type { ObjectStore } from '../source/ports.ts';
import { rebuildMessages } from '../source/source.ts';
import type { Telemetry } from '../telemetry.ts';
import type { RecordStore } from '../records/ports.ts';
import type { SubmissionStore } from '../submissions/ports.ts';
import { readHead } from './submission-summary.ts';
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
    const submission = await readHead(deps.submissions, tenantId, request.path['id'] ?? '');
    const { submissionId } = submission;
    const [row] = await deps.records.getMany([{ submissionId, recordNo }]);
    if (row === undefined && !mayExist(submission, recordNo)) throw notFound();
    const chunk = wasStopped(submission) ? await deps.ledger.get(submissionId, chunkOf(recordNo)) : undefined;
    const input = await inputOf(deps, submission, recordNo);
    return { status: 200, body: { ...viewOf(submission, chunk, recordNo, row), ...input } };
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

/** Whether a stop order may have ended records without a row: then the ledger says more than the rows. */
export const wasStopped = ({ stop, generation }: Submission): boolean => stop !== undefined || generation > 0;

/** A record by its row; without one it is pending, unless its submission was stopped. */
export function viewOf(
  submission: Submission,
  chunk: LedgerChunk | undefined,
  recordNo: number,
  row: RecordRow | undefined,
): RecordView {
  const known = stoppedRow(submission, chunk, offsetOf(recordNo), row) ?? row;
  return known === undefined ? pendingRecordView(submission.submissionId, recordNo) : recordView(known);
}

function recordNoOf(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw invalidPart({ parameter: 'recordNo', detail: 'recordNo is the number of a record in its file, from 1 on.' });
}
