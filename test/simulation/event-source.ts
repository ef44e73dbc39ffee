import type { Delivery } from '../../lambdas/domain/queues/ports.ts';
import type { MemoryQueue } from '../support/memory/queue.ts';
import type { Environment } from './environment.ts';
import type { QueueFunction } from './functions.ts';
import { recordOfBody, type Journal } from './journal.ts';
import type { Dice } from './random.ts';
import type { Scheduler } from './scheduler.ts';

export interface EventSourceOptions {
  queue: MemoryQueue;
  /** Most records of one batch. */
  batchSize: number;
  maxConcurrency: number;
  timeoutMs: number;
  visibilityMs: () => number;
  start: () => { environment: Environment; work: QueueFunction };
  /** Whether it fetches messages at all: an event source can be disabled. */
  isEnabled: () => boolean;
  /** Probability that a delivered message is delivered once more meanwhile. */
  duplicateShare: number;
  scheduler: Scheduler;
  journal: Journal;
  dice: Dice;
}

/** How often a disabled source looks whether it is enabled again. */
const DISABLED_MS = 60_000;

/** Copies of a record that waits live on side by side: without a bound a long outage would breed them without end. */
const MOST_DUPLICATES = 2;

type Started = ReturnType<EventSourceOptions['start']>;

/** Hands the messages of a queue to a function as Lambda does: in batches, several at a time, and deletes what it does not report. */
export class EventSource {
  readonly #options: EventSourceOptions;
  readonly #idle: Started[] = [];
  readonly #duplicates = new Map<string, number>();
  #running = 0;
  #isPolling = false;
  #wakeAtMs = Infinity;

  constructor(options: EventSourceOptions) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#options.queue.nextVisibleAtMs() === undefined;
  }

  /** Looks soon whether there is something to deliver. */
  wake(atMs = this.#options.scheduler.now() + 1): void {
    if (atMs >= this.#wakeAtMs) return;
    this.#wakeAtMs = atMs;
    this.#options.scheduler.at(atMs, () => {
      if (this.#wakeAtMs !== atMs) return;
      this.#wakeAtMs = Infinity;
      void this.#poll();
    });
  }

  async #poll(): Promise<void> {
    const { queue, maxConcurrency, batchSize, visibilityMs, dice, scheduler, isEnabled } = this.#options;
    if (this.#isPolling) return;
    if (!isEnabled()) return this.wake(scheduler.now() + DISABLED_MS);
    this.#isPolling = true;
    while (this.#running < maxConcurrency) {
      const deliveries = await queue.receive(dice.chance(0.7) ? batchSize : 1 + dice.below(batchSize), visibilityMs());
      if (deliveries.length === 0) break;
      this.#duplicate(deliveries);
      this.#running += 1;
      void this.#deliver(deliveries);
    }
    this.#isPolling = false;
    const nextMs = queue.nextVisibleAtMs();
    if (nextMs !== undefined && this.#running < maxConcurrency) this.wake(Math.max(nextMs, scheduler.now() + 1));
  }

  #duplicate(deliveries: readonly Delivery[]): void {
    const { dice, duplicateShare, queue, journal, scheduler } = this.#options;
    for (const delivery of deliveries) {
      if (!dice.chance(duplicateShare)) continue;
      const record = recordOfBody(delivery.body)?.record;
      const key = record ?? delivery.body;
      const earlier = this.#duplicates.get(key) ?? 0;
      if (earlier >= MOST_DUPLICATES) continue;
      this.#duplicates.set(key, earlier + 1);
      if (record !== undefined) journal.disturbRecord(record);
      journal.stats.faults += 1;
      const again = dice.chance(0.8) ? () => queue.duplicate(delivery.messageId) : () => queue.giveBack([delivery]);
      scheduler.at(scheduler.now() + dice.between(0, dice.pick([30, 300, 3_000])), () => {
        journal.note(`delivering ${delivery.messageId} again (${record})`);
        again();
        this.wake();
      });
    }
  }

  async #deliver(deliveries: readonly Delivery[]): Promise<void> {
    const { queue, timeoutMs, start, journal } = this.#options;
    const started = this.#idle.pop() ?? start();
    const { environment, work } = started;
    journal.note(`${environment.name} gets ${deliveries.map((each) => describe(each)).join(', ')}`);
    const result = await environment.invoke(timeoutMs, async (budget) => attempt(journal, deliveries, work, budget));
    this.#running -= 1;
    if (result === 'died') journal.died(deliveries.flatMap(({ body }) => recordOfBody(body)?.record ?? []));
    else {
      const failed = new Set(result.ended);
      this.#idle.push(started);
      await queue.acknowledge(deliveries.filter(({ messageId }) => !failed.has(messageId)));
    }
    this.wake();
  }
}

/** What the runtime's wrapper does: an error hands everything back. Errors that no fault explains are defects. */
async function attempt(
  journal: Journal,
  deliveries: readonly Delivery[],
  work: QueueFunction,
  budget: Parameters<QueueFunction>[1],
): Promise<readonly string[]> {
  try {
    return await work(deliveries, budget);
  } catch (error) {
    journal.broken('no defect', `A function threw ${String(error)}`, []);
    return deliveries.map(({ messageId }) => messageId);
  }
}

const describe = ({ messageId, receiveCount, body }: Delivery): string =>
  `${messageId} (${recordOfBody(body)?.record ?? 'no record'}, receive ${receiveCount})`;
