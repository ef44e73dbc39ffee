/**
 * Measures what Sluice promises about speed, limits, fairness and cost: `npm run bench`, or single benchmarks by their names.
 */
import { runCommand } from '../command.ts';
import { parseOptions, wholeNumber } from '../options.ts';
import { runUntilStopped } from '../shutdown.ts';
import { benchmarkOf, BENCHMARKS } from './benchmarks.ts';
import { calibrate } from './calibrate.ts';
import { limitOf, Rigs, type BenchContext, type ProviderLimit } from './context.ts';
import { isMet, summaryOf, tableOf, type BenchResult } from './result.ts';

const USAGE = `Usage: npm run bench -- [name...] [options]
  --records N  records of the large files (default: 40,000 for drain and fairness, less for the others and on slow machines)
  --limit N    calls per second that each provider allows (default: what this machine can feed, measured first)
  --json       last line of standard output: {"allMet": …, "results": [{"name", "figure", "goal", "met"}]}

${BENCHMARKS.map(({ name, summary }) => `  ${name.padEnd(9)} ${summary}`).join('\n')}

Each benchmark runs on a local cloud of its own. All of them take about a quarter of an hour on two cores; what else
runs on the machine changes the figures.`;

async function main(args: readonly string[]): Promise<number> {
  const firstOption = args.findIndex((arg) => arg.startsWith('-'));
  const names = firstOption < 0 ? args : args.slice(0, firstOption);
  const values = parseOptions(
    args.slice(names.length),
    {
      records: { type: 'string' },
      limit: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean' },
    },
    USAGE,
  );
  if (values['help'] === true) return say(USAGE);
  const benchmarks = names.length > 0 ? names.map(benchmarkOf) : BENCHMARKS;
  const rigs = new Rigs();
  void runUntilStopped(async () => rigs.stop());
  const context = contextOf(rigs, {
    records: wholeNumber(values, 'records', 100, 1_000_000),
    limit: wholeNumber(values, 'limit', 1, 10_000),
  });
  const results: BenchResult[] = [];
  for (const benchmark of benchmarks) {
    const result = await benchmark.run(context);
    say(`${tableOf([result])}\n`);
    results.push(result);
  }
  if (results.length > 1) say(tableOf(results));
  if (values['json'] === true) say(JSON.stringify(summaryOf(results)));
  return results.every(isMet) ? 0 : 1;
}

function contextOf(rigs: Rigs, given: { records: number | undefined; limit: number | undefined }): BenchContext {
  let limit: Promise<ProviderLimit> | undefined;
  const withRig: BenchContext['withRig'] = async (setup, work) => rigs.run(setup, work);
  const measure = async (): Promise<ProviderLimit> =>
    given.limit === undefined ? calibrate({ withRig, say }) : limitOf(given.limit);
  return { records: given.records, limit: async () => (limit ??= measure()), withRig, say };
}

function say(text: string): number {
  console.log(text);
  return 0;
}

await runCommand(main);
