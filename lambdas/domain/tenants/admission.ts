import type { Backlog, OpenWork } from './ports.ts';

/*
 * Refusing early beats hiding a backlog. The limits are soft: a file counts with an estimate until fan-out has counted it, the
 * whole system's backlog is a snapshot of up to a minute ago, and submissions at the same moment do not see each other.
 */

/** Bytes of a short record: an estimate from them errs to the side of too many. */
const BYTES_PER_RECORD = 300;
/** An older snapshot says that nobody makes them any more, not that the system is busy. */
const MAX_BACKLOG_AGE_MS = 600_000;
const MIN_RETRY_SECONDS = 10;
const MAX_RETRY_SECONDS = 3_600;

export interface AdmissionLimits {
  maxOpenRecordsPerTenant: number;
  maxOpenSubmissionsPerTenant: number;
  /** Of all tenants together. */
  maxOpenRecords: number;
}

export interface AdmissionInput {
  /** What the tenant has open, without the submission that asks. */
  open: readonly OpenWork[];
  backlog: Backlog | undefined;
  /** Records that would be added, as far as is known. */
  records: number;
  limits: AdmissionLimits;
  /** Records that the whole system finishes per second. */
  pacePerSecond: number;
  nowMs: number;
}

export type Admission =
  | { admitted: true }
  | {
      admitted: false;
      code: 'too_many_open_submissions' | 'too_many_open_records' | 'system_busy';
      detail: string;
      retryAfterSeconds: number;
    };

/** Records of a file that nobody has counted: by its size and by what its customer believes. */
export const estimateRecords = (sizeBytes: number, expectedRecords: number | undefined, maxRecords: number): number =>
  Math.min(maxRecords, Math.max(Math.ceil(sizeBytes / BYTES_PER_RECORD), expectedRecords ?? 0));

/** Records in a body that is at hand, at most: its lines, or the openings of its objects where it has hardly any lines. */
export function countRecords(body: Uint8Array): number {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const count = (character: string): number => {
    let found = 0;
    for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) found += 1;
    return found;
  };
  const isJsonArray = /^[\s\uFEFF]*\[/.test(text.subarray(0, 100).toString('utf8'));
  return 1 + (isJsonArray ? count('{') || count(',') : count('\n') || count('\r'));
}

/**
 * Decides whether a submission is taken on now. A file that is larger than a limit by itself is taken on when nothing else is
 * open: it would have no other chance.
 */
export function admit(input: AdmissionInput): Admission {
  const { open, limits, records } = input;
  if (open.length >= limits.maxOpenSubmissionsPerTenant) {
    const smallest = Math.min(...open.map((work) => work.records));
    return refuse('too_many_open_submissions', smallest, input, tenantDetail(open.length, 'submissions'));
  }
  const openRecords = open.reduce((sum, work) => sum + work.records, 0);
  const excess = openRecords + records - limits.maxOpenRecordsPerTenant;
  if (openRecords > 0 && excess > 0) {
    return refuse('too_many_open_records', Math.min(excess, openRecords), input, tenantDetail(openRecords, 'records'));
  }
  const everything = recentBacklog(input);
  const overload = everything + records - limits.maxOpenRecords;
  if (everything > 0 && overload > 0) return refuse('system_busy', Math.min(overload, everything), input, BUSY);
  return { admitted: true };
}

function recentBacklog({ backlog, nowMs }: AdmissionInput): number {
  if (backlog === undefined || nowMs - backlog.asOfMs > MAX_BACKLOG_AGE_MS) return 0;
  return backlog.openRecords.small + backlog.openRecords.bulk;
}

const BUSY = 'Submissions of all customers together are more than can be worked on soon. Submit it again later.';

const tenantDetail = (open: number, what: 'records' | 'submissions'): string =>
  `${open} ${what} of yours are still open. Submit it again when some of them are finished, or cancel a submission.`;

/** Comes back when so many records are finished, as fast as providers allow. */
function refuse(
  code: Exclude<Admission, { admitted: true }>['code'],
  recordsInTheWay: number,
  { pacePerSecond }: AdmissionInput,
  detail: string,
): Admission {
  const seconds = Math.ceil(recordsInTheWay / pacePerSecond);
  const retryAfterSeconds = Math.min(Math.max(seconds, MIN_RETRY_SECONDS), MAX_RETRY_SECONDS);
  return { admitted: false, code, detail, retryAfterSeconds };
}
