import fc from 'fast-check';
import {
  CapacityError,
  deriveCapacity,
  visibilityTimeoutSeconds,
  type CapacityInput,
} from '../../lambdas/domain/capacity.ts';
import { isolatedRunMs } from '../../lambdas/domain/limits.ts';
import { PACE_SHARE } from '../../lambdas/domain/providers/config.ts';

const provider = (change: Partial<CapacityInput['providers'][number]> = {}) => ({
  name: 'company',
  ratePerSecond: 200,
  p99Ms: 800,
  timeoutMs: 5_000,
  ...change,
});

const input = (change: Partial<CapacityInput> = {}): CapacityInput => ({
  providers: [provider()],
  batchSize: 10,
  laneShares: { small: 0.5, bulk: 0.5 },
  maxFunctionTimeoutSeconds: 120,
  ...change,
});

describe('the capacity', () => {
  it('keeps as many workers as the pace needs while answers are slow', () => {
    // 197 records per second, 1.7 s per batch of ten.
    expect(deriveCapacity(input()).maxConcurrency).toEqual({ small: 34, bulk: 34 });
  });

  it('is decided by the provider that needs the most workers', () => {
    const quick = provider({ name: 'geo', p99Ms: 50 });
    expect(deriveCapacity(input({ providers: [quick, provider()] }))).toMatchObject({
      maxConcurrency: { small: 34, bulk: 34 },
      slowestAnswerMs: 10_000,
    });
  });

  it('never goes below the two workers that an event source starts with', () => {
    const slow = provider({ ratePerSecond: 1 });
    expect(deriveCapacity(input({ providers: [slow] })).maxConcurrency).toEqual({ small: 2, bulk: 2 });
  });

  it('gives a lane with a larger share as many more workers', () => {
    const { maxConcurrency } = deriveCapacity(input({ laneShares: { small: 0.75, bulk: 0.25 } }));
    expect(maxConcurrency).toEqual({ small: 102, bulk: 34 });
  });

  it('sizes the timeout by the slots that all workers wait for at the slowest provider, and the slowest answers', () => {
    const slow = provider({ name: 'geo', ratePerSecond: 20, timeoutMs: 3_000 });
    const capacity = deriveCapacity(input({ providers: [provider(), slow] }));
    // 68 workers x 10 records / 19.7 per second = 34.6 s, and 8 s of answers, and 11.5 s to write and hand back.
    expect(capacity).toMatchObject({ saturatedBatchMs: 34_518, slowestAnswerMs: 8_000, functionTimeoutSeconds: 55 });
    expect(capacity.visibilityTimeoutSeconds).toBe(330);
  });

  it('collects for a second where a batch is larger than one receive', () => {
    expect(deriveCapacity(input({ batchSize: 11 }))).toMatchObject({
      batchWindowSeconds: 1,
      functionTimeoutSeconds: 30,
      visibilityTimeoutSeconds: 181,
    });
  });

  describe('with a provider that limits its concurrent calls', () => {
    const limited = (maxConcurrentCalls: number, change = {}) =>
      deriveCapacity(input({ providers: [provider({ maxConcurrentCalls })], ...change }));

    it('divides them among the workers', () => {
      expect(limited(300)).toMatchObject({ maxConcurrency: { small: 34, bulk: 34 }, callsPerWorker: { company: 4 } });
    });

    it('runs fewer workers where there are fewer calls, in the ratio of the shares', () => {
      expect(limited(20)).toMatchObject({ maxConcurrency: { small: 10, bulk: 10 }, callsPerWorker: { company: 1 } });
      expect(limited(20, { laneShares: { small: 0.25, bulk: 0.75 } }).maxConcurrency).toEqual({ small: 5, bulk: 15 });
      expect(limited(5, { laneShares: { small: 0.1, bulk: 0.9 } }).maxConcurrency).toEqual({ small: 2, bulk: 3 });
    });

    it('expects a saturated batch to last as long as the calls allow', () => {
      // 20 workers x 10 records at 20 calls / 1.6 s.
      expect(limited(20).saturatedBatchMs).toBe(16_000);
    });

    it('gives no limit to a provider that has none', () => {
      expect(deriveCapacity(input()).callsPerWorker).toEqual({});
    });

    it.each([
      [3, /maxConcurrentCalls 3, and .* at least 4 workers together: raise it to 4/],
      [0, /maxConcurrentCalls 0: set a whole number/],
      [2.5, /maxConcurrentCalls 2\.5: set a whole number/],
    ])('refuses %p', (calls, message) => {
      expect(() => limited(calls)).toThrow(message);
    });

    it('never allows more calls than the limit, whatever the combination', () => {
      const arbitrary = fc.record({
        maxConcurrentCalls: fc.integer({ min: 4, max: 500 }),
        ratePerSecond: fc.double({ min: 1, max: 800, noNaN: true }),
        small: fc.double({ min: 0.1, max: 0.9, noNaN: true }),
      });
      fc.assert(
        fc.property(arbitrary, ({ maxConcurrentCalls, ratePerSecond, small }) => {
          const providers = [provider({ maxConcurrentCalls, ratePerSecond })];
          const laneShares = { small, bulk: 1 - small };
          const { maxConcurrency, callsPerWorker } = deriveCapacity(
            input({ providers, laneShares, batchSize: 20, maxFunctionTimeoutSeconds: 900 }),
          );
          const calls = callsPerWorker['company'] ?? 0;
          expect(calls).toBeGreaterThanOrEqual(1);
          expect((maxConcurrency.small + maxConcurrency.bulk) * calls).toBeLessThanOrEqual(maxConcurrentCalls);
          expect(Math.min(maxConcurrency.small, maxConcurrency.bulk)).toBeGreaterThanOrEqual(2);
        }),
        { seed: 1, numRuns: 300 },
      );
    });
  });

  it('leaves an isolated record the time that it needs, however slow its provider is', () => {
    for (const timeoutMs of [5_000, 10_000, 30_000]) {
      const { functionTimeoutSeconds } = deriveCapacity(input({ providers: [provider({ timeoutMs })] }));
      expect(functionTimeoutSeconds * 1_000).toBeGreaterThanOrEqual(isolatedRunMs(timeoutMs) + 2_000);
    }
  });

  it('refuses a batch that cannot end within the timeout, and says why', () => {
    const slow = provider({ ratePerSecond: 0.2 });
    const derive = () => deriveCapacity(input({ providers: [slow] }));
    expect(derive).toThrow(CapacityError);
    expect(derive).toThrow(
      /4 workers and 10 records each it waits up to 203\.1 s for the slots of "company" \(0\.2 calls/,
    );
    expect(derive).toThrow(/Lower worker\.batchSize/);
    expect(deriveCapacity(input({ providers: [slow], batchSize: 2 })).functionTimeoutSeconds).toBe(58);
  });

  it('names the provider that lets the fewest calls through, and the limit that binds it', () => {
    const providers = [
      provider({ name: 'geo', ratePerSecond: 50 }),
      provider({ p99Ms: 4_000, maxConcurrentCalls: 20 }),
    ];
    expect(() => deriveCapacity(input({ providers, maxFunctionTimeoutSeconds: 60 }))).toThrow(
      /up to 80 s for the slots of "company" \(maxConcurrentCalls 20, answered within twice its p99Ms 4000\)/,
    );
  });

  it('refuses more workers than an event source allows, with a batch size that works', () => {
    const fast = provider({ ratePerSecond: 10_000 });
    expect(() => deriveCapacity(input({ providers: [fast] }))).toThrow(/needs 1675 workers.*from 10 to 17 or more/);
    expect(deriveCapacity(input({ providers: [fast], batchSize: 17 })).maxConcurrency.bulk).toBeLessThanOrEqual(1_000);
  });

  it.each([
    [{ providers: [] }, /No provider is configured/],
    [{ providers: [provider({ ratePerSecond: 0 })] }, /"company" allows 0 calls per second/],
    [{ providers: [provider({ p99Ms: 5_000 })] }, /p99Ms 5000 and timeoutMs 5000/],
    [{ batchSize: 0 }, /worker\.batchSize is 0/],
    [{ batchSize: 1.5 }, /worker\.batchSize is 1\.5/],
    [{ laneShares: { small: 0.5, bulk: 0.6 } }, /0\.5 and 0\.6: they must .* add up to 1/],
    [{ laneShares: { small: 0, bulk: 1 } }, /above zero/],
    [{ maxFunctionTimeoutSeconds: 901 }, /worker\.maxTimeoutSeconds is 901/],
  ])('refuses what cannot work (%#)', (change, message) => {
    expect(() => deriveCapacity(input(change))).toThrow(message);
  });

  it('always fits the quotas and lets each lane alone reach the pace', () => {
    const arbitrary = fc.record({
      ratePerSecond: fc.double({ min: 0.05, max: 5_000, noNaN: true }),
      p99Ms: fc.integer({ min: 1, max: 4_999 }),
      batchSize: fc.integer({ min: 1, max: 100 }),
      small: fc.double({ min: 0.1, max: 0.9, noNaN: true }),
    });
    let derived = 0;
    fc.assert(
      fc.property(arbitrary, ({ ratePerSecond, p99Ms, batchSize, small }) => {
        const providers = [provider({ ratePerSecond, p99Ms })];
        const laneShares = { small, bulk: 1 - small };
        let capacity;
        try {
          capacity = deriveCapacity(input({ providers, batchSize, laneShares, maxFunctionTimeoutSeconds: 900 }));
        } catch (error) {
          if (error instanceof CapacityError) return;
          throw error;
        }
        derived++;
        for (const workers of Object.values(capacity.maxConcurrency)) {
          expect(workers).toBeGreaterThanOrEqual(2);
          expect(workers).toBeLessThanOrEqual(1_000);
          expect((workers * batchSize * 1_000) / p99Ms).toBeGreaterThanOrEqual(ratePerSecond * PACE_SHARE);
        }
        const spentMs = capacity.saturatedBatchMs + capacity.slowestAnswerMs;
        expect(spentMs).toBeLessThan(capacity.functionTimeoutSeconds * 1_000);
        expect(capacity.visibilityTimeoutSeconds).toBeLessThanOrEqual(12 * 3_600);
      }),
      { seed: 1, numRuns: 500 },
    );
    expect(derived).toBeGreaterThan(250);
  });
});

it('a visibility timeout is six function timeouts and the batching window', () => {
  expect(visibilityTimeoutSeconds(30, 1)).toBe(181);
  expect(visibilityTimeoutSeconds(900)).toBe(5_400);
});
