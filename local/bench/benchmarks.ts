import { ack } from './ack.ts';
import { cold } from './cold.ts';
import type { BenchContext } from './context.ts';
import { crash } from './crash.ts';
import { drain } from './drain.ts';
import { fairness } from './fairness.ts';
import { fanOut } from './fan-out.ts';
import { files } from './files.ts';
import { neighbours } from './neighbours.ts';
import { ops } from './ops.ts';
import { outage } from './outage.ts';
import { prepare } from './prepare.ts';
import type { BenchResult } from './result.ts';
import { slices } from './slices.ts';
import { waits } from './waits.ts';

export interface Benchmark {
  readonly name: string;
  /** What it measures, for the usage text. */
  readonly summary: string;
  run(context: BenchContext): Promise<BenchResult>;
}

export const BENCHMARKS: readonly Benchmark[] = [
  { name: 'drain', summary: 'share of the limit that a large file uses; refusals; busiest second', run: drain },
  { name: 'fairness', summary: '50 records behind 40,000, of another tenant and of the same', run: fairness },
  { name: 'outage', summary: 'a provider is out for 30 s: good records that failed, extra calls', run: outage },
  { name: 'neighbours', summary: 'what one record, moment or tenant costs everybody else', run: neighbours },
  {
    name: 'waits',
    summary: 'what records cost that a provider is not ready for, and those that are cancelled',
    run: waits,
  },
  { name: 'crash', summary: 'every worker is killed once: lost records, repeated calls, end', run: crash },
  { name: 'ops', summary: 'billable operations of AWS for each succeeded record', run: ops },
  { name: 'fanout', summary: 'rows per second and memory of the fan-out', run: fanOut },
  { name: 'prepare', summary: 'memory, time and writes of unpacking large and hostile files', run: prepare },
  { name: 'files', summary: 'end, memory, log and writes of texts that are made to exhaust their reader', run: files },
  { name: 'slices', summary: 'memory of slices that one invocation works side by side', run: slices },
  { name: 'ack', summary: 'time to accept a file, small and large', run: ack },
  { name: 'cold', summary: 'size and start of every function', run: cold },
];

/** @throws RangeError naming the benchmarks there are */
export function benchmarkOf(name: string): Benchmark {
  const found = BENCHMARKS.find((each) => each.name === name);
  if (found !== undefined) return found;
  throw new RangeError(`There is no benchmark ${name}: there are ${BENCHMARKS.map((each) => each.name).join(', ')}.`);
}
