import { readFileSync } from 'node:fs';
import { createPipeline, type Outcome } from '../support/pipeline.ts';
import { SAMPLES, SUPPORT } from './manifest.ts';

const numbersOf = ({ succeeded, failed }: Outcome): number[] =>
  [...succeeded, ...failed].map(({ recordNo }) => recordNo).toSorted((a, b) => a - b);
/** Rows that were no records. */
const unreadable = ({ failed }: Outcome) => failed.filter(({ record }) => record === undefined);

describe.each(SAMPLES)('the sample $file, submitted as $format', ({ file, format, records, defects, code }) => {
  test('has the records, reasons and lines that the manifest says', async () => {
    const bytes = readFileSync(new URL(`samples/${file}`, SUPPORT));
    const outcome = await createPipeline().upload(bytes, file, { format });
    const { state, reason, counts } = outcome.submission;
    if (code !== undefined) {
      expect([state, reason, outcome.lookups]).toEqual(['rejected', code, []]);
      return;
    }
    expect(counts.total).toBe(records + defects.length);
    expect(numbersOf(outcome)).toEqual(Array.from({ length: counts.total }, (_, index) => index + 1));
    const found = unreadable(outcome);
    expect(found.map((line) => [line.recordNo, line.line, line.reason])).toEqual(
      defects.map((defect) => [defect.recordNo, defect.line, defect.reason]),
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
