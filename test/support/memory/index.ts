export { createTestClock, START_MS, type TestClock } from './clock.ts';
export { noHook, type PortCall, type PortHook } from './hook.ts';
export { seededRandom } from './random.ts';
export { createMemoryWorld, type MemoryWorld, type MemoryWorldOptions } from './world.ts';
export { QUEUE_NAMES, type QueueName } from './queues.ts';
export type { MemoryQueue, StoredMessage } from './queue.ts';
export type { MemoryObjectStore } from './objects.ts';
export type { MemoryTelemetry } from './telemetry.ts';
