import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as v from 'valibot';
import { SLICES_MEMORY_MB, SLICES_PER_INVOCATION } from '../../lambdas/domain/capacity.ts';
import { bundleChild, DIRECTORY, runChild } from './child.ts';
import type { BenchContext } from './context.ts';
import { atMost, decimals, type BenchResult, type Figure } from './result.ts';

/** The rest is for the runtime, and for garbage that nobody has collected yet. */
const MOST_SHARE = 0.75;
/** What a heap may take of the memory, as in the functions' runtime. */
const HEAP_SHARE = 0.9;

interface Measurement {
  name: string;
  mode: 'fan-out' | 'finalize';
  memoryMb: number;
  rows: { count: number; noteBytes: number };
  /** Of the answers about one record, together; as large as the sample providers may send. */
  answerBytes?: number;
}

const MEASUREMENTS: readonly Measurement[] = [
  {
    // One record less would be a small file: until then its text is held.
    name: 'fan-out, the largest records',
    mode: 'fan-out',
    memoryMb: SLICES_MEMORY_MB.fanOut,
    rows: { count: 501, noteBytes: 60_000 },
  },
  {
    name: 'finalizer, parts of 30,000 ordinary records',
    mode: 'finalize',
    memoryMb: SLICES_MEMORY_MB.finalizer,
    rows: { count: 30_000, noteBytes: 20 },
    answerBytes: 500,
  },
  {
    name: 'finalizer, the largest answers',
    mode: 'finalize',
    memoryMb: SLICES_MEMORY_MB.finalizer,
    rows: { count: 1_000, noteBytes: 1_000 },
    answerBytes: 75_000,
  },
];

const outcomeSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ least: v.pipe(v.number(), v.minValue(1)), peakBytes: v.number() }),
);

/** Memory of as many slices as one invocation works side by side, with the SDK's own clients. */
export async function slices({ say }: BenchContext): Promise<BenchResult> {
  mkdirSync(DIRECTORY, { recursive: true });
  const program = await bundleChild('slices-child');
  const figures: Figure[] = [];
  for (const { name, mode, memoryMb, rows, answerBytes = 0 } of MEASUREMENTS) {
    say(`slices: ${SLICES_PER_INVOCATION} times ${name} …`);
    const file = join(DIRECTORY, `slices-${rows.count}-${rows.noteBytes}.csv`);
    await pipeline(Readable.from(linesOf(rows)), createWriteStream(file));
    const args = [mode, file, String(rows.count), String(answerBytes)];
    const heap = `--max-old-space-size=${Math.round(memoryMb * HEAP_SHARE)}`;
    const { peakBytes } = v.parse(outcomeSchema, await runChild(program, args, [heap]));
    figures.push(atMost(name, peakBytes / 2 ** 20, memoryMb * MOST_SHARE, decimals(0, ' MB')));
  }
  return { name: 'slices', figures };
}

function* linesOf({ count, noteBytes }: Measurement['rows']): Generator<string> {
  const note = 'lorem ipsum '.repeat(Math.ceil(noteBytes / 12)).slice(0, noteBytes);
  yield 'record_id,name,email,domain,country,postal_code,note\n';
  for (let n = 1; n <= count; n++) {
    yield `C-${n},Name ${n},a${n}@host-${n}.example,host-${n}.example,DE,10115,"${note}"\n`;
  }
}
