import { isPassingFailure } from '../errors.ts';
import { MAX_ATTEMPTS } from '../limits.ts';
import { isTerminal, type RecordRow, type StopOrder, type Submission } from '../model.ts';
import type { SubmissionStore } from '../submissions/ports.ts';
import type { Clock } from '../time.ts';
import { receivesOf, type Item } from './deliveries.ts';
import type { WorkerDeps } from './process-batch.ts';
import { fail, returnUnread, type Job, type Resolution, type Resolved } from './resolution.ts';

/** Heads of submissions, which say whether a submission was stopped. */
export interface HeadCache {
  /** The head, at most {@link MAX_HEAD_AGE_MS} old; `undefined` when there is none (any more). */
  get(submissionId: string): Promise<Submission | undefined>;
}

/** A record that is finished this long after its submission was cancelled keeps its outcome. */
const MAX_HEAD_AGE_MS = 3_000;
const MAX_HEADS = 100;

export function createHeadCache(submissions: Pick<SubmissionStore, 'get'>, clock: Clock): HeadCache {
  const entries = new Map<string, { readAtMs: number; submission: Submission }>();
  return {
    async get(submissionId) {
      const entry = entries.get(submissionId);
      const nowMs = clock.now();
      if (entry !== undefined && nowMs - entry.readAtMs < MAX_HEAD_AGE_MS) return entry.submission;
      const submission = await submissions.get(submissionId);
      entries.delete(submissionId);
      if (submission === undefined) return undefined;
      const [oldest] = entries.keys();
      if (entries.size >= MAX_HEADS && oldest !== undefined) entries.delete(oldest);
      entries.set(submissionId, { readAtMs: nowMs, submission });
      return submission;
    },
  };
}

export interface Triage {
  /** Records that need no work: what is stored about them decides. */
  resolved: Resolved[];
  jobs: Job[];
}

type TriageDeps = Pick<WorkerDeps, 'records' | 'heads' | 'clock' | 'random' | 'telemetry'>;

/** Waits that end within this time count as over: clocks differ, and a queue's delay is whole seconds. */
const SLACK_MS = 1_000;

/** Reads what is stored about a batch's records (one read for the rows, one per submission) and resolves those that need no work. */
export async function triage(deps: TriageDeps, items: readonly Item[]): Promise<Triage> {
  const rows = await attempt(deps, async () => readRows(deps, items));
  const result: Triage = { resolved: [], jobs: [] };
  const bySubmission = Map.groupBy(items, ({ message }) => message.submissionId);
  await Promise.all(
    [...bySubmission].map(async ([submissionId, group]) => {
      const head = await attempt(deps, async () => ({ submission: await deps.heads.get(submissionId) }));
      for (const item of group) {
        const known = rows !== undefined && head !== undefined;
        const decision = known
          ? decide(deps, item, rows.get(keyOf(item.message)), head.submission)
          : returnUnread(item, deps);
        if ('kind' in decision) result.resolved.push({ item, resolution: decision });
        else result.jobs.push(decision);
      }
    }),
  );
  return result;
}

const keyOf = ({ submissionId, recordNo }: { submissionId: string; recordNo: number }): string =>
  `${submissionId}#${recordNo}`;

async function readRows({ records }: TriageDeps, items: readonly Item[]): Promise<Map<string, RecordRow>> {
  const keys = items.map(({ message: { submissionId, recordNo } }) => ({ submissionId, recordNo }));
  const rows = keys.length === 0 ? [] : await records.getMany(keys);
  return new Map(rows.map((row) => [keyOf(row), row]));
}

/** A read that fails, for whatever reason, returns its records to the lane and no others. */
async function attempt<T>({ telemetry }: TriageDeps, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    telemetry.emit({ name: 'unexpected_error', level: isPassingFailure(error) ? 'warn' : 'error', error });
    return undefined;
  }
}

function decide(
  deps: TriageDeps,
  item: Item,
  row: RecordRow | undefined,
  submission: Submission | undefined,
): Resolution | Job {
  const { message } = item;
  const nowMs = deps.clock.now();
  if (submission === undefined || message.expiresAtSeconds * 1000 <= nowMs) {
    return { kind: 'discard', because: 'expired' };
  }
  if (row !== undefined && isSettled(row, message.generation)) return discardSettled(item, row);
  const job = toJob(item, row);
  const stop = stopOf(submission, message.generation);
  if (stop !== undefined) return stopped(deps, job, stop);
  if (row !== undefined && isSuperseded(item, row, nowMs)) return { kind: 'discard', because: 'superseded' };
  const { message: next } = job;
  const waitMs = (next.notBeforeMs ?? 0) - nowMs;
  if (waitMs <= SLACK_MS) return job;
  return { kind: 'return', reason: row?.reason ?? 'out_of_time', message: next, waitMs, carry: next };
}

/**
 * True for a message that a later one has superseded: the row has a wait that this message does not know of. Without this check,
 * copies of a waiting record would never die out. A message that was received before is not superseded: its worker may have ended
 * after it wrote the row and before it sent the next message.
 */
const isSuperseded = (item: Item, row: RecordRow, nowMs: number): boolean =>
  receivesOf(item) === 1 &&
  item.message.redelivered !== true &&
  row.generation === item.message.generation &&
  (row.waitingUntilMs ?? 0) > Math.max(item.message.notBeforeMs ?? 0, nowMs + SLACK_MS);

/** True when the record has its outcome, or belongs to a newer generation than this message. */
const isSettled = (row: RecordRow, generation: number): boolean =>
  row.state === 'succeeded' || row.generation > generation || (row.generation === generation && isTerminal(row.state));

function discardSettled(item: Item, stored: RecordRow): Resolution {
  const { attempt, generation } = item.message;
  // The worker that wrote this row did not acknowledge the message: it may not have sent the dead letter either.
  const deadLetterAgain =
    stored.state === 'dead_lettered' &&
    stored.generation === generation &&
    attempt >= MAX_ATTEMPTS &&
    receivesOf(item) > 1;
  return { kind: 'discard', because: stored.generation > generation ? 'stale' : 'settled', stored, deadLetterAgain };
}

/**
 * Updates the message with what the row says: an attempt that the row counts is not made again, and a wait on the row is kept,
 * since the worker that wrote it ended before it sent the next message. A message that was received before is marked as
 * `redelivered` when it is sent again, because its first worker may still be running.
 */
function toJob(item: Item, row: RecordRow | undefined): Job {
  const { redelivered: _earlier, ...rest } = item.message;
  const redelivered = receivesOf(item) > 1 ? ({ redelivered: true } as const) : {};
  const answers = { ...row?.answers, ...rest.answers };
  if (row === undefined) return { item, message: { ...rest, ...redelivered }, answers };
  const isSame = row.generation === rest.generation;
  const attempt = Math.max(rest.attempt, isSame ? row.attempts + 1 : 1);
  const notBeforeMs = Math.max(rest.notBeforeMs ?? 0, isSame ? (row.waitingUntilMs ?? 0) : 0);
  const wait = notBeforeMs > 0 ? { notBeforeMs } : {};
  return { item, message: { ...rest, attempt, ...wait, ...redelivered }, row, answers };
}

/** A replay lifts the stop order of the generation before it, also where this worker has an older head in its cache. */
function stopOf(submission: Submission, generation: number): StopOrder | undefined {
  return submission.generation >= generation ? submission.stop : undefined;
}

const stopped = (deps: TriageDeps, job: Job, { kind }: StopOrder): Resolution =>
  kind === 'cancelled'
    ? fail(job, deps, { reason: 'cancelled', state: 'cancelled', tried: false })
    : fail(job, deps, { reason: 'deadline_passed', tried: false });
