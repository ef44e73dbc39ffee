import { isolatedRunMs, MAX_RECEIVE_COUNT } from '../limits.ts';
import { isTerminal, type RecordRow } from '../model.ts';
import type { Delivery } from '../queues/ports.ts';
import type { Random, TimeBudget } from '../time.ts';
import { complete, type BatchTime } from './complete.ts';
import { logFieldsOf, receivesOf } from './deliveries.ts';
import { enrich } from './enrich.ts';
import type { WorkerDeps } from './process-batch.ts';
import { defer, returnUnwritten, rowOf, type Job, type Resolution } from './resolution.ts';

/*
 * Crash isolation. A worker that crashes takes all records of its batch with it, and SQS counts one receive for each. From the
 * second receive on a record is isolated: it runs alone, after `isolatedReceives` on its row was raised. The row of a record that
 * crashes its worker reaches a count of one per receive after the first. A record that was only in the same batch, or whose worker
 * was stopped from outside, loses the count as soon as it is processed. Until then it stays isolated, also when it is sent again
 * as a new message with a receive count of 1: the count on its row, or the message, says so.
 */

/** Isolated receives without a result that prove that the record crashes its worker. */
const CRASH_PROOF_RECEIVES = MAX_RECEIVE_COUNT - 1;

const isolatedReceivesOf = (row: Pick<RecordRow, 'isolatedReceives'> | undefined): number => row?.isolatedReceives ?? 0;

/** True for a record that must run alone, because a worker crashed while it held it and it was not processed since. */
export const isIsolated = ({ item, row }: Job): boolean => {
  const { redelivered, platformRetries = 0, generation } = item.message;
  // Sent again because its row could not be read or written: nothing but the message remembers the crash.
  const wasReturnedUnprocessed = redelivered === true && platformRetries > 0;
  const isCounted = row?.isolatedReceives !== undefined && row.generation === generation;
  return receivesOf(item) > 1 || wasReturnedUnprocessed || isCounted;
};

/**
 * Jobs on their last receive: a crash of this worker would send them to the dead-letter queue without proof against them, so they
 * are sent again as new messages before anything else runs. One that lacks only the last proof stays, to be proven.
 */
export function onLastReceive(jobs: readonly Job[]): Job[] {
  const last = jobs.filter(({ item }) => receivesOf(item) >= MAX_RECEIVE_COUNT);
  const [nearlyProven] = last
    .filter(({ row }) => isolatedReceivesOf(row) >= CRASH_PROOF_RECEIVES - 1)
    .toSorted(byIsolatedReceives)
    .toReversed();
  return last.filter((job) => job !== nearlyProven);
}

const byIsolatedReceives = (a: Job, b: Job): number => isolatedReceivesOf(a.row) - isolatedReceivesOf(b.row);

/** Whether a row proves that its record crashes workers. Every other dead letter may be sent again. */
export const isProvenCrash = (row: Pick<RecordRow, 'state' | 'isolatedReceives'> | undefined): boolean =>
  row !== undefined && !isTerminal(row.state) && isolatedReceivesOf(row) >= CRASH_PROOF_RECEIVES;

/** Sends the record again as a new message, whose receive count starts at 1, and keeps the count on its row: it stays isolated. */
export function requeueBeforeDlq(deps: WorkerDeps, job: Job): Resolution {
  const resolution = defer(job, deps, { reason: 'out_of_time' });
  if (resolution.kind !== 'return' || resolution.row === undefined) return resolution;
  return { ...resolution, row: { ...resolution.row, isolatedReceives: isolatedReceivesOf(job.row) } };
}

/**
 * Acknowledges deliveries now instead of at the end of the invocation, except those that are to be delivered again. A delivery that
 * cannot be deleted now is deleted with the rest of the batch, or delivered again and found to be done.
 */
export async function acknowledge(
  { acknowledger, telemetry }: Pick<WorkerDeps, 'acknowledger' | 'telemetry'>,
  deliveries: readonly Delivery[],
  redeliver: ReadonlySet<Delivery>,
): Promise<void> {
  const done = deliveries.filter((delivery) => !redeliver.has(delivery));
  if (done.length === 0) return;
  try {
    await acknowledger.acknowledge(done);
  } catch (error) {
    telemetry.emit({ name: 'unexpected_error', level: 'warn', error, count: done.length });
  }
}

/**
 * Runs isolated records one at a time, each finished and acknowledged before the next starts. Records with fewer isolated
 * receives run first, so that they are done before a record that is known to crash its worker.
 *
 * @returns the deliveries that must not be acknowledged.
 */
export async function workIsolated(
  deps: WorkerDeps,
  jobs: readonly Job[],
  budget: TimeBudget,
  time: BatchTime,
): Promise<Set<Delivery>> {
  const redeliver = new Set<Delivery>();
  for (const job of inOrder(jobs, deps.random)) {
    const { item } = job;
    const resolution = await workAlone(deps, job, budget);
    const failed = await complete(deps, [{ item, resolution }], time);
    for (const delivery of failed) redeliver.add(delivery);
    await acknowledge(deps, item.deliveries, redeliver);
  }
  return redeliver;
}

/** Equal counts are shuffled, so that no record waits behind the same crashing one every time. */
const inOrder = (jobs: readonly Job[], random: Random): Job[] => shuffled(jobs, random).toSorted(byIsolatedReceives);

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

async function workAlone(deps: WorkerDeps, job: Job, budget: TimeBudget): Promise<Resolution> {
  const slowestCallMs = Math.max(0, ...deps.apis.map(({ config }) => config.timeoutMs));
  if (budget.remainingMs() < isolatedRunMs(slowestCallMs)) return requeueBeforeDlq(deps, job);
  const counted = await countReceive(deps, job);
  if (counted.kind !== 'counted') return counted;
  const fields = logFieldsOf(deps, job.message);
  deps.telemetry.emit({ name: 'isolated_run_started', level: 'warn', ...fields, count: receivesOf(job.item) });
  const { row } = counted;
  const [resolved] = await enrich(deps, [{ ...job, row, answers: { ...row.answers, ...job.answers } }], budget);
  return resolved?.resolution ?? returnUnwritten(job, deps);
}

async function countReceive(deps: WorkerDeps, job: Job): Promise<{ kind: 'counted'; row: RecordRow } | Resolution> {
  const row = rowOf(job, deps.clock, {
    state: 'retrying',
    reason: 'worker_crashed',
    detail: 'A worker ended while it held this record; it is tried alone.',
    attempts: job.message.attempt - 1,
    isolatedReceives: isolatedReceivesOf(job.row) + 1,
  });
  try {
    const { applied, stored } = await deps.records.put(row, job.row);
    return applied ? { kind: 'counted', row: stored } : { kind: 'discard', because: 'settled', stored };
  } catch (error) {
    deps.telemetry.emit({ name: 'unexpected_error', level: 'warn', ...logFieldsOf(deps, job.message), error });
    return returnUnwritten(job, deps);
  }
}
