import { afterAll, jest } from '@jest/globals';
import { describeStores } from './stores.ts';
import { startTables } from './tables.ts';

// Every call goes over HTTP to an emulator in this process, which other tests may keep waiting.
jest.setTimeout(30_000);

const tables = await startTables();
afterAll(async () => tables.stop());

describeStores('DynamoDB', async () => tables.world());
