import { groupBy } from '../concurrency.ts';
import { isPassingFailure } from '../errors.ts';
import { MAX_ATTEMPTS } from '../limits.ts';
import { isTerminal, type RecordRow, type StopOrder, type Submission } from '../model.ts';
import type { WorkerDeps } from './deps.ts';
import { receivesOf, type Item } from './deliveries.ts';
import { fail, giveBack, type Job, type Resolution } from './resolution.ts';

/** One record and what is to become of it. */
export interface Resolved {
  item: Item;
  resolution: Resolution;
}

export interface Triage {
  /** Records that are decided by what is stored about them, without being looked into. */
  resolved: Resolved[];
  jobs: Job[];
}

type TriageDeps = Pick<WorkerDeps, 'records' | 'cache' | 'clock' | 'random' | 'telemetry'>;

/** Waits that end within this time are over: clocks differ, and a queue's delay is whole seconds. */
const SLACK_MS = 1_000;

/** Reads what is stored about a batch's records (one read for the rows, one per submission) and sorts out what needs no work. */
export async function triage(deps: TriageDeps, items: readonly Item[]): Promise<Triage> {
  const rows = await attempt(deps, async () => readRows(deps, items));
  const result: Triage = { resolved: [], jobs: [] };
  const submissions = groupBy(items, ({ message }) => message.submissionId);
  await Promise.all(
    submissions.map(async (group) => {
      const submissionId = group[0]?.message.submissionId ?? '';
      const head = await attempt(deps, async () => ({ submission: await deps.cache.get(submissionId) }));
      for (const item of group) {
        const known = rows !== undefined && head !== undefined;
        const decision = known
          ? decide(deps, item, rows.get(keyOf(item.message)), head.submission)
          : giveBack(item, deps);
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

/** Reads that fail, for whatever reason, give their records back and no others. */
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
  if (submission === undefined || message.expiresAtSeconds * 1000 <= deps.clock.now()) {
    return { kind: 'discard', because: 'expired' };
  }
  if (row !== undefined && isOver(row, message.generation)) return overtaken(item, row);
  const job = toJob(item, row);
  const stop = stopOf(submission, message.generation);
  if (stop !== undefined) return stopped(deps, job, stop);
  if (row !== undefined && isLeftBehind(item, row, deps.clock.now())) return { kind: 'discard', because: 'copy' };
  const { message: again } = job;
  const waitMs = (again.notBeforeMs ?? 0) - deps.clock.now();
  if (waitMs <= SLACK_MS) return job;
  return { kind: 'return', reason: row?.reason ?? 'out_of_time', message: again, waitMs, carry: again };
}

/**
 * True for a copy of a message that has had a successor: the row announces a wait that this message does not know of. Without
 * this, copies of a record that waits would never die out. A message that was received before may be the one whose
 * worker ended between row and successor: it goes on.
 */
const isLeftBehind = (item: Item, row: RecordRow, nowMs: number): boolean =>
  receivesOf(item) === 1 &&
  item.message.redelivered !== true &&
  row.generation === item.message.generation &&
  (row.waitingUntilMs ?? 0) > Math.max(item.message.notBeforeMs ?? 0, nowMs + SLACK_MS);

/** True when the record has its outcome, or belongs to a newer generation than this message. */
const isOver = (row: RecordRow, generation: number): boolean =>
  row.state === 'succeeded' || row.generation > generation || (row.generation === generation && isTerminal(row.state));

function overtaken(item: Item, stored: RecordRow): Resolution {
  const { attempt, generation } = item.message;
  // Its last delivery wrote the row, but could not be acknowledged: perhaps it did not get to the dead-letter queue either.
  const deadLetterAgain =
    stored.state === 'dead_lettered' &&
    stored.generation === generation &&
    attempt >= MAX_ATTEMPTS &&
    receivesOf(item) > 1;
  return { kind: 'discard', because: stored.generation > generation ? 'stale' : 'settled', stored, deadLetterAgain };
}

/**
 * Brings the message up to what the row says. An attempt that it counts as failed is not made again, and the wait that it
 * announces is kept: the worker that wrote it ended before it sent the next message. What was received before keeps saying
 * so as a new message, because that worker may still be at it.
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

/** A replay lifts the stop order of the generation before it, also where this worker remembers an older head. */
function stopOf(submission: Submission, generation: number): StopOrder | undefined {
  return submission.generation >= generation ? submission.stop : undefined;
}

const stopped = (deps: TriageDeps, job: Job, { kind }: StopOrder): Resolution =>
  kind === 'cancelled'
    ? fail(job, deps, { reason: 'cancelled', state: 'cancelled', tried: false })
    : fail(job, deps, { reason: 'deadline_passed', tried: false });
