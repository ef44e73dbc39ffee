import { SETTLE_RESERVE_MS } from '../limits.ts';
import type { Delivery } from '../queues/ports.ts';
import type { TimeBudget } from '../time.ts';
import { acknowledge } from './acknowledge.ts';
import { complete } from './complete.ts';
import { readBatch } from './deliveries.ts';
import type { WorkerDeps } from './deps.ts';
import { deadLetterUnreadable } from './park.ts';
import { defer, type Job } from './resolution.ts';
import { isSuspect, spare, toBeSpared, workSuspects } from './suspects.ts';
import { triage, type Resolved } from './triage.ts';
import { workJobs } from './work.ts';

/**
 * Works one batch of deliveries of a lane: every record gets its outcome, or goes back to the lane as a new message, before
 * this returns.
 *
 * @returns ids of the messages that must be delivered again, because they could be neither finished nor sent again; all
 * others are to be acknowledged.
 */
export async function processBatch(
  deps: WorkerDeps,
  deliveries: readonly Delivery[],
  budget: TimeBudget,
): Promise<string[]> {
  const { items, unreadable } = readBatch(deliveries);
  const redeliver = await deadLetterUnreadable(deps, unreadable);
  const { resolved, jobs } = await triage(deps, items);
  const spared = toBeSpared(jobs);
  const decided = [...resolved, ...spared.map((job) => ({ item: job.item, resolution: spare(deps, job) }))];
  addAll(redeliver, await complete(deps, decided));
  // From here on anything may end this worker: who would pay for it with its last receive must be out of reach.
  if (spared.length > 0) await acknowledge(deps, decided.flatMap(deliveriesOf), redeliver);

  const open = jobs.filter((job) => !spared.includes(job));
  const first = open.filter((job) => !isSuspect(job));
  addAll(redeliver, await complete(deps, await workInTime(deps, first, budget)));

  const suspects = open.filter(isSuspect);
  if (suspects.length > 0) {
    const held = new Set(suspects.flatMap(({ item }) => item.deliveries));
    await acknowledge(
      deps,
      deliveries.filter((delivery) => !held.has(delivery)),
      redeliver,
    );
    addAll(redeliver, await workSuspects(deps, suspects, budget));
  }
  return [...new Set([...redeliver].map(({ messageId }) => messageId))];
}

async function workInTime(deps: WorkerDeps, jobs: readonly Job[], budget: TimeBudget): Promise<Resolved[]> {
  if (budget.remainingMs() >= SETTLE_RESERVE_MS) return workJobs(deps, jobs, budget);
  return jobs.map((job) => ({ item: job.item, resolution: defer(job, deps, { reason: 'out_of_time' }) }));
}

const deliveriesOf = ({ item }: Resolved): readonly Delivery[] => item.deliveries;

function addAll<T>(target: Set<T>, values: Iterable<T>): void {
  for (const value of values) target.add(value);
}
