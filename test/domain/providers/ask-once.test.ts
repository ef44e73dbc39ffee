import { describe, expect, it } from '@jest/globals';
import { DependencyUnavailableError } from '../../../lambdas/domain/errors.ts';
import { askOnce, type TenantLookup } from '../../../lambdas/domain/providers/ask-once.ts';
import type { KeepAnswers } from '../../../lambdas/domain/providers/config.ts';
import { prepareProviders } from '../../../lambdas/domain/providers/provider.ts';
import { makeProvider } from '../../support/factories.ts';
import { createFakeProvider, respond } from '../../support/fake-provider.ts';
import { createMemoryWorld, seededRandom, type PortHook } from '../../support/memory/index.ts';
import { createVirtualClock } from '../../support/virtual-clock.ts';

const KEEP: KeepAnswers = { for: 'tenant', foundForSeconds: 3_600, notFoundForSeconds: 60 };
const isCanary = (url: string): boolean => url.includes('canary');

function setUp(keep?: KeepAnswers, hook?: PortHook) {
  const clock = createVirtualClock();
  const world = createMemoryWorld({ clock, credentials: { company: 'key' }, ...(hook && { hook }) });
  const transport = createFakeProvider(clock);
  const [provider] = prepareProviders([makeProvider(keep && { keep })]);
  if (provider === undefined) throw new Error('No provider was prepared.');
  const deps = { ...world, transport, clock, random: seededRandom(1), owner: 'worker-1' };
  return {
    clock,
    world,
    transport,
    asked: () => transport.calls.filter(({ url }) => !isCanary(url)).length,
    /** Without letting time pass: several at once. */
    begin: async (lookups: readonly TenantLookup[]) => askOnce(deps, provider, lookups, { remainingMs: () => 60_000 }),
    look: async (lookups: readonly TenantLookup[]) =>
      clock.run(askOnce(deps, provider, lookups, { remainingMs: () => 60_000 })),
  };
}

const lookup = (domain: string, overrides: Partial<TenantLookup> = {}): TenantLookup => ({
  url: `https://company.example.com/v1/companies/${domain}`,
  tenantId: 'acme',
  isLastAttempt: false,
  ...overrides,
});

const ACME = { kind: 'answer', answer: { kind: 'found', data: { name: 'Acme' } } };
const aged = (ageSeconds: number) => ({ kind: 'answer', answer: { ...ACME.answer, ageSeconds } });

describe('equal lookups of a batch', () => {
  it('are one call, whose answer serves each of them in its place', async () => {
    const { look, transport, world, asked } = setUp();
    transport.behave(({ url }) => (url.endsWith('/b') ? respond(200, { name: 'B' }) : undefined));
    const b = { kind: 'answer', answer: { kind: 'found', data: { name: 'B' } } };
    const results = await look(['a', 'b', 'a', 'b', 'a'].map((domain) => lookup(domain)));
    expect(results).toEqual([ACME, b, ACME, b, ACME]);
    expect(asked()).toBe(2);
    expect(world.telemetry.named('answers_reused')).toMatchObject([{ provider: 'company', count: 3 }]);
  });

  it('share a failure, which counts as reused nowhere', async () => {
    const { look, transport, world } = setUp();
    transport.behave(({ url }) => (isCanary(url) ? undefined : respond(503)));
    const results = await look([lookup('a'), lookup('a', { isLastAttempt: true })]);
    expect(results).toMatchObject([{ kind: 'transient' }, { kind: 'transient' }]);
    expect(transport.calls.some(({ url }) => isCanary(url))).toBe(true);
    expect(world.telemetry.named('answers_reused')).toEqual([]);
  });

  it('of two tenants are two calls, unless answers are for all', async () => {
    const both = [lookup('a'), lookup('a', { tenantId: 'other' })];
    for (const [keep, calls] of [
      [undefined, 2],
      [KEEP, 2],
      [{ ...KEEP, for: 'all' }, 1],
    ] as const) {
      const { look, asked } = setUp(keep);
      await look(both);
      expect(asked()).toBe(calls);
    }
  });

  it('are equal by all that is sent, not by the URL alone', async () => {
    const { look, asked } = setUp({ ...KEEP, for: 'all' });
    const url = 'https://company.example.com/v1/search';
    const variants = [{ body: '{"q":"a"}' }, { body: '{"q":"b"}' }, { headers: { 'x-country': 'DE' } }];
    const lookups = variants.map((variant) => lookup('', { url, ...variant }));
    await look(lookups);
    expect(asked()).toBe(3);
    await look(lookups);
    expect(asked()).toBe(3);
  });

  it('are checked each by its own schema', async () => {
    const { look, asked } = setUp();
    const [kept, refused] = await look([lookup('a'), lookup('a', { checkBody: () => 'The answer lacks a name.' })]);
    expect(kept).toEqual(ACME);
    expect(refused).toMatchObject({ kind: 'transient', reason: 'provider_bad_response' });
    expect(asked()).toBe(2);
  });
});

describe('kept answers', () => {
  it('serve later batches with their age, found and not found for as long as each is kept', async () => {
    const { look, transport, clock, asked } = setUp(KEEP);
    transport.behave(({ url }) => (url.endsWith('/none') ? respond(404) : undefined));
    const batch = [lookup('none'), lookup('a')];
    await look(batch);
    await clock.run(clock.sleep(30_000));
    expect(await look(batch)).toEqual([{ kind: 'answer', answer: { kind: 'not_found', ageSeconds: 30 } }, aged(30)]);
    expect(asked()).toBe(2);
    await clock.run(clock.sleep(30_000));
    await look(batch);
    expect(asked()).toBe(3);
    await clock.run(clock.sleep(3_540_000));
    await look([lookup('a')]);
    expect(asked()).toBe(4);
  });

  it('serve also while the provider is out', async () => {
    const { look, transport } = setUp(KEEP);
    await look([lookup('a')]);
    transport.behave(() => respond(503));
    expect(await look([lookup('a')])).toEqual([aged(0)]);
  });

  it('are of one tenant, or of all', async () => {
    for (const [keep, calls] of [
      [KEEP, 2],
      [{ ...KEEP, for: 'all' }, 1],
    ] as const) {
      const { look, asked } = setUp(keep);
      await look([lookup('a')]);
      await look([lookup('a', { tenantId: 'other' })]);
      expect(asked()).toBe(calls);
    }
  });

  it('that the schema of a submission does not allow are asked for again', async () => {
    const { look, asked } = setUp(KEEP);
    await look([lookup('a')]);
    await look([lookup('a', { checkBody: (value) => (value === undefined ? undefined : 'Too old.') })]);
    expect(asked()).toBe(2);
  });

  it('are never failures', async () => {
    const { look, transport, asked } = setUp(KEEP);
    transport.behave(({ url }) => (isCanary(url) ? undefined : respond(503)));
    await look([lookup('a')]);
    transport.behave(() => undefined);
    expect(await look([lookup('a')])).toEqual([ACME]);
    expect(asked()).toBe(2);
  });

  it('that cannot be read or written cost a call and no record', async () => {
    const { look, asked, world } = setUp(KEEP, async ({ port }, apply) => {
      if (port === 'answerCache') throw new DependencyUnavailableError('out');
      return apply();
    });
    expect(await look([lookup('a')])).toEqual([ACME]);
    expect(await look([lookup('a')])).toEqual([ACME]);
    expect(asked()).toBe(2);
    expect(world.telemetry.named('unexpected_error')).toHaveLength(4);
  });

  it('cost nothing where they are not configured', async () => {
    const ports: string[] = [];
    const { look } = setUp(undefined, async ({ port }, apply) => {
      ports.push(port);
      return apply();
    });
    await look([lookup('a')]);
    expect(ports).not.toContain('answerCache');
  });
});

describe('a file that names each of 2,000 domains ten times', () => {
  const DOMAINS = 2_000;
  const random = seededRandom(7);
  const lookups = Array.from({ length: 10 * DOMAINS }, (_, index) => lookup(`d${index % DOMAINS}`))
    .map((each) => ({ each, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ each }) => each);
  const batches = Array.from({ length: lookups.length / 10 }, (_, n) => lookups.slice(10 * n, 10 * n + 10));

  it.each([
    ['one worker', 1, 1],
    ['twenty workers at the same time', 20, 1.2],
  ])('is looked up by %s', async (_who, workers, callsPerDomain) => {
    const uses = { get: 0, put: 0 };
    const { begin, asked, clock } = setUp(KEEP, async ({ port, method }, apply) => {
      if (port === 'answerCache' && (method === 'get' || method === 'put')) uses[method] += 1;
      return apply();
    });
    const waiting = [...batches];
    const kinds: string[] = [];
    const work = async (): Promise<void> => {
      for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
        const results = await begin(batch);
        kinds.push(...results.map(({ kind }) => kind));
        const later = batch.filter((_each, index) => results[index]?.kind === 'deferred');
        if (later.length > 0) waiting.push(later);
      }
    };
    await clock.run(Promise.all(Array.from({ length: workers }, work)));
    expect(kinds.filter((kind) => kind === 'answer')).toHaveLength(lookups.length);
    expect(asked() / DOMAINS).toBeGreaterThanOrEqual(1);
    expect(asked() / DOMAINS).toBeLessThanOrEqual(callsPerDomain);
    expect(uses.get / lookups.length).toBeLessThanOrEqual(1);
    expect(uses.put).toBe(asked());
  });
});
