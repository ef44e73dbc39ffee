import { afterAll, describe, jest } from '@jest/globals';
import { startServices } from './emulated-services.ts';
import { describeObjectStore } from './object-store.contract.ts';
import { describeQueue } from './queue.contract.ts';

// Delays and visibility timeouts pass in real time here.
jest.setTimeout(30_000);

const services = await startServices();
afterAll(async () => services.stop());

describe('SQS: queue', () => {
  describeQueue(async () => services.queueWorld());
});
describe('S3: objects', () => {
  describeObjectStore(async () => services.objectWorld());
});
