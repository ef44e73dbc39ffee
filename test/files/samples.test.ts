import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { createPipeline, type Outcome } from '../support/pipeline.ts';

const SUPPORT = new URL('../support/files/', import.meta.url);
const place = v.object({ recordNo: v.number(), line: v.number(), defect: v.string() });
const { samples } = v.parse(
  v.object({
    samples: v.array(
      v.object({
        file: v.string(),
        format: v.picklist(['csv', 'ndjson', 'json']),
        records: v.optional(v.number(), 0),
        defects: v.optional(v.array(place), []),
        rejection: v.optional(v.object({ code: v.string() })),
      }),
    ),
  }),
  JSON.parse(readFileSync(new URL('manifest.json', SUPPORT), 'utf8')),
);
/** What the reader refuses is unpacked or decoded before it is read. */
const PREPARED: Readonly<Record<string, number>> = { 'utf-16.csv': 2, 'gzip-named-csv.csv': 2 };

const numbersOf = ({ succeeded, failed }: Outcome): number[] =>
  [...succeeded, ...failed].map(({ recordNo }) => recordNo).toSorted((a, b) => a - b);
/** Rows that were no records. */
const unreadable = ({ failed }: Outcome) => failed.filter(({ record }) => record === undefined);

describe.each(samples)('the sample $file, submitted as $format', ({ file, format, records, defects, rejection }) => {
  test('has the records, reasons and lines that the manifest says', async () => {
    const bytes = readFileSync(new URL(`samples/${file}`, SUPPORT));
    const outcome = await createPipeline().upload(bytes, file, { format });
    const { state, reason, counts } = outcome.submission;
    const prepared = PREPARED[file];
    const code = rejection?.code ?? (records + defects.length === 0 ? 'NO_RECORDS' : undefined);
    if (code !== undefined && prepared === undefined) {
      expect([state, reason, outcome.lookups]).toEqual(['rejected', code, []]);
      return;
    }
    // The reader's own tests have a higher limit of bytes than a record has here.
    const expected = prepared ?? records;
    const isOversized = file === 'oversized-cell.csv';
    expect(counts.total).toBe(expected + defects.length);
    expect(numbersOf(outcome)).toEqual(Array.from({ length: counts.total }, (_, index) => index + 1));
    const found = unreadable(outcome);
    expect(found.map(({ recordNo, line }) => [recordNo, line])).toEqual(
      defects.map(({ recordNo, line }) => [recordNo, line]),
    );
    expect(found.map((line) => line.reason)).toEqual(
      defects.map(() => (isOversized ? 'record_too_large' : 'malformed_row')),
    );
    for (const { line, detail } of found) expect(detail).toContain(`line ${line}`);
  });
});

test('records of a file that repeats identifiers are refused where the profile says so', async () => {
  const bytes = readFileSync(new URL('samples/repeated-records.csv', SUPPORT));
  const { failed } = await createPipeline().upload(bytes, 'x.csv', { profile: { duplicates: 'reject_later' } });
  const repeated = failed.filter(({ reason }) => reason === 'duplicate_record_id');
  expect(repeated.map(({ recordNo, line }) => [recordNo, line])).toEqual([
    [3, 4],
    [4, 5],
  ]);
});
