import { MAX_RECEIVE_COUNT, SETTLE_RESERVE_MS } from '../limits.ts';
import { isTerminal, type RecordRow } from '../model.ts';
import type { Delivery } from '../ports.ts';
import type { Random, TimeBudget } from '../time.ts';
import type { WorkerDeps } from './deps.ts';
import { receivesOf } from './deliveries.ts';
import { defer, handBack, rowOf, type Job, type Resolution } from './resolution.ts';
import { complete } from './complete.ts';
import { acknowledge } from './acknowledge.ts';
import { tellSuspect } from './tell.ts';
import { workJobs } from './work.ts';

/*
 * A worker that dies takes every record of its batch with it, and SQS counts one receive for each. From the second receive on a
 * record is a suspect: it runs alone, after a mark on its row that says at which receive. What is found dead later
 * with the mark of its last receive has killed its worker alone; everything else was a neighbour.
 */

/** True for a job whose worker ended before it was done. */
export const isSuspect = ({ item }: Job): boolean => receivesOf(item) > 1;

/**
 * True when the record was started alone at the receive before this one or at a later one, and never heard of again. A later one is another
 * copy's: two copies of a killer would otherwise hide each other's marks for ever.
 */
const ranAloneLast = ({ item, row }: Job): boolean => (row?.aloneReceives ?? 0) >= receivesOf(item) - 1;

/**
 * True for a suspect that would go to the dead-letter queue if this worker died now, although it has not been caught: it must
 * come back as a new message before anything is risked.
 */
export const mustBeSpared = (job: Job): boolean => receivesOf(job.item) >= MAX_RECEIVE_COUNT && !ranAloneLast(job);

/**
 * Whether a row in the dead-letter queue by SQS's redrive policy proves that this very record killed its worker: it was
 * started alone at its last receive, and at the one before. Others may be sent again.
 */
export const isProvenCrash = (row: Pick<RecordRow, 'state' | 'aloneReceives'> | undefined): boolean =>
  row !== undefined && !isTerminal(row.state) && (row.aloneReceives ?? 0) >= MAX_RECEIVE_COUNT;

/** Brings a suspect back as a new message: its count of receives starts again. */
export const spare = (deps: WorkerDeps, job: Job): Resolution => defer(job, deps, { reason: 'out_of_time' });

/**
 * Runs suspects one at a time, each finished and acknowledged before the next begins: first those that were never
 * started alone (whoever is innocent gets through before a known killer runs), then the others.
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

function inOrder(suspects: readonly Job[], random: Random): Job[] {
  const isMarked = ({ row }: Job): boolean => row?.aloneReceives !== undefined;
  return [
    ...shuffled(
      suspects.filter((job) => !isMarked(job)),
      random,
    ),
    ...shuffled(suspects.filter(isMarked), random),
  ];
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

async function workAlone(deps: WorkerDeps, job: Job, budget: TimeBudget): Promise<Resolution> {
  const slowestCallMs = Math.max(0, ...deps.apis.map(({ config }) => config.timeoutMs));
  if (budget.remainingMs() < slowestCallMs + 2 * SETTLE_RESERVE_MS) return defer(job, deps, { reason: 'out_of_time' });
  const marked = await mark(deps, job);
  if (marked.kind !== 'marked') return marked;
  tellSuspect(deps, job.item);
  const [resolved] = await workJobs(deps, [job], budget);
  return resolved?.resolution ?? handBack(job, deps);
}

async function mark(deps: WorkerDeps, job: Job): Promise<{ kind: 'marked' } | Resolution> {
  const row = rowOf(job, deps.clock, {
    state: 'retrying',
    reason: 'worker_crashed',
    detail: 'A worker ended while it held this record; it is tried alone.',
    attempts: job.message.attempt - 1,
    // Never lower: whoever was heard of since has no mark any more.
    aloneReceives: Math.max(job.row?.aloneReceives ?? 0, receivesOf(job.item)),
  });
  try {
    const { applied, stored } = await deps.records.put(row);
    return applied ? { kind: 'marked' } : { kind: 'discard', because: 'settled', stored };
  } catch (error) {
    deps.telemetry.emit({ name: 'unexpected_error', level: 'warn', error });
    return handBack(job, deps);
  }
}
