import { createAnswerCache } from '../../lambdas/adapters/dynamodb/answer-cache.ts';
import type { AnswerCache } from '../../lambdas/domain/providers/ports.ts';
import type { Clock } from '../../lambdas/domain/time.ts';
import { START_MS } from '../support/memory/index.ts';
import { createMemoryAnswerCache } from '../support/memory/answer-cache.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';
import { startTables, type TestTables } from './tables.ts';

let tables: TestTables;
beforeAll(async () => {
  tables = await startTables();
});
afterAll(async () => tables.stop());

const CACHES: [string, (clock: Clock) => Promise<AnswerCache>][] = [
  [
    'the submissions table',
    async (clock) => createAnswerCache(tables.client, await tables.create('submissions'), clock),
  ],
  ['memory', async (clock) => createMemoryAnswerCache(clock)],
];
const KEY = { provider: 'company', tenantId: 'acme', hash: 'abc' };
const EXPIRES_AT_SECONDS = START_MS / 1_000 + 60;
const found = (name: string) => ({ kind: 'found' as const, data: { name } });

describe.each(CACHES)('answers kept in %s', (_where, create) => {
  test('are given back as they are, also large ones, until they expire', async () => {
    const clock = createVirtualClock();
    const cache = await create(clock);
    const answer = found('ä'.repeat(5_000));
    await cache.put(KEY, { answer, askedAtMs: START_MS }, EXPIRES_AT_SECONDS);
    expect(await cache.get(KEY)).toEqual({ answer, askedAtMs: START_MS });
    await clock.run(clock.sleep(60_000));
    expect(await cache.get(KEY)).toBeUndefined();
  });

  test('belong to one provider, one lookup and one tenant, or to all tenants', async () => {
    const cache = await create(createVirtualClock());
    await cache.put(KEY, { answer: found('own'), askedAtMs: START_MS }, EXPIRES_AT_SECONDS);
    const others = [
      { ...KEY, provider: 'geo' },
      { ...KEY, tenantId: 'other' },
      { ...KEY, hash: 'abd' },
      { provider: KEY.provider, hash: KEY.hash },
    ];
    expect(await Promise.all(others.map(async (key) => cache.get(key)))).toEqual(others.map(() => undefined));
  });

  test('are replaced by newer ones only', async () => {
    const cache = await create(createVirtualClock());
    for (const [name, askedAtMs] of [
      ['first', START_MS],
      ['newest', START_MS + 2],
      ['late', START_MS + 1],
    ] as const) {
      await cache.put(KEY, { answer: found(name), askedAtMs }, EXPIRES_AT_SECONDS);
    }
    expect(await cache.get(KEY)).toEqual({ answer: found('newest'), askedAtMs: START_MS + 2 });
  });
});
