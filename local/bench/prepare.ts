import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { zipSync } from 'fflate';
import * as v from 'valibot';
import { bundleChild, DIRECTORY, runChild } from './child.ts';
import type { BenchContext } from './context.ts';
import { atMost, decimals, reported, type BenchResult, type Figure } from './result.ts';

/** What the function may take for any file: half of its memory, and half of its time with its share of a core. */
const MOST_MEMORY_MB = 512;
const MOST_PROCESSOR_SECONDS = 450 * 0.58;

const outcomeSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    outcome: v.string(),
    bytes: v.number(),
    lines: v.number(),
    reads: v.number(),
    parts: v.number(),
    headWrites: v.number(),
    seconds: v.number(),
    processorSeconds: v.number(),
    peakBytes: v.number(),
  }),
);

/** The function's own code over the largest files and over those that are made to exhaust it. */
export async function prepare({ say }: BenchContext): Promise<BenchResult> {
  mkdirSync(DIRECTORY, { recursive: true });
  const program = await bundleChild('prepare-child');
  const figures: Figure[] = [];
  for (const [name, write] of Object.entries(FILES)) {
    say(`prepare: ${name} …`);
    const file = join(DIRECTORY, `prepare-${name.replaceAll(/\W+/g, '-')}`);
    await write(file);
    const printed = await runChild(program, [file]);
    const { outcome, bytes, lines, reads, parts, headWrites, ...took } = v.parse(outcomeSchema, printed);
    const written = `${outcome}; ${(bytes / 1e6).toFixed(1)} MB in ${lines} lines; ${reads} reads, ${parts} parts, ${headWrites} writes of the head`;
    figures.push(
      reported(name, written),
      atMost(`${name}: processor seconds`, took.processorSeconds, MOST_PROCESSOR_SECONDS, decimals(1)),
      atMost(`${name}: peak memory`, took.peakBytes / 2 ** 20, MOST_MEMORY_MB, decimals(0, ' MB')),
    );
  }
  return { name: 'prepare', figures };
}

const GIB = 1024 ** 3;

function* rows(bytes: number): Generator<string> {
  let written = 0;
  yield 'record_id,name,domain,postal_code,country,note\n';
  for (let n = 1; written < bytes; n += 100) {
    const block = Array.from({ length: 100 }, (_, index) => {
      const id = n + index;
      return `C-${id},Customer ${(id * 7919) % 100_003},host-${(id * 104_729) % 1_000_003}.example,${10_000 + (id % 89_999)},DE,"note ${id}, of some length"\n`;
    }).join('');
    written += block.length;
    yield block;
  }
}

function* zeros(bytes: number): Generator<Buffer> {
  const block = Buffer.alloc(1024 * 1024);
  for (let written = 0; written < bytes; written += block.byteLength) yield block;
}

const gzip = async (file: string, blocks: Iterable<string | Buffer>): Promise<void> =>
  pipeline(Readable.from(blocks), createGzip({ level: 1 }), createWriteStream(file));

const FILES: Readonly<Record<string, (file: string) => Promise<void> | void>> = {
  'a gzip of nearly 1 GiB': async (file) => gzip(file, rows(GIB - 1_000_000)),
  'a sheet of 200,000 rows': (file) => workbook(file, 200_000, sheetRow),
  'a gzip bomb of 1 GiB': async (file) => gzip(file, zeros(GIB)),
  'an archive of 10,000 files': (file) => {
    const one = Buffer.from('record_id\n1\n');
    const members = Array.from({ length: 10_000 }, (_, n) => [`part-${n}.csv`, one]);
    writeFileSync(file, zipSync(Object.fromEntries(members) as Record<string, Uint8Array>, { level: 1 }));
  },
  'a sheet of a million empty rows': (file) =>
    workbook(file, 1_000_000, (n) => (n > 1 && n < 1_000_000 ? `<row r="${n}" spans="1:6"/>` : sheetRow(n))),
};

const sheetRow = (n: number): string =>
  `<row r="${n}" spans="1:6">${['record_id', 'name', 'domain', 'note']
    .map((name, column) => `<c r="${'ABCD'[column]}${n}" t="inlineStr"><is><t>${name} ${n}</t></is></c>`)
    .join('')}<c r="E${n}"><v>${n * 1.5}</v></c><c r="F${n}"><v>${45_000 + (n % 700)}</v></c></row>`;

function workbook(file: string, count: number, rowOf: (n: number) => string): void {
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const sheet = Array.from({ length: count }, (_, index) => rowOf(index + 1)).join('');
  const parts = {
    'xl/workbook.xml': `<workbook xmlns:r="${office}"><sheets><sheet name="A" sheetId="1" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships><Relationship Id="r1" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${sheet}</sheetData></worksheet>`,
  };
  const bytes = Object.entries(parts).map(([name, xml]) => [name, Buffer.from(xml)]);
  writeFileSync(file, zipSync(Object.fromEntries(bytes) as Record<string, Uint8Array>, { level: 6 }));
}
