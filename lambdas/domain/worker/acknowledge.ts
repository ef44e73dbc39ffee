import type { Delivery } from '../queues/ports.ts';
import type { WorkerDeps } from './deps.ts';

/**
 * Acknowledges deliveries now, before anything that could end this worker, except those that are to be delivered again. What
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
