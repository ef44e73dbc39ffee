import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { createApiKeyRegistry, createApiKeyStore } from '../../../lambdas/adapters/dynamodb/api-keys.ts';
import { createAdmissionStore } from '../../../lambdas/adapters/dynamodb/admission-store.ts';
import { generateKey } from '../../../lambdas/domain/tenants/api-keys.ts';
import { DependencyUnavailableError, InvalidDataError } from '../../../lambdas/domain/errors.ts';
import { startTables, type TestTables } from '../../contracts/tables.ts';
import { createTestClock, seededRandom, START_MS } from '../../support/memory/index.ts';

let tables: TestTables;
const clock = createTestClock();
const random = seededRandom(3);

beforeAll(async () => {
  tables = await startTables();
});
afterAll(async () => tables.stop());

async function setUp() {
  const name = await tables.create('tenants');
  const registry = createApiKeyRegistry(tables.client, name, clock);
  const store = createApiKeyStore(tables.client, name, clock);
  const make = async (tenantId: string, atMs = START_MS) => {
    const { stored } = generateKey({ tenantId, name: `key of ${tenantId}` }, atMs, random);
    await registry.add(stored);
    return stored;
  };
  return { name, registry, store, make };
}

test('a key is found by its hash, as it was made', async () => {
  const { store, make } = await setUp();
  const stored = await make('acme');
  expect(await store.find(stored.hash)).toEqual(stored);
  expect(await store.find('0'.repeat(64))).toBeUndefined();
});

test('keys are listed by tenant and age, and nothing else of the table is', async () => {
  const { name, registry, make } = await setUp();
  const [late, globex, early] = [await make('acme', START_MS + 1), await make('globex'), await make('acme')];
  await createAdmissionStore(tables.client, name, clock).setOpenWork('acme', { submissionId: 'sub_1', records: 3 });
  expect(await registry.list()).toEqual([early, late, globex]);
  expect(await registry.list('acme')).toEqual([early, late]);
});

test('every page of the table is read', async () => {
  const { name, registry } = await setUp();
  // A megabyte to a page: what is not a key is in the way.
  const put = async (pk: string): Promise<unknown> =>
    tables.client.send(new PutCommand({ TableName: name, Item: { pk, padding: 'x'.repeat(390_000) } }));
  await Promise.all(Array.from({ length: 6 }, async (_, index) => put(`tenant#${index}`)));
  const keys = Array.from({ length: 5 }, () => generateKey({ tenantId: 'acme' }, START_MS, random).stored);
  for (const key of keys) await registry.add(key);
  expect((await registry.list()).map(({ hash }) => hash).sort()).toEqual(keys.map(({ hash }) => hash).sort());
});

test('a key is revoked once, and stays in the list', async () => {
  const { registry, store, make } = await setUp();
  const { hash } = await make('acme');
  expect(await registry.revoke(hash, START_MS + 5)).toMatchObject({ hash, revokedAtMs: START_MS + 5 });
  expect(await registry.revoke(hash, START_MS + 9)).toMatchObject({ hash, revokedAtMs: START_MS + 5 });
  expect(await store.find(hash)).toMatchObject({ revokedAtMs: START_MS + 5 });
  expect(await registry.list()).toHaveLength(1);
});

test('a key that is not there is not made by revoking it', async () => {
  const { registry } = await setUp();
  expect(await registry.revoke('0'.repeat(64), START_MS)).toBeUndefined();
  expect(await registry.list()).toEqual([]);
});

test('what stands is not overwritten', async () => {
  const { registry, store, make } = await setUp();
  const stored = await make('acme');
  await registry.add({ ...stored, tenantId: 'globex' });
  expect((await store.find(stored.hash))?.tenantId).toBe('acme');
});

test('an item that is no key is told from one', async () => {
  const { name, store } = await setUp();
  await tables.client.send(new PutCommand({ TableName: name, Item: { pk: 'key#abc', tenantId: 7 } }));
  await expect(store.find('abc')).rejects.toThrow(InvalidDataError);
});

test('a table that is not there is a dependency that fails', async () => {
  const registry = createApiKeyRegistry(tables.client, 'missing', clock);
  await expect(registry.list()).rejects.toThrow(DependencyUnavailableError);
});
