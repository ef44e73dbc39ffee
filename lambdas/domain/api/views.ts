import type { Tally } from '../ledger/ledger.ts';
import { dataOf, type RecordRow, type Submission } from '../model.ts';
import { reasonOf, type ReasonCode } from '../reasons.ts';
import type { RecordView, SubmissionView } from './schemas.ts';

const iso = (ms: number): string => new Date(ms).toISOString();

export interface SubmissionSummary {
  submission: Submission;
  tally: Tally;
  /** Of a submission that is open. */
  estimatedCompletionAtMs: number | undefined;
  /** When it was counted, where that is not now. */
  countsAsOfMs?: number;
}

const pathOf = (submissionId: string): string => `/v1/submissions/${submissionId}`;

/** A submission as customers see it. */
export function submissionView(
  { submission, tally, estimatedCompletionAtMs, countsAsOfMs }: SubmissionSummary,
  baseUrl: string,
): SubmissionView {
  const { submissionId, state, storedState, lane, reference, prepared } = submission;
  const self = `${baseUrl}${pathOf(submissionId)}`;
  return {
    id: submissionId,
    state: storedState ?? state,
    ...endReason(submission),
    lane: lane ?? null,
    ...(reference !== undefined && { reference }),
    ...(prepared && { preparedFrom: prepared.from }),
    createdAt: iso(submission.createdAtMs),
    updatedAt: iso(submission.updatedAtMs),
    counts: tally.counts,
    failures: { ...tally.failures },
    ...(countsAsOfMs !== undefined && { countsAsOf: iso(countsAsOfMs) }),
    ...(estimatedCompletionAtMs !== undefined && { estimatedCompletionAt: iso(estimatedCompletionAtMs) }),
    expiresAt: iso(submission.expiresAtSeconds * 1_000),
    links: { self, records: `${self}/records`, results: `${self}/results` },
  };
}

function endReason({ state, stop, rejection }: Submission): { reason?: string; message?: string } {
  if (rejection) return { reason: rejection.code, message: rejection.detail };
  if (state === 'expired') return reasonInWords('deadline_passed');
  if (state === 'cancelled' || (state === 'cancelling' && stop?.kind === 'cancelled')) {
    return {
      reason: 'cancelled',
      message: 'The submission was cancelled. Records finished before keep their outcome.',
    };
  }
  return {};
}

const reasonInWords = (reason: ReasonCode) => ({ reason, message: reasonOf(reason).customer });

/** A record of which nothing is known yet. */
export const pendingRecordView = (submissionId: string, recordNo: number): RecordView => ({
  submissionId,
  recordNo,
  state: 'pending',
  attempts: 0,
});

/** A record as customers see it. */
export function recordView(row: RecordRow): RecordView {
  const { submissionId, recordNo, state, storedState, reason, attempts, waitingOn, waitingUntilMs } = row;
  const isWaiting = state === 'retrying' || state === 'deferred';
  return {
    submissionId,
    recordNo,
    state: storedState ?? state,
    ...(reason !== undefined && { reason, message: messageOf(reason, row.detail) }),
    attempts,
    ...(isWaiting && waitingOn !== undefined && { waitingOn }),
    ...(isWaiting && waitingUntilMs !== undefined && { waitingUntil: iso(waitingUntilMs) }),
    updatedAt: iso(row.updatedAtMs),
    ...(state === 'succeeded' && { output: outputOf(row) }),
  };
}

const messageOf = (reason: ReasonCode, detail: string | undefined): string =>
  detail === undefined ? reasonOf(reason).customer : `${reasonOf(reason).customer} ${detail}`;

function outputOf({ recordId, answers }: RecordRow): Record<string, unknown> {
  const output: Record<string, unknown> = { record_id: recordId ?? null };
  for (const [provider, answer] of Object.entries(answers)) output[provider] = dataOf(answer) ?? null;
  return output;
}
