import { parseArgs } from 'node:util';
import type { SeedReport } from './batch.ts';
import { formatDrain, FULL_DRAIN, runDrain } from './drain.ts';
import { formatEstimates, FULL_ESTIMATES, runEstimates, SHARED_ESTIMATES } from './estimates.ts';
import { planOf } from './plan.ts';
import { PROCESSES, runSeeds } from './pool.ts';
import { explain } from './report.ts';
import { run } from './run.ts';
import { extraShareOf, MOST_EXTRA_SHARE, runSlowerProvider, SLOWER, SLOWER_WORKERS } from './slower-provider.ts';

const USAGE = `npm run sim -- --seeds N [--from S]     runs N seeds (100), from seed S (1) on
npm run sim -- --seed S [--trace]       runs one seed; prints everything that happens in it
npm run sim -- --drain                  a burst at 1,000 calls a second: how much of the limit is used, and how far off estimates are
npm run sim -- --slower                 a provider that allows a tenth of what is configured: extra calls, use of its limit
npm run sim -- --processes P            with P processes (2)
npm run sim -- --json                   ends with the figures as one line of JSON`;

const PROGRESS_EVERY = 100;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    processes: { type: 'string', default: String(PROCESSES) },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    drain: { type: 'boolean', default: false },
    slower: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

/** A whole number from the command line. */
function whole(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Error(`--${name} is "${text}": give a whole number.\n${USAGE}`);
}

async function main(): Promise<boolean> {
  if (values.help) {
    console.log(USAGE);
    return true;
  }
  if (values.drain) return drain();
  if (values.slower) return slower();
  if (values.seed !== undefined) return one(whole('seed', values.seed), values.trace);
  return many(whole('from', values.from), whole('seeds', values.seeds));
}

async function drain(): Promise<boolean> {
  const result = await runDrain(FULL_DRAIN);
  console.log(formatDrain(result));
  const alone = await runEstimates(FULL_ESTIMATES);
  console.log(`\nestimated completion, one file alone: ${formatEstimates(alone)}`);
  const shared = await runEstimates(SHARED_ESTIMATES);
  console.log(`\nestimated completion, two lanes with work: ${formatEstimates(shared)}`);
  return result.isMet && alone.isMet && shared.isMet;
}

async function slower(): Promise<boolean> {
  let isMet = true;
  console.log('A provider that allows 20 of the 200 configured calls a second, from the second minute on:');
  for (const workers of SLOWER_WORKERS) {
    const minutes = (await runSlowerProvider({ ...SLOWER, workers })).slice(1);
    const extra = extraShareOf(minutes);
    const used = minutes.reduce((sum, minute) => sum + minute.used, 0) / minutes.length;
    console.log(`${workers} workers: ${(extra * 100).toFixed(2)} % extra calls, ${used.toFixed(3)} of the limit used`);
    isMet &&= extra < MOST_EXTRA_SHARE;
  }
  return isMet;
}

async function one(seed: number, trace: boolean): Promise<boolean> {
  const result = await run(planOf(seed), { trace });
  if (trace) console.log(result.lines.join('\n'));
  console.log(JSON.stringify(result.stats));
  if (result.violation === undefined) {
    console.log(`Seed ${seed} holds every invariant.`);
    return true;
  }
  console.log(await explain(result));
  return false;
}

async function many(from: number, count: number): Promise<boolean> {
  const startedMs = performance.now();
  let done = 0;
  const reports = await runSeeds({ from, count, processes: whole('processes', values.processes) }, () => {
    done += 1;
    if (done % PROGRESS_EVERY === 0) console.log(`${done} of ${count} seeds`);
  });
  printTotals(reports, (performance.now() - startedMs) / 1_000);
  const failed = reports.find(({ invariant }) => invariant !== undefined);
  if (failed === undefined) {
    console.log(`Every invariant held in ${count} seeds.`);
    return true;
  }
  console.log(`Seed ${failed.seed} fails; looking for the smallest run that does.`);
  console.log(await explain(await run(planOf(failed.seed))));
  return false;
}

function printTotals(reports: readonly SeedReport[], seconds: number): void {
  const sum = (of: (report: SeedReport) => number): number => reports.reduce((total, report) => total + of(report), 0);
  const totals = {
    seeds: reports.length,
    records: sum(({ stats }) => stats.records),
    deliveries: sum(({ stats }) => stats.deliveries),
    crashes: sum(({ stats }) => stats.crashes),
    'faults injected': sum(({ stats }) => stats.faults),
    'provider calls': sum(({ stats }) => stats.calls),
    'repeated calls': sum(({ stats }) => stats.extraCalls),
    'records replayed': sum(({ stats }) => stats.replays),
    events: sum(({ events }) => events),
    'virtual hours': Math.round(sum(({ virtualMs }) => virtualMs) / 3_600_000),
    'seconds taken': Math.round(seconds),
  };
  for (const [name, value] of Object.entries(totals))
    console.log(`${name.padEnd(18)}${value.toLocaleString('en').padStart(14)}`);
  if (values.json) console.log(JSON.stringify(totals));
}

process.exitCode = (await main()) ? 0 : 1;
