import type { MemoryQueue } from '../memory/queue.ts';
import type { TestClock } from '../memory/clock.ts';

const VISIBILITY_MS = 120_000;
const MOST_DELIVERIES = 200;

/**
 * Delivers what is in `queue`, message by message, until it is empty: one that `handle` fails on comes again after its visibility timeout.
 * Time moves to the next message that becomes visible.
 */
export async function deliverAll(
  queue: MemoryQueue,
  clock: TestClock,
  handle: (body: string) => Promise<void>,
): Promise<{ deliveries: number; failures: unknown[] }> {
  const failures: unknown[] = [];
  for (let deliveries = 0; deliveries < MOST_DELIVERIES; deliveries++) {
    const nextMs = queue.nextVisibleAtMs();
    if (nextMs === undefined) return { deliveries, failures };
    await clock.advance(Math.max(nextMs - clock.now(), 0));
    const [delivery] = await queue.receive(1, VISIBILITY_MS);
    if (!delivery) continue;
    try {
      await handle(delivery.body);
      await queue.acknowledge([delivery]);
    } catch (error) {
      failures.push(error);
    }
  }
  throw new Error(`The queue ${queue.name} is not empty after ${MOST_DELIVERIES} deliveries.`);
}
