import { createMemoryWorld, createTestClock } from '../support/memory/index.ts';
import { describeStores } from './stores.ts';

describeStores('memory', () => {
  const clock = createTestClock();
  return { ...createMemoryWorld({ clock }), clock };
});
