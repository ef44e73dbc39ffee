import { createProfileStore } from '../../lambdas/adapters/dynamodb/profile-store.ts';
import type { ProfileStore } from '../../lambdas/domain/profiles/ports.ts';
import { createTestClock, START_MS } from '../support/memory/index.ts';
import { createMemoryProfiles } from '../support/memory/profiles.ts';
import { startTables, type TestTables } from './tables.ts';

let tables: TestTables;
beforeAll(async () => {
  tables = await startTables();
});
afterAll(async () => tables.stop());

const STORES: [string, () => Promise<ProfileStore>][] = [
  [
    'the submissions table',
    async () => createProfileStore(tables.client, await tables.create('submissions'), createTestClock()),
  ],
  ['memory', async () => createMemoryProfiles()],
];
const FIRST = { columns: { domain: 'Website' } };
const SECOND = { columns: { domain: 'Site' }, reading: { headerRow: 2 } };

describe.each(STORES)('profiles in %s', (_where, create) => {
  test('have versions that never change, also when they come back after a deletion', async () => {
    const store = await create();
    expect(await store.put('acme', 'crm', FIRST, START_MS)).toMatchObject({ name: 'crm', version: 1 });
    expect(await store.put('acme', 'crm', SECOND, START_MS + 1)).toMatchObject({ version: 2 });
    expect(await store.get('acme', 'crm')).toEqual({
      name: 'crm',
      version: 2,
      profile: SECOND,
      createdAtMs: START_MS + 1,
    });
    expect(await store.get('acme', 'crm', 1)).toMatchObject({ version: 1, profile: FIRST });
    expect(await store.get('acme', 'crm', 3)).toBeUndefined();

    expect(await store.remove('acme', 'crm')).toBe(true);
    expect(await store.get('acme', 'crm')).toBeUndefined();
    expect(await store.get('acme', 'crm', 1)).toBeUndefined();
    expect(await store.remove('acme', 'crm')).toBe(false);
    expect(await store.put('acme', 'crm', SECOND, START_MS + 2)).toMatchObject({ version: 3 });
    expect(await store.get('acme', 'crm', 1)).toMatchObject({ profile: FIRST });
  });

  test('stay at their version where nothing is new', async () => {
    const store = await create();
    await store.put('acme', 'crm', FIRST, START_MS);
    expect(await store.put('acme', 'crm', { ...FIRST }, START_MS + 5)).toMatchObject({
      version: 1,
      createdAtMs: START_MS,
    });
  });

  test('belong to a tenant and are listed by name', async () => {
    const store = await create();
    await store.put('acme', 'shop', FIRST, START_MS);
    await store.put('acme', 'crm', FIRST, START_MS);
    await store.put('acme', 'crm', SECOND, START_MS + 1);
    await store.put('acme', 'old', FIRST, START_MS);
    await store.remove('acme', 'old');
    await store.put('other', 'x', FIRST, START_MS);
    expect(await store.list('acme')).toEqual([
      { name: 'crm', version: 2, updatedAtMs: START_MS + 1 },
      { name: 'shop', version: 1, updatedAtMs: START_MS },
    ]);
    expect(await store.get('other', 'crm')).toBeUndefined();
    expect(await store.remove('other', 'crm')).toBe(false);
  });
});

test('two callers at the same moment add two versions', async () => {
  const store = createProfileStore(tables.client, await tables.create('submissions'), createTestClock());
  const added = await Promise.all([FIRST, SECOND].map(async (profile) => store.put('acme', 'crm', profile, START_MS)));
  expect(added.map(({ version }) => version).toSorted((a, b) => a - b)).toEqual([1, 2]);
  expect(await store.get('acme', 'crm')).toMatchObject({ version: 2 });
});
