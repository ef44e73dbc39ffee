import dev from '../../../config/stages/dev.ts';
import { defineStage } from '../../../config/stage.ts';
import { SLICES_PER_INVOCATION } from '../../../lambdas/domain/capacity.ts';
import { eachDelivery } from '../../../lambdas/domain/submissions/deliveries.ts';
import { makeDelivery } from '../../support/factories.ts';
import { createMemoryWorld, createTestClock } from '../../support/memory/index.ts';

/** What one file of one record took on the local cloud: 500 of them, four at a time, 54 s. */
const SLICE_MS = 430;
const FILES = 500;

/**
 * One tenant's 500 files, then a file of another: how long the latter waits until its records are sent, in virtual time, and how many
 * invocations begin until then. The queue orders messages by the rule of SQS's fair queues.
 */
async function untilSent({ slots, batchSize }: { slots: number; batchSize: number }) {
  const clock = createTestClock();
  const { queues, telemetry } = createMemoryWorld({ clock });
  const deps = { queue: queues.live.fanOut, acknowledger: queues.live.fanOut, telemetry, random: Math.random };
  const waiting = Array.from({ length: FILES }, (_, file) => ({ tenant: 'noisy', id: `noisy-${file}` }));
  const inFlight = new Map<string, string>();
  /** The oldest message first, except that a tenant with 30 messages and more than a tenth of all in flight lets others go first. */
  const isNoisy = (tenant: string): boolean => {
    const own = [...inFlight.values()].filter((other) => other === tenant).length;
    return own >= 30 && own > inFlight.size / 10;
  };
  const receive = () => {
    const quiet = waiting.findIndex(({ tenant }) => !isNoisy(tenant));
    const messages = waiting.splice(Math.max(quiet, 0), 1);
    for (const { id, tenant } of messages) inFlight.set(id, tenant);
    return messages;
  };
  const startMs = clock.now();
  const sentMs: number[] = [];
  let invocations = 0;
  const slot = async (): Promise<void> => {
    while (waiting.length > 0 && sentMs.length === 0) {
      const messages = Array.from({ length: batchSize }, receive).flat();
      invocations += 1;
      const deliveries = messages.map(({ tenant, id }) => makeDelivery(tenant, { messageId: id }));
      await eachDelivery(deps, deliveries, async (tenant) => {
        await clock.sleep(SLICE_MS);
        if (tenant === 'quiet') sentMs.push(clock.now());
      });
      for (const { id } of messages) inFlight.delete(id);
    }
  };
  const working = Array.from({ length: slots }, slot);
  waiting.push({ tenant: 'quiet', id: 'quiet' });
  // Work must have begun before time moves.
  await new Promise((resolve) => setImmediate(resolve));
  while (sentMs.length === 0) await clock.advance(SLICE_MS);
  await clock.advance(SLICE_MS);
  await Promise.all(working);
  return { waitedMs: Math.min(...sentMs) - startMs, invocations };
}

describe("another tenant's file behind 500 small ones", () => {
  it.each([
    ['fan-out', dev.fanOutConcurrency],
    ['finalizer', dev.finalizerConcurrency],
  ])('is worked next by the %s', async (_, slots) => {
    const { waitedMs, invocations } = await untilSent({ slots, batchSize: SLICES_PER_INVOCATION });
    expect(waitedMs).toBeLessThanOrEqual(2 * SLICE_MS);
    expect(invocations).toBeLessThanOrEqual(2 * slots);
  });

  it('would wait for all of them with four slots of one message, which SQS never finds too many', async () => {
    expect(await untilSent({ slots: 4, batchSize: 1 })).toEqual({ waitedMs: 126 * SLICE_MS, invocations: 501 });
  });

  it('would wait with fewer slots than a stage may have', async () => {
    for (const field of ['fanOutConcurrency', 'finalizerConcurrency']) {
      expect(() => defineStage({ ...dev, [field]: 4 })).toThrow(field);
    }
    const { waitedMs } = await untilSent({ slots: 2, batchSize: SLICES_PER_INVOCATION });
    expect(waitedMs).toBeGreaterThan(20 * SLICE_MS);
  });
});
