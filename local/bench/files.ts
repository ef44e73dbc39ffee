import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as v from 'valibot';
import { FAN_OUT_DEFAULTS } from '../../lambdas/domain/fan-out/deps.ts';
import { bundleChild, DIRECTORY, runChild } from './child.ts';
import type { BenchContext } from './context.ts';
import { atMost, decimals, reported, type BenchResult, type Figure } from './result.ts';

const { checkpointRecords } = FAN_OUT_DEFAULTS;
const MIB = 1024 * 1024;
/** As for an ordinary file, see fan-out.ts. */
const MOST_MEMORY_MB = 200;
/** A line of the log for each step and each checkpoint, none for records. */
const LINE_BYTES = 512;
const STEPS = 4;
/** Writes for each 250 records: the start of their chunk and its checksum. What a file costs beside that are a dozen. */
const CHUNK_WRITES = 2;
const OTHER_WRITES = 12;
const ROWS = 200_000;

const outcomeSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    outcome: v.string(),
    sent: v.number(),
    writes: v.number(),
    logBytes: v.number(),
    processorSeconds: v.number(),
    peakBytes: v.number(),
  }),
);

function* line(): Generator<string> {
  yield 'record_id,name\n1,';
  for (let written = 0; written < 100 * MIB; written += MIB) yield 'x'.repeat(MIB);
  yield '\n2,a\n';
}

function* columns(): Generator<string> {
  yield 'record_id';
  for (let column = 1; column < 100_000; column++) yield `,column ${column}`;
  yield `\n1${','.repeat(99_999)}\n`;
}

function* badRows(valid: number): Generator<string> {
  yield 'record_id,domain\n';
  for (let row = 0; row < valid; row++) yield `${row},acme.example\n`;
  for (let row = valid; row < ROWS; row++) yield `${row},acme.example,one cell too many\n`;
}

/** Texts that are made to exhaust whoever reads them. What is to be unpacked before is in the benchmark `prepare`. */
const FILES: Readonly<Record<string, () => Iterable<string>>> = {
  'a line of 100 MB': line,
  '100,000 columns': columns,
  '200,000 rows, each of them bad': () => badRows(0),
  '200,000 rows, bad behind 1,000': () => badRows(1_000),
};

/** The fan-out's own code over such files: how each ends, and what it costs. */
export async function files({ say }: BenchContext): Promise<BenchResult> {
  mkdirSync(DIRECTORY, { recursive: true });
  const program = await bundleChild('files-child');
  const figures: Figure[] = [];
  for (const [name, make] of Object.entries(FILES)) {
    say(`files: ${name} …`);
    const file = join(DIRECTORY, `files-${name.replaceAll(/\W+/g, '-')}.csv`);
    await pipeline(Readable.from(make()), createWriteStream(file));
    const { outcome, sent, writes, logBytes, processorSeconds, peakBytes } = v.parse(
      outcomeSchema,
      await runChild(program, [file]),
    );
    figures.push(
      reported(name, `${outcome}; ${sent} messages; ${processorSeconds.toFixed(1)} s of a core`),
      atMost(`${name}: writes`, writes, OTHER_WRITES + CHUNK_WRITES * Math.ceil(sent / 250), decimals(0)),
      atMost(
        `${name}: log`,
        logBytes,
        LINE_BYTES * (STEPS + Math.ceil(sent / checkpointRecords)),
        decimals(0, ' bytes'),
      ),
      atMost(`${name}: peak memory`, peakBytes / MIB, MOST_MEMORY_MB, decimals(0, ' MB')),
    );
  }
  return { name: 'files', figures };
}
