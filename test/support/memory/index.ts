export { createTestClock, START_MS, type TestClock } from './clock.ts';
export { noHook, type PortCall, type PortHook } from './hook.ts';
export { seededRandom } from './random.ts';
export { createMemoryWorld, type MemoryWorld } from './world.ts';
