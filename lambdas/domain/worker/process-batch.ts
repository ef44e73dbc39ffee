import { SETTLE_RESERVE_MS, WRITE_RESERVE_MS } from '../limits.ts';
import type { SettleDeps } from '../ledger/settlement.ts';
import type { Lane } from '../model.ts';
import type { AskOnceDeps } from '../providers/ask-once.ts';
import type { ProviderConfig } from '../providers/config.ts';
import { prepareProviders, type Provider } from '../providers/provider.ts';
import { handBack } from '../queues/hand-back.ts';
import type { Delivery, QueueAcknowledger, QueueSender } from '../queues/ports.ts';
import { createRecordValidator } from '../records/validation.ts';
import { AcceptedSchemas, schemaSetOf } from '../submissions/schemas.ts';
import type { SubmissionStore } from '../submissions/ports.ts';
import type { TimeBudget } from '../time.ts';
import { complete } from './complete.ts';
import { deadLetterUnreadable, readBatch } from './deliveries.ts';
import { enrich } from './enrich.ts';
import { acknowledge, isIsolated, onLastReceive, requeueBeforeDlq, workIsolated } from './isolation.ts';
import { defer, type Job, type Resolved } from './resolution.ts';
import { triage } from './triage.ts';

/** What a worker is given: the ports of its lane. */
export interface WorkerPorts extends SettleDeps, AskOnceDeps {
  submissions: SubmissionStore;
  lane: Lane;
  laneQueue: QueueSender;
  deadLetterQueue: QueueSender;
  acknowledger: QueueAcknowledger;
}

/** A worker's ports with everything that is prepared once per process. */
export interface WorkerDeps extends WorkerPorts {
  /** The third-party APIs that every record is enriched by. */
  apis: readonly Provider[];
  schemas: AcceptedSchemas;
}

/**
 * Compiles schemas and prepares providers, once per process.
 *
 * @throws InvalidDataError for a configuration that cannot work.
 */
export function prepareWorker(
  ports: WorkerPorts,
  config: {
    providers: readonly ProviderConfig[];
    /** Calls that this process may have open at the same time, for providers that limit them. */
    callsPerWorker?: Readonly<Record<string, number>>;
    recordSchema: Readonly<Record<string, unknown>>;
  },
): WorkerDeps {
  // A schema that cannot be used stops the start, and not the first record.
  createRecordValidator(config.recordSchema);
  return {
    ...ports,
    apis: prepareProviders(config.providers, config.callsPerWorker),
    schemas: new AcceptedSchemas(ports.submissions, schemaSetOf(config.recordSchema, config.providers)),
  };
}

/**
 * Processes one batch of deliveries of a lane. When this returns, every record has its outcome or was sent to the lane again as
 * a new message.
 *
 * @returns ids of the messages that must be delivered again, because they could be neither finished nor sent again; all
 * others are to be acknowledged.
 */
export async function processBatch(
  deps: WorkerDeps,
  deliveries: readonly Delivery[],
  budget: TimeBudget,
): Promise<string[]> {
  const time = { startedAtMs: deps.clock.now(), hasTime: (): boolean => budget.remainingMs() >= WRITE_RESERVE_MS };
  const { items, unreadable, newer } = readBatch(deliveries);
  const redeliver = await deadLetterUnreadable(deps, unreadable);
  addAll(redeliver, await handBack({ ...deps, queue: deps.laneQueue }, newer));
  const { resolved, jobs } = await triage(deps, items);
  const requeued = onLastReceive(jobs);
  const decided = [
    ...resolved,
    ...requeued.map((job) => ({ item: job.item, resolution: requeueBeforeDlq(deps, job) })),
  ];
  addAll(redeliver, await complete(deps, decided, time));
  // A crash from here on would cost a record on its last receive the dead-letter queue: remove those messages first.
  if (requeued.length > 0) await acknowledge(deps, decided.flatMap(deliveriesOf), redeliver);

  const open = jobs.filter((job) => !requeued.includes(job));
  const together = open.filter((job) => !isIsolated(job));
  addAll(redeliver, await complete(deps, await enrichInTime(deps, together, budget), time));

  const isolated = open.filter(isIsolated);
  if (isolated.length > 0) {
    const held = new Set(isolated.flatMap(({ item }) => item.deliveries));
    const others = deliveries.filter((delivery) => !held.has(delivery));
    await acknowledge(deps, others, redeliver);
    addAll(redeliver, await workIsolated(deps, isolated, budget, time));
  }
  return [...new Set([...redeliver].map(({ messageId }) => messageId))];
}

async function enrichInTime(deps: WorkerDeps, jobs: readonly Job[], budget: TimeBudget): Promise<Resolved[]> {
  if (budget.remainingMs() >= SETTLE_RESERVE_MS) return enrich(deps, jobs, budget);
  return jobs.map((job) => ({ item: job.item, resolution: defer(job, deps, { reason: 'out_of_time' }) }));
}

const deliveriesOf = ({ item }: Resolved): readonly Delivery[] => item.deliveries;

function addAll<T>(target: Set<T>, values: Iterable<T>): void {
  for (const value of values) target.add(value);
}
