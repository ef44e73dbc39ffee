import { join } from 'node:path';
import * as v from 'valibot';
import { writeGeneratedFile } from '../demo/generate.ts';
import { bundleChild, DIRECTORY, runChild } from './child.ts';
import type { BenchContext } from './context.ts';
import { atLeast, atMost, decimals, reported, type BenchResult } from './result.ts';

const ROWS = 200_000;
/** Parsing and fanning out by turns, so that a busy moment of the machine meets both. */
const ROUNDS = 5;
const LEAST_SHARE = 0.5;
const MOST_MEMORY_MB = 200;

const outcomeSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ records: v.number(), seconds: v.number(), processorSeconds: v.number(), peakBytes: v.number() }),
);
type Outcome = v.InferOutput<typeof outcomeSchema>;

/** The function's own code over a large file, with a queue that takes everything at once, against reading the file alone. */
export async function fanOut({ say }: BenchContext): Promise<BenchResult> {
  say(`fanout: ${ROWS} rows, ${ROUNDS} rounds …`);
  const file = join(DIRECTORY, `records-${ROWS}.csv`);
  await writeGeneratedFile(file, ROWS);
  const program = await bundleChild('fan-out-child');
  const parses: Outcome[] = [];
  const fanOuts: Outcome[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    parses.push(await measure(program, 'parse', file));
    fanOuts.push(await measure(program, 'fan-out', file));
  }
  const [parse, own] = [rowsPerSecond(parses, 'processorSeconds'), rowsPerSecond(fanOuts, 'processorSeconds')];
  const memoryMb = Math.max(...fanOuts.map(({ peakBytes }) => peakBytes)) / 2 ** 20;
  const thousands = (rows: number): string => `${Math.round(rows / 1_000)},000 rows`;
  return {
    name: 'fanout',
    figures: [
      reported('parsing alone, per processor second', thousands(parse)),
      reported('the function, per processor second', thousands(own)),
      reported(
        'per second',
        `${thousands(rowsPerSecond(parses, 'seconds'))}, ${thousands(rowsPerSecond(fanOuts, 'seconds'))}`,
      ),
      atLeast('function ÷ parsing', own / parse, LEAST_SHARE),
      atMost('peak memory of the process', memoryMb, MOST_MEMORY_MB, decimals(0, ' MB')),
    ],
  };
}

/**
 * Of the fastest round, since what else the machine does can only slow a round down; `processorSeconds` leaves out most of that, and
 * counts what the collector of garbage does beside the program.
 */
const rowsPerSecond = (outcomes: readonly Outcome[], by: 'seconds' | 'processorSeconds'): number =>
  Math.max(...outcomes.map((outcome) => outcome.records / outcome[by]));

async function measure(program: string, mode: 'parse' | 'fan-out', file: string): Promise<Outcome> {
  const outcome = v.parse(outcomeSchema, await runChild(program, [mode, file]));
  if (outcome.records === ROWS) return outcome;
  throw new RangeError(`${mode} saw ${outcome.records} of ${ROWS} rows.`);
}
