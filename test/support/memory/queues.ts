import type { Clock, Random } from '../../../lambdas/domain/time.ts';
import { intercept, type PortHook } from './hook.ts';
import { createMemoryQueue, type MemoryQueue } from './queue.ts';

export const QUEUE_NAMES = ['prepare', 'fanOut', 'small', 'bulk', 'finalize', 'webhooks'] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];

/** Each queue with its own dead-letter queue. Calls are hooked as `queues.small` and `deadLetters.small`. */
export interface SluiceQueues {
  live: Record<QueueName, MemoryQueue>;
  deadLetters: Record<QueueName, MemoryQueue>;
}

export function createQueues(options: {
  clock: Clock;
  random?: Random;
  hook: PortHook;
  maxReceiveCount?: number;
}): SluiceQueues {
  const { clock, hook, maxReceiveCount = 5 } = options;
  const order = options.random === undefined ? {} : { random: options.random };
  const hooked = (port: string, queue: MemoryQueue): MemoryQueue =>
    intercept(port, queue, hook, ['messages', 'duplicate', 'purge', 'nextVisibleAtMs', 'giveBack']);

  const pair = (name: QueueName): { live: MemoryQueue; deadLetters: MemoryQueue } => {
    const deadLetters = createMemoryQueue({ name: `${name}-dlq`, clock, ...order });
    const live = createMemoryQueue({ name, clock, ...order, redrive: { maxReceiveCount, deadLetters } });
    return { live: hooked(`queues.${name}`, live), deadLetters: hooked(`deadLetters.${name}`, deadLetters) };
  };
  const pairs = QUEUE_NAMES.map((name) => [name, pair(name)] as const);
  const queues = (side: 'live' | 'deadLetters'): Record<QueueName, MemoryQueue> =>
    Object.fromEntries(pairs.map(([name, both]) => [name, both[side]])) as Record<QueueName, MemoryQueue>;
  return { live: queues('live'), deadLetters: queues('deadLetters') };
}
