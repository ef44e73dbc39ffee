import { describe, expect, it, jest } from '@jest/globals';
import { CredentialMissingError, DependencyUnavailableError } from '../../../lambdas/domain/errors.ts';
import { lookUp } from '../../../lambdas/domain/providers/lookup-batch.ts';
import type { EnrichDeps } from '../../../lambdas/domain/providers/call.ts';
import { prepareProviders } from '../../../lambdas/domain/providers/provider.ts';
import { SETTLE_RESERVE_MS } from '../../../lambdas/domain/limits.ts';
import { intervalMs, type ProviderConfig } from '../../../lambdas/domain/providers/config.ts';
import { makeProvider } from '../../support/factories.ts';
import { createFakeProvider, respond } from '../../support/fake-provider.ts';
import { createMemoryWorld, seededRandom, type PortHook } from '../../support/memory/index.ts';
import { createVirtualClock } from '../../support/virtual-clock.ts';

// Minutes of virtual time take seconds of a busy machine.
jest.setTimeout(60_000);

const CANARY = { domain: 'canary.example.com' };
const isCanary = (url: string): boolean => url.includes('canary');
const OUT = respond(503);

interface Options {
  config?: Partial<ProviderConfig>;
  hook?: PortHook;
  callsAtOnce?: number;
}

function setUp({ config: overrides = {}, hook, callsAtOnce }: Options = {}) {
  const clock = createVirtualClock();
  const config = makeProvider({ canary: CANARY, ...overrides });
  const world = createMemoryWorld({
    clock,
    credentials: { company: 'key-1' },
    ...(hook === undefined ? {} : { hook }),
  });
  const transport = createFakeProvider(clock);
  const [provider] = prepareProviders([config], callsAtOnce === undefined ? {} : { [config.name]: callsAtOnce });
  if (provider === undefined) throw new Error('No provider was prepared.');
  const deps: EnrichDeps = {
    providers: world.providers,
    credentials: world.credentials,
    telemetry: world.telemetry,
    transport,
    clock,
    random: seededRandom(1),
    owner: 'worker-1',
  };
  const questions = (count: number, isLastAttempt: boolean) =>
    Array.from({ length: count }, (_, i) => ({
      url: `https://company.example.com/v1/companies/${i}.example.com`,
      isLastAttempt,
    }));
  const ask = async (count: number, remainingMs = 60_000, isLastAttempt = false) => {
    const endMs = clock.now() + remainingMs;
    return clock.run(
      lookUp(deps, provider, questions(count, isLastAttempt), { remainingMs: () => endMs - clock.now() }),
    );
  };
  const kinds = async (count: number, remainingMs?: number) =>
    (await ask(count, remainingMs)).map((result) =>
      'reason' in result ? `${result.kind}: ${result.reason}` : result.kind,
    );
  const state = async () => world.providers.get('company');
  const recordCalls = () => transport.calls.filter(({ url }) => !isCanary(url));
  return { ...world, clock, transport, provider, config, deps, ask, kinds, state, recordCalls };
}

const repeat = (kind: string, count: number): string[] => Array.from({ length: count }, () => kind);

describe('asking a provider', () => {
  it('makes one call per record at its slot, with the credential, and reserves exactly as many', async () => {
    const { kinds, transport, config, state } = setUp();
    expect(await kinds(4)).toEqual(repeat('answer', 4));
    const [first, ...others] = transport.calls.map(({ atMs }) => atMs);
    expect(others.map((at) => at - (first ?? 0))).toEqual(
      [1, 2, 3].map((n) => expect.closeTo(n * intervalMs(config), 1)),
    );
    expect(transport.calls.map(({ authorization }) => authorization)).toEqual(repeat('Bearer key-1', 4));
    expect((await state()).nextAtMs - (first ?? 0)).toBeCloseTo(4 * intervalMs(config), 1);
  });

  it('writes nothing but the reservation while all is well', async () => {
    const writes: string[] = [];
    const { ask } = setUp({
      hook: async ({ port, method }, apply) => {
        if (port === 'providers') writes.push(method);
        return apply();
      },
    });
    await ask(10);
    expect(writes).toEqual(['reserve']);
  });

  it('does not start calls whose slowest answer would not fit, and takes no attempt for it', async () => {
    const { kinds, transport } = setUp();
    expect(await kinds(2, 5_000)).toEqual(repeat('deferred: out_of_time', 2));
    expect(transport.calls).toHaveLength(0);
  });

  it('calls for as many records as fit, and defers the others', async () => {
    const { kinds } = setUp({ config: { ratePerSecond: 1 } });
    expect(await kinds(5, SETTLE_RESERVE_MS + 5_500)).toEqual([
      ...repeat('answer', 3),
      ...repeat('deferred: pacer_full', 2),
    ]);
  });

  it('defers all without a call when the credential cannot be had, and reserves nothing', async () => {
    const { kinds, transport, state } = setUp({
      hook: async ({ method }, apply) => {
        if (method === 'get') throw new DependencyUnavailableError('No secret.');
        return apply();
      },
    });
    expect(await kinds(2)).toEqual(repeat('deferred: dependency_unavailable', 2));
    expect(transport.calls).toHaveLength(0);
    expect(await state().catch(() => undefined)).toBeUndefined();
  });

  it('defers without an attempt when the reservation is throttled', async () => {
    const { kinds, transport } = setUp({
      hook: async ({ method }, apply) => {
        if (method === 'reserve') throw new DependencyUnavailableError('Throttled.');
        return apply();
      },
    });
    expect(await kinds(2)).toEqual(repeat('deferred: dependency_unavailable', 2));
    expect(transport.calls).toHaveLength(0);
  });

  it('takes a defect of ours for a failed attempt of the one record it came up with', async () => {
    const { kinds, transport, telemetry } = setUp();
    transport.behave((_, index) => {
      if (index === 1) throw new TypeError('A defect.');
      return undefined;
    });
    expect(await kinds(3)).toEqual(['answer', 'transient: internal_error', 'answer']);
    expect(telemetry.named('unexpected_error')).toHaveLength(1);
  });
});

describe('a process that was asleep', () => {
  /** Everything that is due from `fromMs` on wakes up only after `forMs`. */
  function asleep(world: ReturnType<typeof setUp>, fromMs: number, forMs: number): void {
    const { clock, deps } = world;
    deps.clock = {
      now: () => clock.now(),
      sleep: async (ms) => {
        const dueMs = clock.now() + ms;
        const isAsleep = dueMs >= fromMs && dueMs < fromMs + forMs;
        await clock.sleep(isAsleep ? fromMs + forMs - clock.now() : ms);
      },
    };
  }

  const gapsOf = (starts: readonly number[]): number[] => starts.slice(1).map((at, i) => at - (starts[i] ?? 0));
  const RATE = 200;

  it('keeps the distance between calls whose slots have passed meanwhile', async () => {
    const world = setUp({ config: { ratePerSecond: RATE } });
    const { clock, config, kinds, transport } = world;
    asleep(world, clock.now() + 45, 15);
    expect(await kinds(10)).toEqual(repeat('answer', 10));
    const gaps = gapsOf(transport.calls.map(({ atMs }) => atMs));
    expect(Math.min(...gaps)).toBeGreaterThan(intervalMs(config) - 0.01);
    expect(Math.max(...gaps)).toBeGreaterThan(intervalMs(config) + 10);
  });

  it('gives up slots that lie far back and takes others, so that no call meets those of another worker', async () => {
    const world = setUp({ config: { ratePerSecond: RATE, burst: 10 } });
    const { clock, config, kinds, transport, providers } = world;
    asleep(world, clock.now() + 45, 200);
    // Another worker reserves the slots behind this batch's meanwhile.
    const other = clock.sleep(5).then(async () =>
      providers.reserve({
        provider: 'company',
        slots: 60,
        intervalMs: intervalMs(config),
        nowMs: clock.now(),
        maxWaitMs: 10_000,
      }),
    );
    const answers = kinds(10);
    expect(await answers).toEqual(repeat('answer', 10));
    const reserved = await other;
    const firstMs = reserved.granted ? reserved.firstSlotMs : Number.NaN;
    const starts = transport.calls.map(({ atMs }) => atMs);
    const late = starts.filter((at) => at >= firstMs);
    expect(late.length).toBeGreaterThan(3);
    expect(Math.min(...late)).toBeGreaterThanOrEqual(firstMs + 60 * intervalMs(config) - 0.01);
    expect(Math.min(...gapsOf(starts))).toBeGreaterThan(intervalMs(config) - 0.01);
  });

  it('calls all the same when it is always late: it gives up its slots once', async () => {
    const world = setUp({ config: { ratePerSecond: RATE, burst: 10 } });
    const { clock, deps, kinds, transport } = world;
    const late = { ...deps.clock, sleep: async (ms: number) => clock.sleep(ms + 400) };
    deps.clock = late;
    expect(await kinds(10)).toEqual(repeat('answer', 10));
    expect(transport.calls).toHaveLength(10);
  });
});

describe('a provider that limits us', () => {
  it('stops the calls of this batch and of the fleet until its Retry-After, at no attempt', async () => {
    const { kinds, ask, transport, state, clock } = setUp();
    transport.latencyMs = 5;
    transport.behave((_, index) => (index > 0 ? respond(429, {}, { 'retry-after': '30' }) : undefined));
    const results = await ask(6);
    expect(results.map(({ kind }) => kind)).toEqual(['answer', ...repeat('deferred', 5)]);
    expect(transport.calls.map(({ url }) => isCanary(url))).toEqual([false, false, true]);
    const { blockedUntilMs, blockedReason } = await state();
    expect(blockedReason).toBe('provider_throttled');
    expect(blockedUntilMs - clock.now()).toBeGreaterThan(29_000);
    expect(results[5]).toMatchObject({ untilMs: blockedUntilMs });
    expect(await kinds(1)).toEqual(['deferred: provider_throttled']);
    expect(transport.calls).toHaveLength(3);
  });

  it('is left alone for a few seconds where it does not say how long', async () => {
    const { ask, transport, state, clock } = setUp();
    transport.behave(() => respond(429, {}, { 'retry-after': 'whenever' }));
    await ask(1);
    const waitMs = (await state()).blockedUntilMs - clock.now();
    expect(waitMs).toBeGreaterThan(1_800);
    expect(waitMs).toBeLessThanOrEqual(4_000);
  });

  it('is waited for in place when the block is short', async () => {
    const { kinds, providers, clock, transport } = setUp();
    const untilMs = clock.now() + 1_500;
    await providers.block('company', untilMs);
    expect(await kinds(1)).toEqual(['answer']);
    expect(transport.calls[0]?.atMs).toBeGreaterThanOrEqual(untilMs);
  });

  it('that answers 503 with a Retry-After is left alone for as long', async () => {
    const { ask, transport, state, clock } = setUp();
    transport.behave(() => respond(503, {}, { 'retry-after': '40' }));
    expect(await ask(1)).toMatchObject([{ kind: 'deferred', reason: 'provider_throttled' }]);
    expect((await state()).blockedUntilMs - clock.now()).toBeGreaterThan(39_000);
  });

  it('stops also calls whose slots were reserved long before', async () => {
    const { providers, clock, transport, ask, state } = setUp({ config: { ratePerSecond: 1 } });
    await providers.reserve({ provider: 'company', slots: 10, intervalMs: 1_000, nowMs: clock.now(), maxWaitMs: 0 });
    const untilMs = clock.now() + 30_000;
    const blocking = clock.sleep(5_000).then(async () => providers.block('company', untilMs));
    const [results] = await Promise.all([ask(2), blocking]);
    expect(results).toMatchObject(
      repeat('provider_throttled', 2).map((reason) => ({ kind: 'deferred', reason, untilMs })),
    );
    expect(transport.calls).toEqual([]);
    expect((await state()).blockedUntilMs).toBe(untilMs);
  });

  it('is looked at once for a batch that waits, and not at all for one that does not', async () => {
    const looks: string[] = [];
    const { providers, clock, ask } = setUp({
      hook: async ({ port, method }, apply) => {
        if (port === 'providers' && method === 'get') looks.push(method);
        return apply();
      },
    });
    await ask(5);
    expect(looks).toEqual([]);
    await providers.reserve({ provider: 'company', slots: 10, intervalMs: 500, nowMs: clock.now(), maxWaitMs: 9_000 });
    await ask(5);
    expect(looks).toHaveLength(1);
  });

  it('still defers when the block could not be written', async () => {
    const { kinds, transport } = setUp({
      hook: async ({ method }, apply) => {
        if (method === 'throttle') throw new DependencyUnavailableError('Throttled.');
        return apply();
      },
    });
    transport.behave(() => respond(429));
    expect(await kinds(2)).toEqual(repeat('deferred: dependency_unavailable', 2));
  });
});

describe('a refused credential', () => {
  const refuseOld = ({ authorization }: { authorization: string | undefined }) =>
    authorization === 'Bearer key-2' ? undefined : respond(401);

  it('that was rotated is read again, and the call repeated at once, on a slot of its own: no record pays for it', async () => {
    const { kinds, credentials, transport, telemetry, state } = setUp();
    credentials.rotate('company', 'key-2');
    transport.behave(refuseOld);
    expect(await kinds(3)).toEqual(repeat('answer', 3));
    expect(telemetry.named('credential_refused')).toEqual([]);
    expect((await state()).blockedUntilMs).toBe(0);
    const starts = transport.calls.map(({ atMs }) => atMs).toSorted((a, b) => a - b);
    const gaps = starts.slice(1).map((at, i) => at - (starts[i] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThan(15);
  });

  it('that is still the same stops the provider, not the record, and is logged once at error level', async () => {
    const { kinds, transport, telemetry, state, clock } = setUp();
    transport.behave(refuseOld);
    expect(await kinds(3)).toEqual(repeat('deferred: provider_auth', 3));
    expect(telemetry.named('credential_refused')).toMatchObject([{ level: 'error', provider: 'company' }]);
    const { breaker, openReason, openUntilMs } = await state();
    expect({ breaker, openReason }).toEqual({ breaker: 'open', openReason: 'provider_auth' });
    expect(openUntilMs - clock.now()).toBeGreaterThan(4_000);
  });

  it('costs one probe every quarter of a minute at most, and is found to be replaced within that', async () => {
    const { kinds, transport, state, clock, credentials } = setUp();
    transport.behave(refuseOld);
    await kinds(3);
    for (let probes = 0; probes < 6; probes++) {
      const { openUntilMs } = await state();
      expect(openUntilMs - clock.now()).toBeLessThanOrEqual(16_500);
      await clock.run(clock.sleep(openUntilMs - clock.now()));
      const before = transport.calls.length;
      expect(await kinds(3)).toEqual(repeat('deferred: provider_auth', 3));
      expect(transport.calls.length - before).toBe(1);
    }
    credentials.rotate('company', 'key-2');
    await clock.run(clock.sleep(16_500));
    expect(await kinds(3)).toEqual(repeat('answer', 3));
    const { breaker, openReason } = await state();
    expect({ breaker, openReason }).toEqual({ breaker: 'closed', openReason: undefined });
  });

  it('stops the provider also while the secret cannot be read', async () => {
    const { kinds, transport, state } = setUp({
      hook: async ({ method }, apply) => {
        if (method === 'refresh') throw new DependencyUnavailableError('No secret.');
        return apply();
      },
    });
    transport.behave(refuseOld);
    expect(await kinds(3)).toEqual(repeat('deferred: provider_auth', 3));
    expect(await state()).toMatchObject({ breaker: 'open', openReason: 'provider_auth' });
    const before = transport.calls.length;
    expect(await kinds(3)).toEqual(repeat('deferred: provider_auth', 3));
    expect(transport.calls).toHaveLength(before);
  });

  it('that the secret does not hold is a refused one, without a call', async () => {
    const { kinds, transport, telemetry, clock, ask } = setUp({
      hook: async ({ port, method }, apply) => {
        if (port === 'credentials' && method === 'get')
          throw new CredentialMissingError('No key for company.', { action: 'a', resource: 'r' });
        return apply();
      },
    });
    expect(await kinds(2)).toEqual(repeat('deferred: provider_auth', 2));
    expect(transport.calls).toEqual([]);
    expect(telemetry.named('credential_refused')).toMatchObject([
      { level: 'error', detail: expect.stringMatching(/^No key for company/) },
    ]);
    const [result] = await ask(1);
    expect(result?.kind === 'deferred' && result.untilMs - clock.now()).toBe(10_000);
  });

  it('is in no event', async () => {
    const { ask, transport, telemetry } = setUp();
    transport.behave(refuseOld);
    await ask(3);
    expect(JSON.stringify(telemetry.events)).not.toContain('key-1');
  });
});

describe('what one record meets alone', () => {
  const poison = (answer: ReturnType<typeof respond>) => (call: { url: string }) =>
    call.url.endsWith('/3.example.com') ? answer : undefined;

  it.each([
    ['a 403', respond(403), 'transient: provider_unavailable'],
    ['a 429', respond(429, {}, { 'retry-after': '600' }), 'not_ready: provider_not_ready'],
    ['a 429 for ever', respond(429, {}, { 'retry-after': '1000000000' }), 'not_ready: provider_not_ready'],
    ['a 503 with Retry-After', respond(503, {}, { 'retry-after': '600' }), 'transient: provider_unavailable'],
  ])('%s stops nobody: the canary is answered', async (_, answer, expected) => {
    const { kinds, transport, state } = setUp();
    transport.behave(poison(answer));
    expect(await kinds(10)).toEqual([...repeat('answer', 3), expected, ...repeat('answer', 6)]);
    expect(await state()).toMatchObject({ breaker: 'closed', blockedUntilMs: 0, paceAtMs: 0 });
    expect(transport.calls.filter(({ url }) => isCanary(url)).length).toBeLessThanOrEqual(2);
  });

  it('is waited for as long as it said, by the record alone', async () => {
    const { ask, transport, clock } = setUp();
    transport.behave(poison(respond(429, {}, { 'retry-after': '600' })));
    const lone = (await ask(10))[3];
    expect(lone?.kind === 'not_ready' && (lone.untilMs ?? 0) - clock.now()).toBeGreaterThan(590_000);
  });

  it('stops nobody for longer than a moment where there is no time to ask the canary', async () => {
    const { ask, transport, state, clock } = setUp();
    transport.latencyMs = 1_000;
    transport.behave(() => respond(429, {}, { 'retry-after': '600' }));
    const reserveMs = SETTLE_RESERVE_MS + 3_000;
    expect(await ask(1, reserveMs + 900)).toMatchObject([{ kind: 'deferred', reason: 'provider_throttled' }]);
    expect(transport.calls).toHaveLength(1);
    const { blockedUntilMs } = await state();
    expect(blockedUntilMs - clock.now()).toBeGreaterThan(0);
    expect(blockedUntilMs - clock.now()).toBeLessThanOrEqual(3_000);
  });

  it.each([202, 409, 425])('a %p lets it wait alone, without an attempt and without the canary', async (status) => {
    const answers = { statuses: { '200': 'found', 202: 'not_ready', 409: 'not_ready', 425: 'not_ready' } } as const;
    const { ask, transport, state, clock } = setUp({ config: { answers } });
    transport.behave(poison(respond(status, {}, { 'retry-after': '90' })));
    const results = await ask(5);
    expect(results.map(({ kind }) => kind)).toEqual([...repeat('answer', 3), 'not_ready', 'answer']);
    expect(results[3]).toMatchObject({ reason: 'provider_not_ready', budgetMs: 3_600_000 });
    expect(results[3]?.kind === 'not_ready' && (results[3].untilMs ?? 0) - clock.now()).toBeGreaterThan(89_000);
    expect(await state()).toMatchObject({ breaker: 'closed', blockedUntilMs: 0 });
    expect(transport.calls).toHaveLength(5);
  });
});

describe('answers without data for everybody', () => {
  it.each([400, 404, 422, 501])('a %p is believed of no record: the canary meets it, too', async (status) => {
    const answers = {
      statuses: { '200': 'found', '404': 'not_found', '4xx': 'permanent', '501': 'permanent' },
    } as const;
    const { kinds, transport, state, clock } = setUp({ config: { answers } });
    transport.behave(() => respond(status));
    expect(await kinds(10)).toEqual(repeat('deferred: breaker_open', 10));
    expect(await state()).toMatchObject({ breaker: 'open' });
    transport.behave(() => undefined);
    const { openUntilMs } = await state();
    await clock.run(clock.sleep(openUntilMs - clock.now()));
    expect(await kinds(10)).toEqual(repeat('answer', 10));
  });

  it('are not believed of those that came last before it was found out', async () => {
    const { kinds, transport } = setUp();
    transport.behave((_, index) => (index < 6 ? undefined : respond(404)));
    expect(await kinds(10)).toEqual([...repeat('answer', 6), ...repeat('deferred: breaker_open', 4)]);
  });

  it('are believed without the canary where a later record got data', async () => {
    const { ask, transport } = setUp();
    transport.behave((_, index) => (index === 2 || index === 3 ? respond(index === 2 ? 404 : 422) : undefined));
    const results = await ask(6);
    expect(results.map(({ kind }) => kind)).toEqual(['answer', 'answer', 'answer', 'permanent', 'answer', 'answer']);
    expect(results[2]).toEqual({ kind: 'answer', answer: { kind: 'not_found' } });
    expect(transport.calls).toHaveLength(6);
  });

  it('are believed of a whole batch when the canary gets data', async () => {
    const { ask, transport } = setUp();
    transport.behave(({ url }) => (isCanary(url) ? undefined : respond(404)));
    expect(await ask(4)).toEqual(Array.from({ length: 4 }, () => ({ kind: 'answer', answer: { kind: 'not_found' } })));
    expect(transport.calls).toHaveLength(5);
  });

  it('of the canary alone do not stop the provider for good: a record with data proves it wrong', async () => {
    const { kinds, transport, state, clock, telemetry } = setUp();
    transport.behave(({ url }) => (isCanary(url) || url.endsWith('/1.example.com') ? respond(404) : undefined));
    expect(await kinds(2)).toEqual(['answer', 'deferred: breaker_open']);
    const { openUntilMs } = await state();
    await clock.run(clock.sleep(openUntilMs - clock.now()));
    expect((await kinds(3))[0]).toBe('answer');
    expect(telemetry.named('canary_refused')).toMatchObject([{ level: 'error', provider: 'company' }]);
    expect(telemetry.named('breaker_closed')).toHaveLength(1);
    const { canaryDistrustedUntilMs = 0 } = await state();
    expect((canaryDistrustedUntilMs - clock.now()) / 3_600_000).toBeCloseTo(1, 3);
  });

  it('of a canary that is known to be wrong stop nobody for an hour, in any process', async () => {
    const { kinds, transport, state, clock, telemetry, providers } = setUp();
    const closing = { probeOwner: 'other', nowMs: clock.now(), canaryDistrustedUntilMs: clock.now() + 3_600_000 };
    await providers.open('company', { epoch: 0, openUntilMs: clock.now() });
    await providers.claimProbe('company', { epoch: 1, owner: 'other', nowMs: clock.now(), leaseMs: 1_000 });
    await providers.close('company', { epoch: 1, ...closing });
    transport.behave(({ url }) => (isCanary(url) || url.endsWith('/1.example.com') ? respond(404) : undefined));
    for (let minute = 0; minute < 50; minute++) {
      expect(await kinds(2)).toEqual(['answer', 'answer']);
      await clock.run(clock.sleep(60_000));
    }
    expect(telemetry.named('breaker_opened')).toHaveLength(0);
    expect(await state()).toMatchObject({ breaker: 'closed', epoch: 1 });
    await clock.run(clock.sleep(600_000));
    expect(await kinds(2)).toEqual(['answer', 'deferred: breaker_open']);
  });

  it('of a canary that is known to be wrong end an outage: the provider answers', async () => {
    const { kinds, transport, state, clock, providers } = setUp();
    const closing = { probeOwner: 'other', nowMs: clock.now(), canaryDistrustedUntilMs: clock.now() + 3_600_000 };
    await providers.open('company', { epoch: 0, openUntilMs: clock.now() });
    await providers.claimProbe('company', { epoch: 1, owner: 'other', nowMs: clock.now(), leaseMs: 1_000 });
    await providers.close('company', { epoch: 1, ...closing });
    transport.behave(() => OUT);
    await kinds(5);
    const { openUntilMs } = await state();
    transport.behave(() => respond(404));
    await clock.run(clock.sleep(openUntilMs - clock.now()));
    await kinds(1);
    expect(await state()).toMatchObject({ breaker: 'closed', openings: 0 });
  });
});

describe('an outage', () => {
  it('opens the breaker after one wave, costs no attempt, and is confirmed by the canary', async () => {
    const { kinds, transport, state, recordCalls, telemetry, clock } = setUp();
    transport.latencyMs = 5;
    transport.behave(() => OUT);
    expect(await kinds(10)).toEqual(repeat('deferred: breaker_open', 10));
    expect(await state()).toMatchObject({ breaker: 'open', epoch: 1, openings: 1 });
    // Three failures in a row are enough: the others of the batch were not even started.
    expect(recordCalls()).toHaveLength(3);
    expect(transport.calls).toHaveLength(4);
    expect(telemetry.named('breaker_opened')).toMatchObject([{ level: 'warn', provider: 'company' }]);
    const openMs = (await state()).openUntilMs - clock.now();
    expect(openMs).toBeGreaterThan(4_000);
    expect(openMs).toBeLessThan(6_000);
  });

  it('costs nothing more while the breaker is open', async () => {
    const { kinds, transport } = setUp();
    transport.behave(() => OUT);
    await kinds(10);
    const before = transport.calls.length;
    expect(await kinds(10)).toEqual(repeat('deferred: breaker_open', 10));
    expect(transport.calls).toHaveLength(before);
  });

  it('keeps what was answered before it began', async () => {
    const { kinds, transport } = setUp();
    transport.latencyMs = 5;
    transport.behave((_, index) => (index < 3 ? undefined : OUT));
    expect(await kinds(10)).toEqual([...repeat('answer', 3), ...repeat('deferred: breaker_open', 7)]);
  });

  it('is probed by the canary once its time has come, and costs the waiting records nothing', async () => {
    const { kinds, transport, state, clock, recordCalls } = setUp();
    transport.behave(() => OUT);
    await kinds(10);
    const calls = recordCalls().length;
    const { openUntilMs } = await state();
    await clock.run(clock.sleep(openUntilMs - clock.now()));
    expect(await kinds(10)).toEqual(repeat('deferred: breaker_open', 10));
    expect(recordCalls()).toHaveLength(calls);
    const after = await state();
    expect(after).toMatchObject({ breaker: 'open', epoch: 2, openings: 2 });
    expect(after.openUntilMs - clock.now()).toBeGreaterThan(8_000);
  });

  it('ends with the first probe that is answered, and the batch goes on at once', async () => {
    const { kinds, transport, state, clock, recordCalls, telemetry } = setUp();
    transport.behave(() => OUT);
    await kinds(10);
    const { openUntilMs } = await state();
    await clock.run(clock.sleep(openUntilMs - clock.now()));
    transport.behave(() => undefined);
    const before = recordCalls().length;
    expect(await kinds(10)).toEqual(repeat('answer', 10));
    expect(recordCalls()).toHaveLength(before + 10);
    expect(await state()).toMatchObject({ breaker: 'closed', openings: 0 });
    expect(telemetry.named('breaker_closed')).toHaveLength(1);
  });

  it('is probed by one worker only', async () => {
    const { clock, deps, provider, transport, state, kinds } = setUp();
    transport.behave(() => OUT);
    await kinds(10);
    const { openUntilMs } = await state();
    await clock.run(clock.sleep(openUntilMs - clock.now()));
    const before = transport.calls.length;
    const budget = { remainingMs: () => 30_000 };
    const workers = ['a', 'b', 'c', 'd'].map(async (owner) =>
      lookUp({ ...deps, owner }, provider, [{ url: 'https://company.example.com/x', isLastAttempt: false }], budget),
    );
    const results = await clock.run(Promise.all(workers));
    expect(transport.calls).toHaveLength(before + 1);
    expect(results.flat().map(({ kind }) => kind)).toEqual(repeat('deferred', 4));
  });

  it('takes the probe of a worker that died over when its lease has ended', async () => {
    const { clock, kinds, providers, transport, state } = setUp();
    transport.behave(() => OUT);
    await kinds(10);
    transport.behave(() => undefined);
    const { openUntilMs, epoch } = await state();
    await clock.run(clock.sleep(openUntilMs - clock.now()));
    await providers.claimProbe('company', { epoch, owner: 'dead', nowMs: clock.now(), leaseMs: 10_000 });
    expect(await kinds(1)).toEqual(['deferred: breaker_open']);
    await clock.run(clock.sleep(10_000));
    expect(await kinds(1)).toEqual(['answer']);
  });

  it('probes and calls never come closer than the pace', async () => {
    const { kinds, transport, state, clock } = setUp({ config: { ratePerSecond: 2 } });
    transport.latencyMs = 1;
    transport.behave(() => OUT);
    await kinds(6);
    const { openUntilMs } = await state();
    await clock.run(clock.sleep(openUntilMs - clock.now()));
    transport.behave(() => undefined);
    await kinds(3);
    const starts = transport.calls.map(({ atMs }) => atMs);
    expect(Math.min(...starts.slice(1).map((at, i) => at - (starts[i] ?? 0)))).toBeGreaterThanOrEqual(500);
  });

  it('grows its wait up to two minutes', async () => {
    const { kinds, transport, state, clock } = setUp();
    transport.behave(() => OUT);
    await kinds(10);
    const waits: number[] = [];
    for (let i = 0; i < 8; i++) {
      const { openUntilMs } = await state();
      waits.push(openUntilMs - clock.now());
      await clock.run(clock.sleep(openUntilMs - clock.now()));
      await kinds(1);
    }
    expect(waits[1]).toBeGreaterThan(8_000);
    expect(waits[2]).toBeGreaterThan(17_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(132_000);
    expect(waits.at(-1)).toBeGreaterThan(100_000);
  });

  it('that nobody could report costs no attempt either', async () => {
    const { kinds, transport } = setUp({
      hook: async ({ method }, apply) => {
        if (method === 'addFailures') throw new DependencyUnavailableError('Throttled.');
        return apply();
      },
    });
    transport.behave(() => OUT);
    expect(await kinds(2)).toEqual(repeat('deferred: dependency_unavailable', 2));
  });

  it('found by others meanwhile explains failures of calls from before', async () => {
    const { kinds, transport, providers } = setUp();
    transport.behave((_, index) => {
      if (index === 0) void providers.open('company', { epoch: 0, openUntilMs: Number.MAX_SAFE_INTEGER });
      return OUT;
    });
    expect(await kinds(2)).toEqual(repeat('deferred: breaker_open', 2));
  });
});

describe('a success from before an opening', () => {
  it('closes nothing', async () => {
    const { kinds, transport, providers, state } = setUp();
    transport.behave((_, index) => {
      if (index === 0) void providers.open('company', { epoch: 0, openUntilMs: Number.MAX_SAFE_INTEGER });
      return undefined;
    });
    expect(await kinds(2)).toEqual(repeat('answer', 2));
    expect(await state()).toMatchObject({ breaker: 'open', epoch: 1 });
  });
});

describe('failures that are no outage', () => {
  it('cost their records an attempt, and one update', async () => {
    const { kinds, transport, state } = setUp();
    transport.behave((_, index) => (index === 9 ? respond(500) : undefined));
    expect((await kinds(10)).filter((kind) => kind !== 'answer')).toEqual(['transient: provider_unavailable']);
    expect(await state()).toMatchObject({ breaker: 'closed', failures: 1 });
  });

  it('are forgotten with the next success', async () => {
    const { kinds, transport, state } = setUp();
    transport.behave((_, index) => (index === 0 ? respond(500) : undefined));
    await kinds(1);
    expect(await state()).toMatchObject({ failures: 1 });
    await kinds(1);
    expect(await state()).toMatchObject({ failures: 0 });
  });

  it('of records that the provider always fails on never open the breaker: the canary is answered', async () => {
    const { kinds, transport, state } = setUp();
    transport.behave(({ url }) => (isCanary(url) ? undefined : respond(500)));
    const results = await kinds(5);
    expect(results).toEqual(repeat('transient: provider_unavailable', 5));
    expect(await state()).toMatchObject({ breaker: 'closed', failures: 0 });
  });

  it('of a lone record add up, until the canary has spoken for the provider', async () => {
    const { kinds, transport } = setUp();
    transport.behave(({ url }) => (isCanary(url) ? undefined : respond(500)));
    for (let i = 0; i < 5; i++) expect(await kinds(1)).toEqual(['transient: provider_unavailable']);
    expect(transport.calls.filter(({ url }) => isCanary(url))).toHaveLength(1);
  });

  it('of a lone record in an outage cost it less than its attempts', async () => {
    const { kinds, transport } = setUp();
    transport.behave(() => respond(500));
    const results: string[] = [];
    for (let i = 0; i < 6; i++) results.push(...(await kinds(1)));
    expect(results).toEqual([...repeat('transient: provider_unavailable', 2), ...repeat('deferred: breaker_open', 4)]);
  });
});

describe('the failure that would end a record', () => {
  const lastAttempt = async ({ ask }: ReturnType<typeof setUp>, count = 1) =>
    (await ask(count, 60_000, true)).map((result) =>
      'reason' in result ? `${result.kind}: ${result.reason}` : result.kind,
    );

  it('is not believed while the provider does not answer the canary either', async () => {
    const world = setUp();
    world.transport.behave(() => OUT);
    expect(await lastAttempt(world)).toEqual(['deferred: breaker_open']);
    expect(await world.state()).toMatchObject({ breaker: 'open' });
  });

  it('is believed when it does', async () => {
    const world = setUp();
    world.transport.behave(({ url }) => (isCanary(url) ? undefined : OUT));
    expect(await lastAttempt(world)).toEqual(['transient: provider_unavailable']);
    expect(world.transport.calls).toHaveLength(2);
  });

  it('is believed without asking when the provider answered another record afterwards', async () => {
    const world = setUp();
    world.transport.behave((_, index) => (index === 0 ? OUT : undefined));
    expect(await lastAttempt(world, 3)).toEqual(['transient: provider_unavailable', 'answer', 'answer']);
    expect(world.transport.calls).toHaveLength(3);
  });
});

describe('a provider that limits its concurrent calls', () => {
  /** The most calls that were open at the same time; each lasts as long as the answer takes. */
  const mostAtOnce = (calls: readonly { atMs: number }[], latencyMs: number): number =>
    Math.max(
      ...calls.map(({ atMs }) => calls.filter((other) => other.atMs <= atMs && atMs < other.atMs + latencyMs).length),
    );

  it.each([
    [1, 1],
    [3, 3],
    [undefined, 10],
  ])('has at most %p of a worker open', async (callsAtOnce, most) => {
    const { kinds, transport } = setUp({
      config: { ratePerSecond: 10_000 },
      ...(callsAtOnce === undefined ? {} : { callsAtOnce }),
    });
    transport.latencyMs = 400;
    expect(await kinds(10)).toEqual(repeat('answer', 10));
    expect(mostAtOnce(transport.calls, 400)).toBe(most);
  });

  it('keeps the time that the slowest answer needs, also for calls that waited for others', async () => {
    const { kinds, transport, config } = setUp({ config: { ratePerSecond: 10_000 }, callsAtOnce: 1 });
    transport.latencyMs = 1_000;
    // Two calls begin in time; the third would begin when its slowest answer could not be written any more.
    const results = await kinds(4, config.timeoutMs + SETTLE_RESERVE_MS + 1_500);
    expect(results).toEqual(['answer', 'answer', 'deferred: out_of_time', 'deferred: out_of_time']);
    expect(transport.calls).toHaveLength(2);
  });

  it('is not called by what waited, once it has asked for quiet', async () => {
    const { kinds, transport } = setUp({ config: { ratePerSecond: 10_000 }, callsAtOnce: 1 });
    transport.behave((_, index) => (index > 0 ? respond(429, undefined, { 'retry-after': '30' }) : undefined));
    expect(await kinds(4)).toEqual(['answer', ...repeat('deferred: provider_throttled', 3)]);
    expect(transport.calls).toHaveLength(3);
  });

  it('never has more calls begin than its rate allows, however many waited for calls that hung', async () => {
    const world = setUp({ config: { ratePerSecond: 20 } });
    const { clock, config, deps, transport } = world;
    const request = transport.request.bind(transport);
    transport.latencyMs = 1;
    deps.transport = {
      request: async (call) => {
        const answer = await request(call);
        const isFirstOfWorker = call.url.endsWith('/0');
        await clock.sleep(isFirstOfWorker ? 5_000 : 0);
        return answer;
      },
    };
    const workers = Array.from({ length: 6 }, async (_, worker) => {
      const [api] = prepareProviders([config], { company: 1 });
      const questions = Array.from({ length: 10 }, (__, i) => ({
        url: `https://company.example.com/${worker}/${i}`,
        isLastAttempt: false,
      }));
      return api && lookUp({ ...deps, owner: `worker-${worker}` }, api, questions, { remainingMs: () => 60_000 });
    });
    const results = await clock.run(Promise.all(workers));
    expect(results.flat().map((result) => result?.kind)).toEqual(repeat('answer', 60));
    const starts = transport.calls.map(({ atMs }) => atMs).toSorted((a, b) => a - b);
    const gaps = starts.slice(1).map((at, i) => at - (starts[i] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThan(intervalMs(config) - 0.01);
  });

  it('reserves no slots for calls that have to wait for others', async () => {
    const { kinds, state, clock, config } = setUp({ config: { ratePerSecond: 1 }, callsAtOnce: 2 });
    const fromMs = clock.now();
    expect(await kinds(4)).toEqual(repeat('answer', 4));
    expect((await state()).nextAtMs - fromMs).toBeLessThan(4 * intervalMs(config) + 100);
  });

  it('is told of an outage by as few calls as any other', async () => {
    const { kinds, transport, recordCalls } = setUp({ config: { ratePerSecond: 10_000 }, callsAtOnce: 1 });
    transport.behave(() => OUT);
    expect(await kinds(10)).toEqual(repeat('deferred: breaker_open', 10));
    expect(recordCalls()).toHaveLength(3);
  });

  it('gets no call without a slot when the pacer does not answer meanwhile', async () => {
    let reservations = 0;
    const { kinds, transport } = setUp({
      callsAtOnce: 1,
      hook: async ({ method }, apply) => {
        if (method === 'reserve' && ++reservations > 1) throw new DependencyUnavailableError('Throttled.');
        return apply();
      },
    });
    expect(await kinds(3)).toEqual(['answer', ...repeat('deferred: dependency_unavailable', 2)]);
    expect(transport.calls).toHaveLength(1);
  });
});
