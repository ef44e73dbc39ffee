import { runTenants } from '../../cli/tenants.ts';
import { UsageError } from '../../cli/usage.ts';
import { readCliEnvironment } from '../../cli/environment.ts';
import type { ApiKeyRegistry } from '../../lambdas/adapters/dynamodb/api-keys.ts';
import { authenticate, hashOfKey, type ApiKey } from '../../lambdas/domain/tenants/api-keys.ts';
import { InvalidDataError } from '../../lambdas/domain/errors.ts';
import { createTestClock, seededRandom, START_MS } from '../support/memory/index.ts';

function setUp() {
  const keys = new Map<string, ApiKey>();
  const registry: ApiKeyRegistry = {
    async add(key) {
      keys.set(key.hash, key);
    },
    async list(tenantId) {
      return [...keys.values()].filter((key) => tenantId === undefined || key.tenantId === tenantId);
    },
    async revoke(hash, nowMs) {
      const key = keys.get(hash);
      if (key) keys.set(hash, { revokedAtMs: nowMs, ...key });
      return keys.get(hash);
    },
  };
  const lines: string[] = [];
  const clock = createTestClock();
  const deps = { registry, clock, random: seededRandom(7), print: (line: string) => void lines.push(line) };
  const run = async (...args: string[]): Promise<string[]> => {
    lines.length = 0;
    await runTenants(deps, args);
    return [...lines];
  };
  const store = { find: async (hash: string) => keys.get(hash) };
  const works = async (key: string): Promise<boolean> => (await authenticate(store, `Bearer ${key}`)) !== undefined;
  return { keys, clock, run, works };
}

const keyIn = (lines: string[]): string => lines.find((line) => line.startsWith('slk_')) ?? '';

test('a key is created, shown once and stored as a hash', async () => {
  const { keys, run, works } = setUp();
  const lines = await run('create', 'acme', '--name', 'nightly export');
  const key = keyIn(lines);
  expect(key).toMatch(/^slk_[0-9A-Za-z]{8}_[0-9A-Za-z]{43}$/);
  expect(await works(key)).toBe(true);
  expect([...keys.values()]).toEqual([
    {
      hash: hashOfKey(key),
      keyId: key.slice(4, 12),
      tenantId: 'acme',
      scopes: ['submit', 'read'],
      createdAtMs: START_MS,
      name: 'nightly export',
    },
  ]);
  expect(JSON.stringify([...keys.values()])).not.toContain(key.slice(13));
  expect((await run('list')).join()).not.toContain(key.slice(13));
});

test('a key can be limited to a scope', async () => {
  const { keys, run } = setUp();
  await run('create', 'acme', '--scopes', 'read');
  expect([...keys.values()][0]?.scopes).toEqual(['read']);
});

test('a rotated key works until it is revoked, and its successor is like it', async () => {
  const { keys, clock, run, works } = setUp();
  const old = keyIn(await run('create', 'acme', '--scopes', 'submit', '--name', 'crm'));
  const next = keyIn(await run('rotate', old.slice(4, 12)));
  expect(next).not.toBe(old);
  expect([await works(old), await works(next)]).toEqual([true, true]);
  expect(keys.get(hashOfKey(next))).toMatchObject({ tenantId: 'acme', scopes: ['submit'], name: 'crm' });

  await clock.advance(1_000);
  await run('revoke', old.slice(4, 12));
  expect([await works(old), await works(next)]).toEqual([false, true]);
  expect(keys.get(hashOfKey(old))?.revokedAtMs).toBe(START_MS + 1_000);
});

test('a key that is pasted whole is understood and not printed again', async () => {
  const { run, works } = setUp();
  const key = keyIn(await run('create', 'acme'));
  const lines = await run('revoke', key);
  expect(await works(key)).toBe(false);
  expect(lines.join()).not.toContain(key.slice(13));
});

test('a revoked key is not rotated: that would let it in again', async () => {
  const { keys, run } = setUp();
  const key = keyIn(await run('create', 'acme'));
  await run('revoke', key);
  await expect(run('rotate', key)).rejects.toThrow(InvalidDataError);
  expect(keys.size).toBe(1);
});

test('keys are listed with what tells them apart, of one tenant or of all', async () => {
  const { run } = setUp();
  await run('create', 'acme', '--name', 'crm');
  await run('create', 'globex');
  expect(await run('list')).toHaveLength(2);
  const [line = '', ...rest] = await run('list', 'acme');
  expect(rest).toEqual([]);
  expect(line).toMatch(/^acme +[0-9A-Za-z]{8} +submit,read +since 2026-01-06 +works +crm$/);
  expect(await run('list', 'initech')).toEqual(['initech has no keys.']);
});

test.each([
  [[]],
  [['create']],
  [['rotate']],
  [['explode', 'x']],
  [['create', 'acme', 'extra']],
  [['create', 'acme', '--scopes', 'admin']],
])('arguments %j are explained', async (args) => {
  await expect(setUp().run(...args)).rejects.toThrow(UsageError);
});

test.each(['../acme', 'Acme', 'a/b', 'a#b', 'a'.repeat(64), ''])('%j cannot be a tenant', async (tenantId) => {
  const { keys, run } = setUp();
  await expect(run('create', tenantId)).rejects.toThrow(InvalidDataError);
  expect(keys.size).toBe(0);
});

test('an unknown key is named', async () => {
  await expect(setUp().run('revoke', 'nope1234')).rejects.toThrow(/nope1234/);
});

test('the table may come from the environment, where an empty name is none', () => {
  expect(readCliEnvironment({ TENANTS_TABLE: 'tenants' })).toEqual({ tenantsTable: 'tenants' });
  expect(readCliEnvironment({ TENANTS_TABLE: '' })).toEqual({ tenantsTable: undefined });
});
