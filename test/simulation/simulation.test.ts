import { describe, expect, it, jest } from '@jest/globals';
import { capacityOf, providersOf } from '../../config/stage.ts';
import prod from '../../config/stages/prod.ts';
import { PACE_SHARE } from '../../lambdas/domain/providers/config.ts';
import { workerGbSeconds } from '../../local/capacity/designs.ts';
import { runDrain } from './drain.ts';
import { extraShareOf, MOST_EXTRA_SHARE, runSlowerProvider, SLOWER } from './slower-provider.ts';
import { planOf } from './plan.ts';
import { explain } from './report.ts';
import { run } from './run.ts';

// Forty runs of hours of virtual time take a while on a busy machine. More of them: npm run sim -- --seeds 2000.
jest.setTimeout(300_000);

const SEEDS = 40;
const GROUP = 20;

describe('the simulation', () => {
  it.each(Array.from({ length: SEEDS / GROUP }, (_, group) => 1 + group * GROUP))(
    'holds every invariant in 20 runs from seed %i on',
    async (from) => {
      const failures: string[] = [];
      for (let seed = from; seed < from + GROUP && failures.length === 0; seed++) {
        const result = await run(planOf(seed));
        if (result.violation) failures.push(await explain(result));
      }
      expect(failures).toEqual([]);
    },
  );

  it('replays the same seed as the same history', async () => {
    const [first, second] = [await run(planOf(7), { trace: true }), await run(planOf(7), { trace: true })];
    expect(first.lines.length).toBeGreaterThan(100);
    expect(second.lines).toEqual(first.lines);
  });

  it('runs another seed as another history', async () => {
    const [first, second] = [await run(planOf(7), { trace: true }), await run(planOf(8), { trace: true })];
    expect(second.lines).not.toEqual(first.lines);
  });

  it('meets crashes, faults, replays and repeated calls in its runs', async () => {
    const stats = [];
    for (let seed = 1; seed <= 12; seed++) stats.push((await run(planOf(seed))).stats);
    for (const name of ['crashes', 'faults', 'replays', 'extraCalls'] as const) {
      expect(stats.reduce((sum, each) => sum + each[name], 0)).toBeGreaterThan(0);
    }
  });
});

describe('draining a burst at the limit', () => {
  it.each([1, 2])('uses the limit and never exceeds it, whatever the latency (order %i)', async (seed) => {
    const result = await runDrain({ seed, calls: 8_000, ratePerSecond: 1_000, burst: 50, workers: 50, batchSize: 10 });
    expect(result).toMatchObject({ calls: 8_000, refused: 0 });
    expect(result.utilisation).toBeGreaterThanOrEqual(0.98);
    expect(result.peak).toBeLessThanOrEqual(1.01);
  });
});

describe('the workers of a lane of prod', () => {
  const { maxConcurrency } = capacityOf(prod);
  const slowest = providersOf(prod).toSorted((a, b) => b.ratePerSecond * b.p99Ms - a.ratePerSecond * a.p99Ms)[0];
  const { ratePerSecond = 0, burst = 0, p99Ms = 0 } = slowest ?? {};
  const drain = async (slowestMs: number) =>
    runDrain({
      seed: 1,
      calls: 8_000,
      ratePerSecond,
      burst,
      workers: maxConcurrency.bulk,
      batchSize: prod.worker.batchSize,
      slowestMs,
      overheadMs: 150,
    });

  it('keep the whole pace while answers take what is configured, and nearly all of it while they take twice as long', async () => {
    expect((await drain(p99Ms)).utilisation).toBeGreaterThanOrEqual(0.98);
    expect((await drain(2 * p99Ms)).utilisation).toBeGreaterThanOrEqual(0.9);
  });

  it('cost at most 0.02 GB-seconds a record while they wait for slots', () => {
    const { bulk } = maxConcurrency;
    expect(workerGbSeconds(bulk, prod.worker.memoryMb / 1_024, ratePerSecond * PACE_SHARE)).toBeLessThanOrEqual(0.02);
  });
});

describe('a provider that allows a tenth of what is configured', () => {
  it.each([1, 2, 3])('costs less than 2 % extra calls after the first minute, and is used (seed %i)', async (seed) => {
    const minutes = (await runSlowerProvider({ ...SLOWER, workers: 10, seed })).slice(1);
    expect(extraShareOf(minutes)).toBeLessThan(MOST_EXTRA_SHARE);
    expect(Math.min(...minutes.map(({ used }) => used))).toBeGreaterThan(0.9);
  });

  it.each([20, 50])('costs less than 2 % extra calls also %i workers, more than it needs', async (workers) => {
    const minutes = await runSlowerProvider({ ...SLOWER, workers, lengthMs: 360_000 });
    expect(extraShareOf(minutes.slice(1))).toBeLessThan(MOST_EXTRA_SHARE);
    expect(minutes.slice(3).map(({ used }) => used > 0.85)).toEqual([true, true, true]);
  });

  it('is used fully again within six minutes once it allows everything', async () => {
    const minutes = await runSlowerProvider({
      ...SLOWER,
      raisedAtMs: 180_000,
      raisedPerSecond: 200,
      workers: 30,
      lengthMs: 660_000,
    });
    expect(minutes.at(-1)?.used).toBeGreaterThan(0.95);
    expect(minutes[9]?.used).toBeGreaterThan(0.95);
  });
});
