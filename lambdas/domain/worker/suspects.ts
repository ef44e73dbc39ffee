import { MAX_RECEIVE_COUNT, SETTLE_RESERVE_MS } from '../limits.ts';
import { isTerminal, type RecordRow } from '../model.ts';
import type { Delivery } from '../queues/ports.ts';
import type { Random, TimeBudget } from '../time.ts';
import type { WorkerDeps } from './deps.ts';
import { receivesOf } from './deliveries.ts';
import { defer, handBack, rowOf, type Job, type Resolution } from './resolution.ts';
import { complete } from './complete.ts';
import { acknowledge } from './acknowledge.ts';
import { aboutMessage, logSuspect } from './log.ts';
import { workJobs } from './work.ts';

/*
 * A worker that dies takes every record of its batch with it, and SQS counts one receive for each. From the second receive on a
 * record is a suspect: it runs alone, after a mark on its row that counts how often it was started so and not heard of
 * again. A record that kills its worker collects such marks at every receive but the first; a neighbour, or one whose worker was
 * ended from outside, loses them as soon as it has been worked.
 */

/** Marks that prove a record to kill its worker. */
const PROOF = MAX_RECEIVE_COUNT - 1;

const marksOf = (row: Pick<RecordRow, 'isolatedReceives'> | undefined): number => row?.isolatedReceives ?? 0;

/** True for a job whose worker ended before it was done. */
export const isSuspect = ({ item }: Job): boolean => receivesOf(item) > 1;

/**
 * Suspects that would go to the dead-letter queue if this worker died now, although nothing is proven against them: they
 * must come back as new messages before anything is risked. One of those that lack but one mark is left to be proven.
 */
export function toBeSpared(jobs: readonly Job[]): Job[] {
  const last = jobs.filter(({ item }) => receivesOf(item) >= MAX_RECEIVE_COUNT);
  const [accused] = last
    .filter(({ row }) => marksOf(row) >= PROOF - 1)
    .toSorted(byMarks)
    .toReversed();
  return last.filter((job) => job !== accused);
}

const byMarks = (a: Job, b: Job): number => marksOf(a.row) - marksOf(b.row);

/** Whether a row proves that this very record kills its worker. Whatever else lies in the dead-letter queue may be sent again. */
export const isProvenCrash = (row: Pick<RecordRow, 'state' | 'isolatedReceives'> | undefined): boolean =>
  row !== undefined && !isTerminal(row.state) && marksOf(row) >= PROOF;

/** Brings a suspect back as a new message, with its marks: its count of receives starts again. */
export function spare(deps: WorkerDeps, job: Job): Resolution {
  const resolution = defer(job, deps, { reason: 'out_of_time' });
  const isolatedReceives = job.row?.isolatedReceives;
  if (resolution.kind !== 'return' || resolution.row === undefined || isolatedReceives === undefined) return resolution;
  return { ...resolution, row: { ...resolution.row, isolatedReceives } };
}

/**
 * Runs suspects one at a time, each finished and acknowledged before the next begins: first those that have
 * fewer marks, so that whoever is innocent gets through before a known killer runs.
 *
 * @returns the deliveries that must not be acknowledged.
 */
export async function workSuspects(
  deps: WorkerDeps,
  suspects: readonly Job[],
  budget: TimeBudget,
): Promise<Set<Delivery>> {
  const redeliver = new Set<Delivery>();
  for (const job of inOrder(suspects, deps.random)) {
    const { item } = job;
    const resolution = await workAlone(deps, job, budget);
    const failed = await complete(deps, [{ item, resolution }]);
    for (const delivery of failed) redeliver.add(delivery);
    await acknowledge(deps, item.deliveries, redeliver);
  }
  return redeliver;
}

/** Of equals, chance decides: nobody is to wait behind the same killer every time. */
const inOrder = (suspects: readonly Job[], random: Random): Job[] => shuffled(suspects, random).toSorted(byMarks);

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

async function workAlone(deps: WorkerDeps, job: Job, budget: TimeBudget): Promise<Resolution> {
  const slowestCallMs = Math.max(0, ...deps.apis.map(({ config }) => config.timeoutMs));
  if (budget.remainingMs() < slowestCallMs + 2 * SETTLE_RESERVE_MS) return spare(deps, job);
  const marked = await mark(deps, job);
  if (marked.kind !== 'marked') return marked;
  logSuspect(deps, job.item);
  const { row } = marked;
  const [resolved] = await workJobs(deps, [{ ...job, row, answers: { ...row.answers, ...job.answers } }], budget);
  return resolved?.resolution ?? handBack(job, deps);
}

async function mark(deps: WorkerDeps, job: Job): Promise<{ kind: 'marked'; row: RecordRow } | Resolution> {
  const row = rowOf(job, deps.clock, {
    state: 'retrying',
    reason: 'worker_crashed',
    detail: 'A worker ended while it held this record; it is tried alone.',
    attempts: job.message.attempt - 1,
    isolatedReceives: marksOf(job.row) + 1,
  });
  try {
    const { applied, stored } = await deps.records.put(row, job.row);
    return applied ? { kind: 'marked', row: stored } : { kind: 'discard', because: 'settled', stored };
  } catch (error) {
    deps.telemetry.emit({ name: 'unexpected_error', level: 'warn', ...aboutMessage(deps, job.message), error });
    return handBack(job, deps);
  }
}
