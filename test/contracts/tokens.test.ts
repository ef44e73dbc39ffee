import { createTokenStore } from '../../lambdas/adapters/dynamodb/token-store.ts';
import type { TokenStore } from '../../lambdas/domain/providers/ports.ts';
import { createTestClock, START_MS } from '../support/memory/index.ts';
import { createMemoryTokens } from '../support/memory/tokens.ts';
import { startTables, type TestTables } from './tables.ts';

let tables: TestTables;
beforeAll(async () => {
  tables = await startTables();
});
afterAll(async () => tables.stop());

const STORES: [string, () => Promise<TokenStore>][] = [
  [
    'the providers table',
    async () => createTokenStore(tables.client, await tables.create('providers'), createTestClock()),
  ],
  ['memory', async () => createMemoryTokens()],
];
const lease = (owner: string, nowMs = START_MS) => ({ owner, nowMs, untilMs: nowMs + 10_000 });

describe.each(STORES)('access tokens in %s', (_where, create) => {
  test('are got by one at a time, and stored by the one that has the lease', async () => {
    const store = await create();
    expect(await store.read('crm')).toBeUndefined();
    expect(await store.claim('crm', lease('a'))).toBe(true);
    expect(await store.claim('crm', lease('a'))).toBe(true);
    expect(await store.claim('crm', lease('b'))).toBe(false);
    await store.write('crm', 'b', 'of b');
    expect(await store.read('crm')).toBeUndefined();
    await store.write('crm', 'a', 'of a');
    expect(await store.read('crm')).toBe('of a');
    expect(await store.claim('crm', lease('b'))).toBe(true);
  });

  test('are taken over when a lease has ended, and belong to one provider', async () => {
    const store = await create();
    await store.claim('crm', lease('dead'));
    expect(await store.claim('other', lease('b'))).toBe(true);
    expect(await store.claim('crm', lease('b', START_MS + 10_001))).toBe(true);
    await store.write('crm', 'dead', 'late');
    expect(await store.read('crm')).toBeUndefined();
  });
});
