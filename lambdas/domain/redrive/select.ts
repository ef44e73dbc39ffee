import { reasonAt } from '../ledger/ledger.ts';
import {
  type LedgerChunk,
  type RecordRow,
  type Submission,
  isOpen,
  isTerminal,
  offsetOf,
  recordNoAt,
} from '../model.ts';
import { stoppedRow } from '../ledger/stopped-row.ts';
import { reasonOf } from '../reasons.ts';
import type { RedriveRequest } from './request.ts';
import type { RedriveDeps, Skip } from './run.ts';

/** Whether a submission is one that the request means; a reason when it is, but cannot be replayed now. */
export function submissionFits(
  { clock, settings }: RedriveDeps,
  submission: Submission,
  { tenantId, lane, finishedAfter }: RedriveRequest,
): boolean | Skip {
  const { state, stop, generation, updatedAtMs, expiresAtSeconds } = submission;
  if (tenantId !== undefined && submission.tenantId !== tenantId) return false;
  if (lane !== undefined && submission.lane !== lane) return false;
  // A record cannot have finished after its submission was last touched.
  if (finishedAfter !== undefined && !isOpen(state) && updatedAtMs < finishedAfter) return false;
  if (state === 'rejected' || (submission.lane === undefined && generation === 0)) return false;
  if (state === 'finalizing' || (isOpen(state) && stop !== undefined)) return 'busy';
  if (expiresAtSeconds * 1000 - clock.now() < settings.expiryMarginMs) return 'expiring';
  return true;
}

/** Failed records of one chunk. */
export interface Selection {
  rows: RecordRow[];
  /** What is stored of them, by record number: nothing of those that only the ledger has ended. */
  stored: ReadonlyMap<number, RecordRow>;
  /** The record at which to go on, where more than were asked for may be replayed. */
  nextRecordNo?: number;
}

/** Hears of what the request means, but may not be replayed. */
export interface SkipCounter {
  skipped(why: Skip): void;
}

/**
 * The failed records of one chunk that the request means and that may be replayed, from `firstRecordNo` on and at most `max`. Those
 * that may not are told to `skips`.
 */
export async function selectInChunk(
  deps: Pick<RedriveDeps, 'records'>,
  submission: Submission,
  chunk: LedgerChunk,
  request: RedriveRequest,
  {
    firstRecordNo,
    max,
    only,
    skips,
  }: { firstRecordNo: number; max: number; only: (row: RecordRow) => boolean; skips: SkipCounter },
): Promise<Selection> {
  const { submissionId } = submission;
  const offsets = new Set(
    [...chunk.failed.values(), ...(wantsCancelled(request) ? [chunk.cancelled] : [])].flatMap((set) => [...set]),
  );
  const keys = [...offsets]
    .filter((offset) => !chunk.succeeded.has(offset) && mayFit(chunk, offset, request))
    .map((offset) => ({ submissionId, recordNo: recordNoAt(chunk.chunk, offset) }))
    .filter(({ recordNo }) => recordNo >= firstRecordNo);
  const found = keys.length === 0 ? [] : await deps.records.getMany(keys);
  const stored = new Map(found.map((row) => [row.recordNo, row]));
  const ended = keys.flatMap(({ recordNo }) => {
    const row = stored.get(recordNo);
    return stoppedRow(submission, chunk, offsetOf(recordNo), row) ?? row ?? [];
  });
  const rows: RecordRow[] = [];
  for (const row of ended.toSorted((a, b) => a.recordNo - b.recordNo)) {
    if (!rowFits(row, request) || !only(row)) continue;
    const skip = whyNot(row, request);
    if (skip !== undefined) skips.skipped(skip);
    else if (rows.length === max) return { rows, stored, nextRecordNo: row.recordNo };
    else rows.push(row);
  }
  return { rows, stored };
}

const wantsCancelled = ({ reason }: RedriveRequest): boolean => reason?.includes('cancelled') === true;

function mayFit(chunk: LedgerChunk, offset: number, { reason }: RedriveRequest): boolean {
  if (reason === undefined) return true;
  const counted = reasonAt(chunk, offset) ?? 'cancelled';
  return reason.includes(counted);
}

/** True for a record that an earlier redrive reopened, and that died before its ledger was told: it is taken up again. */
export const isHalfReopened = (row: RecordRow): boolean => row.state === 'retrying' && row.reason === 'redriven';

export function rowFits(row: RecordRow, request: RedriveRequest): boolean {
  const { reason, provider, finishedAfter = 0, finishedBefore = Infinity } = request;
  if (isHalfReopened(row)) return true;
  if (!isTerminal(row.state) || row.state === 'succeeded' || row.reason === undefined) return false;
  if (reason !== undefined && !reason.includes(row.reason)) return false;
  if (provider !== undefined && row.answers[provider] !== undefined) return false;
  return row.updatedAtMs >= finishedAfter && row.updatedAtMs <= finishedBefore;
}

export function whyNot(
  row: RecordRow,
  { force, maxRedrives }: Pick<RedriveRequest, 'force' | 'maxRedrives'>,
): Skip | undefined {
  if (isHalfReopened(row)) return undefined;
  if (row.redrives >= maxRedrives) return 'exhausted';
  return force || (row.reason && reasonOf(row.reason).replayHelps) ? undefined : 'not_helpful';
}
