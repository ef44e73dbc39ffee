import {
  authenticate,
  generateKey,
  hashOfKey,
  keyOfHeader,
  type ApiKey,
} from '../../../lambdas/domain/tenants/api-keys.ts';
import { seededRandom, START_MS } from '../../support/memory/index.ts';

const made = generateKey({ tenantId: 'acme' }, START_MS, seededRandom(1));

const storeOf = (...keys: ApiKey[]) => {
  const asked: string[] = [];
  return {
    asked,
    async find(hash: string) {
      asked.push(hash);
      return keys.find((key) => key.hash === hash);
    },
  };
};

describe('a new key', () => {
  test('has 256 bits of secret behind its id', () => {
    expect(made.key).toMatch(/^slk_[0-9A-Za-z]{8}_[0-9A-Za-z]{43}$/);
    expect(Math.log2(62) * 43).toBeGreaterThanOrEqual(256);
  });

  test('uses the whole alphabet, also where chance is at its ends', () => {
    const ends = [0, 1 - Number.EPSILON].map((chance) => generateKey({ tenantId: 'a' }, 0, () => chance).key);
    expect(ends).toEqual([`slk_${'0'.repeat(8)}_${'0'.repeat(43)}`, `slk_${'z'.repeat(8)}_${'z'.repeat(43)}`]);
    expect(ends.map(keyOfHeaderLine)).toEqual(ends);
  });

  test('is stored by a hash of all of it', () => {
    expect(made.stored.hash).toBe(hashOfKey(made.key));
    expect(made.stored.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(made.stored)).not.toContain(made.key.slice(13));
  });
});

const keyOfHeaderLine = (key: string): string | undefined => keyOfHeader(`Bearer ${key}`);

describe('the Authorization header', () => {
  test.each([`Bearer ${made.key}`, `bearer ${made.key}`, `BEARER   ${made.key}`, ` Bearer ${made.key} `])(
    'lets %j in',
    async (header) => {
      expect(await authenticate(storeOf(made.stored), header)).toEqual(made.stored);
    },
  );

  test.each([
    ['', 'nothing'],
    [made.key, 'a key without a scheme'],
    [`Basic ${made.key}`, 'another scheme'],
    [`Bearer ${made.key}x y`, 'two words'],
    [`Bearer ${made.key},Bearer ${made.key}`, 'two keys'],
    [`Bearer ${made.key.slice(0, 30)}`, 'a piece of a key'],
    [`Bearer slk_${'a'.repeat(5_000)}`, 'a long one'],
    [`Bearer ${made.key.replace('slk', 'SLK')}`, 'another prefix'],
    [`Bearer ${made.stored.hash}`, 'the stored hash'],
    ['Bearer \u0000', 'control characters'],
  ])('keeps out what cannot be a key without looking for it: %#', async (header) => {
    const store = storeOf(made.stored);
    expect(await authenticate(store, header)).toBeUndefined();
    expect(store.asked).toEqual([]);
  });

  test('keeps out a key that differs in its last character', async () => {
    const other = made.key.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
    const store = storeOf(made.stored);
    expect(await authenticate(store, `Bearer ${other}`)).toBeUndefined();
    expect(store.asked).toHaveLength(1);
  });

  test('keeps out a revoked key', async () => {
    expect(
      await authenticate(storeOf({ ...made.stored, revokedAtMs: START_MS }), `Bearer ${made.key}`),
    ).toBeUndefined();
  });

  test('keeps out when a store answers with another key than it was asked for', async () => {
    for (const hash of ['0'.repeat(64), '0', '']) {
      const careless = { find: async () => ({ ...made.stored, hash }) };
      expect(await authenticate(careless, `Bearer ${made.key}`)).toBeUndefined();
    }
  });
});
