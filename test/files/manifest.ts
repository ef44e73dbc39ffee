import { readFileSync } from 'node:fs';
import * as v from 'valibot';

export const SUPPORT = new URL('../support/files/', import.meta.url);

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
/** Records of what the reader refuses, once it is unpacked or decoded. */
const PREPARED: Readonly<Record<string, number>> = { 'utf-16.csv': 2, 'gzip-named-csv.csv': 2 };
/** The reader's own tests have a higher limit of bytes than a record has in the pipeline. */
const OVERSIZED = 'oversized-cell.csv';

/** What becomes of a sample in the pipeline; `code` for one that is rejected. */
export const SAMPLES = samples.map(({ file, format, records, defects, rejection }) => {
  const prepared = PREPARED[file];
  const none = records + defects.length === 0 ? 'NO_RECORDS' : undefined;
  const reason = file === OVERSIZED ? 'record_too_large' : 'malformed_row';
  return {
    file,
    format,
    records: prepared ?? records,
    defects: defects.map((defect) => ({ ...defect, reason })),
    code: prepared === undefined ? (rejection?.code ?? none) : undefined,
  };
});
