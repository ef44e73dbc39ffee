import { describe, expect, it, jest } from '@jest/globals';
import { reserveSlots, sleepUntil } from '../../../lambdas/domain/providers/slots.ts';
import { intervalMs, latestStartMs, START_JITTER_MS, usableRate } from '../../../lambdas/domain/providers/config.ts';
import { makeProvider } from '../../support/factories.ts';
import { createMemoryWorld, seededRandom } from '../../support/memory/index.ts';
import { createVirtualClock } from '../../support/virtual-clock.ts';

// Minutes of virtual time take seconds of a busy machine.
jest.setTimeout(60_000);

function setUp(ratePerSecond = 50) {
  const clock = createVirtualClock();
  const { providers } = createMemoryWorld({ clock });
  const provider = makeProvider({ ratePerSecond });
  const deps = { providers, clock };
  return {
    clock,
    providers,
    provider,
    deps,
    reserve: async (slots: number, withinMs: number) =>
      reserveSlots(deps, { provider: { config: provider }, slots, withinMs }),
  };
}

describe('slots', () => {
  it('come one interval after another, and not before the answer of the reservation can be here', async () => {
    const { clock, provider, reserve } = setUp();
    const { slotsMs } = await reserve(3, 10_000);
    const interval = intervalMs(provider);
    expect(slotsMs[0]).toBeGreaterThan(clock.now());
    const distances = slotsMs.map((at) => at - (slotsMs[0] ?? 0));
    expect(distances).toEqual([0, expect.closeTo(interval, 2), expect.closeTo(2 * interval, 2)]);
  });

  it('of the next batch begin where those of the last one ended', async () => {
    const { provider, reserve } = setUp();
    const first = await reserve(3, 10_000);
    const second = await reserve(2, 10_000);
    expect((second.slotsMs[0] ?? 0) - (first.slotsMs[2] ?? 0)).toBeCloseTo(intervalMs(provider), 2);
  });

  it('are not reserved when the first would come too late', async () => {
    const { providers, reserve } = setUp(1);
    await reserve(5, 10_000);
    const before = await providers.get('company');
    const refused = await reserve(3, 3_000);
    expect(refused.slotsMs).toEqual([]);
    expect((await providers.get('company')).nextAtMs).toBe(before.nextAtMs);
  });

  it('are reserved for as many calls as still fit', async () => {
    const { clock, reserve } = setUp(1);
    await reserve(3, 10_000);
    const { slotsMs } = await reserve(10, 6_500);
    expect(slotsMs).toHaveLength(4);
    expect(slotsMs.at(-1)).toBeLessThanOrEqual(clock.now() + 6_500);
  });

  it('are not even asked for when there is no time for one call', async () => {
    const { providers, reserve } = setUp();
    expect(await reserve(1, 5)).toMatchObject({ slotsMs: [] });
    expect((await providers.get('company')).nextAtMs).toBe(0);
  });

  it.each([
    [
      'a block',
      async ({ providers, clock }: ReturnType<typeof setUp>) => providers.block('company', clock.now() + 5_000),
    ],
    [
      'an open breaker',
      async ({ providers, clock }: ReturnType<typeof setUp>) =>
        providers.open('company', { epoch: 0, openUntilMs: clock.now() + 5_000 }),
    ],
  ])('are refused during %s, and nothing is reserved', async (_, arrange) => {
    const world = setUp();
    await arrange(world);
    const { slotsMs } = await world.reserve(1, 10_000);
    expect(slotsMs).toEqual([]);
    expect((await world.providers.get('company')).nextAtMs).toBe(0);
  });

  it('are never slept past too early', async () => {
    const early: number[] = [];
    const clock = { now: () => early.length, sleep: async (ms: number) => void early.push(ms) };
    await sleepUntil(clock, 3);
    expect(early).toEqual([3, 2, 1]);
  });
});

describe('a fleet', () => {
  const RATE = 200;
  const WORKERS = 20;

  /** Workers with clocks that differ by up to `skewMs` take batches of ten for ten seconds. */
  async function drain(skewMs: number) {
    const { clock, providers, provider } = setUp(RATE);
    const random = seededRandom(7);
    const startMs = clock.now();
    const endMs = startMs + 10_000;
    const starts: number[] = [];
    const worker = async (): Promise<void> => {
      const skew = (random() - 0.5) * 2 * skewMs;
      const own = { now: () => clock.now() + skew, sleep: async (ms: number) => clock.sleep(ms) };
      while (clock.now() < endMs) {
        await clock.sleep(random() * 10);
        const { slotsMs } = await reserveSlots(
          { providers, clock: own },
          { provider: { config: provider }, slots: 10, withinMs: 5_000 },
        );
        await Promise.all(
          slotsMs.map(async (slot) => {
            await sleepUntil(own, slot);
            starts.push(clock.now());
            await clock.sleep(20 + random() * 300);
          }),
        );
      }
    };
    await clock.run(Promise.all(Array.from({ length: WORKERS }, worker)));
    const within = starts.filter((at) => at < endMs).toSorted((a, b) => a - b);
    const peak = Math.max(...within.map((at, i) => within.slice(i).filter((later) => later < at + 1_000).length));
    return { utilisation: within.length / (RATE * 10), peak };
  }

  it('uses the limit and never exceeds it in any second', async () => {
    const { utilisation, peak } = await drain(0);
    expect(utilisation).toBeGreaterThanOrEqual(0.98);
    expect(peak).toBeLessThanOrEqual(RATE);
  });

  it('with clocks that differ by 50 ms stays within what a burst of 5 % tolerates', async () => {
    const { utilisation, peak } = await drain(50);
    expect(utilisation).toBeGreaterThanOrEqual(0.97);
    expect(peak).toBeLessThanOrEqual(RATE * 1.05);
  });
});

describe('the usable rate', () => {
  /** Calls that a token bucket of the limit refuses when slots at the usable rate are used up to `lateMs` late. */
  function refused(limit: { ratePerSecond: number; burst: number }, lateMs: (slot: number) => number): number {
    const interval = intervalMs({ ratePerSecond: usableRate(limit) });
    const arrivals = Array.from({ length: 5_000 }, (_, slot) => slot * interval + lateMs(slot)).toSorted(
      (a, b) => a - b,
    );
    let tokens = limit.burst;
    let filledAtMs = 0;
    let count = 0;
    for (const atMs of arrivals) {
      tokens = Math.min(limit.burst, tokens + ((atMs - filledAtMs) * limit.ratePerSecond) / 1_000);
      filledAtMs = atMs;
      if (tokens > 1 - 1e-9) tokens -= 1;
      else count += 1;
    }
    return count;
  }

  const LIMITS = [1, 2, 3, 5, 10, 50].flatMap((burst) =>
    [2, 40, 200, 1_000].map((ratePerSecond) => ({ ratePerSecond, burst })),
  );

  it.each(LIMITS)('of $ratePerSecond a second with a burst of $burst is never refused', (limit) => {
    const random = seededRandom(3);
    expect(refused(limit, () => random() * START_JITTER_MS)).toBe(0);
    // A process sleeps now and then: all that was due meanwhile starts at once, if it is not too late.
    const interval = intervalMs({ ratePerSecond: usableRate(limit) });
    const asleepMs = latestStartMs({ ...limit, ratePerSecond: usableRate(limit) }, 1);
    const stalls = (slot: number): number => {
      const atMs = (slot * interval) % (40 * asleepMs);
      return atMs < asleepMs ? asleepMs - atMs : 0;
    };
    expect(refused(limit, stalls)).toBe(0);
  });

  it('is the whole limit where the provider tolerates 3 % of a second at once, and a part of it below', () => {
    expect(usableRate({ ratePerSecond: 1_000, burst: 30 })).toBe(1_000);
    expect(usableRate({ ratePerSecond: 200, burst: 6 })).toBe(200);
    expect(usableRate({ ratePerSecond: 200, burst: 1 })).toBeLessThan(40);
  });
});
