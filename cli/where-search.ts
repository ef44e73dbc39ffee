import type { Submission } from '../lambdas/domain/model.ts';
import type { RecordStore } from '../lambdas/domain/records/ports.ts';
import type { SubmissionStore } from '../lambdas/domain/submissions/ports.ts';
import { UsageError } from './usage.ts';

const DAY_MS = 86_400_000;
const PAGE = 100;
/** Rows that are asked for at once. */
const ROWS = 1_000;

export interface SubmissionSearch {
  tenantId: string;
  /** Begin of the day in UTC, epoch milliseconds. */
  day: number;
  /** A part of the file name or of the reference, in any case. */
  file?: string;
}

/**
 * Reads a day in UTC; answers its begin in epoch milliseconds.
 *
 * @throws UsageError
 */
export function readDay(text: string, nowMs: number): number {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  if (text === 'today') return today;
  if (text === 'yesterday') return today - DAY_MS;
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(day)) throw new UsageError(`--day is ${text}: set a day like 2026-01-31, today or yesterday.`);
  return day;
}

/** Submissions of a tenant that were accepted on a day, newest first, and the ids of those that cannot be read. */
export async function findSubmissions(
  submissions: Pick<SubmissionStore, 'listByTenant'>,
  { tenantId, day, file = '' }: SubmissionSearch,
): Promise<{ found: Submission[]; unreadable: string[] }> {
  const found: Submission[] = [];
  const unreadable: string[] = [];
  const wanted = file.toLowerCase();
  let cursor: string | undefined;
  do {
    const page = await submissions.listByTenant({ tenantId, limit: PAGE, ...(cursor !== undefined && { cursor }) });
    for (const submission of page.items) {
      const { createdAtMs, fileName = '', reference = '' } = submission;
      const isThatDay = createdAtMs >= day && createdAtMs < day + DAY_MS;
      if (isThatDay && [fileName, reference].some((name) => name.toLowerCase().includes(wanted)))
        found.push(submission);
    }
    unreadable.push(...page.unreadable.map(({ submissionId }) => submissionId));
    // The list is newest first: what is older than the day ends it.
    const oldestMs = page.items.at(-1)?.createdAtMs ?? Infinity;
    cursor = oldestMs < day ? undefined : page.nextCursor;
  } while (cursor !== undefined);
  return { found, unreadable };
}

/** Numbers of the records that the customer calls so: those of which a row tells. */
export async function findRecord(
  records: Pick<RecordStore, 'getMany'>,
  { submissionId, fanOut }: Submission,
  recordId: string,
): Promise<number[]> {
  const found: number[] = [];
  for (let first = 1; first <= fanOut.records; first += ROWS) {
    const count = Math.min(ROWS, fanOut.records - first + 1);
    const keys = Array.from({ length: count }, (_, index) => ({ submissionId, recordNo: first + index }));
    const rows = await records.getMany(keys);
    found.push(...rows.filter((row) => row.recordId === recordId).map(({ recordNo }) => recordNo));
  }
  return found.toSorted((a, b) => a - b);
}
