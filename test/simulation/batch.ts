import type { Stats } from './journal.ts';
import { planOf } from './plan.ts';
import { run } from './run.ts';

/** What a process that runs seeds tells about each. */
export interface SeedReport {
  seed: number;
  stats: Stats;
  events: number;
  virtualMs: number;
  /** Set when an invariant is broken. */
  invariant?: string;
}

async function runSeed(seed: number): Promise<SeedReport> {
  const { stats, events, virtualMs, violation } = await run(planOf(seed));
  return { seed, stats, events, virtualMs, ...(violation && { invariant: violation.invariant }) };
}

// Started by main.ts: every `step`-th seed from `from` on, one after the other, until told to stop or through.
if (process.send !== undefined && process.argv[2] === 'seeds') {
  const [from = 1, until = 1, step = 1] = process.argv.slice(3).map(Number);
  for (let seed = from; seed < until; seed += step) process.send(await runSeed(seed));
  process.disconnect();
}
