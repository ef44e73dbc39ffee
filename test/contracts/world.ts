import type { AdmissionStore } from '../../lambdas/domain/tenants/ports.ts';
import type { LedgerStore } from '../../lambdas/domain/ledger/ports.ts';
import type { ObjectStore } from '../../lambdas/domain/source/ports.ts';
import type { ProviderStore } from '../../lambdas/domain/providers/ports.ts';
import type { QueueDepth, QueueReceiver, QueueSender } from '../../lambdas/domain/queues/ports.ts';
import type { RecordStore } from '../../lambdas/domain/records/ports.ts';
import type { SubmissionStore } from '../../lambdas/domain/submissions/ports.ts';
import type { TestClock } from '../support/memory/index.ts';

/** Empty tables and the clock that decides what in them has expired. */
export interface StoreWorld {
  clock: TestClock;
  submissions: SubmissionStore;
  ledger: LedgerStore;
  records: RecordStore;
  providers: ProviderStore;
  admission: AdmissionStore;
}

/** An empty queue whose messages go to `deadLetters` after two receives. */
export interface QueueWorld {
  queue: QueueSender & QueueReceiver & QueueDepth;
  deadLetters: QueueReceiver;
  /** Lets some of the queue's time pass. */
  tick(): Promise<void>;
}

export interface ObjectWorld {
  objects: ObjectStore;
}

export type Make<World> = () => World | Promise<World>;

/** Lets time pass until `ready` holds, and fails after a number of ticks that no working queue needs. */
export async function until(world: Pick<QueueWorld, 'tick'>, ready: () => Promise<boolean>): Promise<void> {
  for (let ticks = 0; ticks < 200; ticks++) {
    if (await ready()) return;
    await world.tick();
  }
  throw new Error('What was waited for did not come.');
}
