import { describe } from '@jest/globals';
import { createMemoryQueue } from '../support/memory/queue.ts';
import { createMemoryWorld, createTestClock } from '../support/memory/index.ts';
import { describeObjectStore } from './object-store.contract.ts';
import { describeQueue } from './queue.contract.ts';
import { describeStores } from './stores.ts';

describeStores('memory', () => {
  const clock = createTestClock();
  return { ...createMemoryWorld({ clock }), clock };
});

describe('memory: queue', () => {
  describeQueue(() => {
    const clock = createTestClock();
    const deadLetters = createMemoryQueue({ name: 'dead', clock });
    const queue = createMemoryQueue({ name: 'live', clock, redrive: { maxReceiveCount: 2, deadLetters } });
    return { queue, deadLetters, tick: async () => clock.advance(100) };
  });
});

describe('memory: objects', () => {
  describeObjectStore(() => createMemoryWorld({ clock: createTestClock() }));
});
