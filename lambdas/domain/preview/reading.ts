import { FileRejectedError } from '../files/reader.ts';
import type { ProfileReading } from '../profiles/profile.ts';
import { isValid, type Column, type Field } from './columns.ts';
import type { RecordInspector } from '../records/inspection.ts';
import type { Sample } from './sample.ts';
import { columnsOf, readTable, type ReadTableOptions, type Table } from './table.ts';

type Found = { table: Table; reading: ProfileReading } | { problem: FileRejectedError };

/** Delimiters that no file is read by unless a profile names them. */
const RARE_DELIMITERS = ['^', '~', ':', '#', '!'] as const;

/**
 * Reads the table of a file whose columns are not known yet: below its titles, with its delimiter and quotes.
 *
 * @returns what a profile must say for it, beyond what the customer's profile says
 */
export async function findTable(sample: Sample, options: ReadTableOptions): Promise<Found> {
  const asGiven = await attempt(sample, options);
  if ('table' in asGiven) return { ...asGiven, reading: {} };
  const { problem } = asGiven;
  if (problem.code !== 'MISSING_REQUIRED_COLUMN' && problem.code !== 'HEADER_TOO_LARGE') return asGiven;
  for (const headerRow of headerRows(options, problem)) {
    const found = await widest(sample, options, headerRow === 'found' ? {} : { headerRow });
    if (found !== undefined) return found;
  }
  return asGiven;
}

/** Lines that are tried as the header where the line with the most cells is none. */
const MOST_HEADER_LINES = 10;

/** The line with the most cells is the one that the refusal speaks of. */
function headerRows({ profile }: ReadTableOptions, { line = 1 }: FileRejectedError): ('found' | number)[] {
  const { headerRow } = profile.reading;
  if (headerRow !== undefined) return [headerRow];
  return [line === 1 ? 'found' : line, ...Array.from({ length: MOST_HEADER_LINES }, (_, index) => index + 1)];
}

/** The table with the most columns among the delimiters and quotes that a file may have; undefined where no row is a header. */
async function widest(
  sample: Sample,
  options: ReadTableOptions,
  header: ProfileReading,
): Promise<{ table: Table; reading: ProfileReading } | undefined> {
  const { reading } = options.profile;
  const tried: ProfileReading[] = [
    {},
    ...(reading.quote === undefined && wraps(sample, "'") ? [{ quote: "'" as const }] : []),
    ...(reading.delimiter === undefined ? RARE_DELIMITERS.map((delimiter) => ({ delimiter })) : []),
  ];
  let best: { table: Table; reading: ProfileReading } | undefined;
  for (const extra of tried) {
    const found = await attempt(sample, withReading({ ...options, columns: [] }, { ...header, ...extra }));
    if (!('table' in found) || !isTable(found.table)) continue;
    const columns = columnsOf(found.table).length;
    const most = best === undefined ? 0 : columnsOf(best.table).length;
    // Of two that divide it alike, quotes explain more.
    if (columns > most || (columns === most && extra.quote !== undefined)) {
      best = { table: found.table, reading: { ...header, ...extra } };
    }
  }
  return best;
}

/** Whether most rows are as wide as the header. */
function isTable({ items }: Table): boolean {
  const records = items.filter(({ kind }) => kind === 'record').length;
  return items.length === 0 || records * 2 >= items.length;
}

/** Whether the first cell of the text stands in such quotes. */
const wraps = ({ bytes }: Sample, quote: string): boolean =>
  Buffer.from(bytes.subarray(0, 1_024))
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart()
    .startsWith(quote);

export const withReading = (options: ReadTableOptions, extra: ProfileReading): ReadTableOptions => ({
  ...options,
  profile: { ...options.profile, reading: { ...options.profile.reading, ...extra } },
});

async function attempt(
  sample: Sample,
  options: ReadTableOptions,
): Promise<{ table: Table } | { problem: FileRejectedError }> {
  try {
    return { table: await readTable(sample, options) };
  } catch (error) {
    if (error instanceof FileRejectedError) return { problem: error };
    throw error;
  }
}

/** True where what was taken for the header is a record: a value of a field with a form of its own, above others of its kind. */
export function isHeaderless(columns: readonly Column[], fields: readonly Field[], inspect: RecordInspector): boolean {
  return columns.some(({ name, values }) => {
    if (!/[.@\d]/.test(name)) return false;
    const field = fields.find(
      (each) => isValid(each, name, inspect) && !isValid(each, 'Lorem ipsum dolor sit', inspect),
    );
    const filled = values.filter((value) => value !== '');
    return field !== undefined && filled.length > 0 && filled.every((value) => isValid(field, value, inspect));
  });
}

/** Texts that stand for no value, in lower case. */
const NULL_TEXTS: ReadonlySet<string> = new Set([
  'null',
  '\\n',
  '#n/a',
  'n/a',
  'na',
  'nan',
  'none',
  '(null)',
  '-',
  '--',
  '?',
]);

/** Texts among the values of a field that mean: no value. A country may be called NA. */
export function nullTextsOf(column: Column, field: Field, inspect: RecordInspector): string[] {
  const texts = column.values.flatMap((value) => (typeof value === 'string' ? [value.trim()] : []));
  return [...new Set(texts)].filter((text) => NULL_TEXTS.has(text.toLowerCase()) && !isValid(field, text, inspect));
}

/** Notes and totals below a table are no more rows than this. */
const MOST_NOTES = 10;

/** Rows at the end of a file that are no records: they have hardly a cell, or not as many as the header. */
export function notesBelow({ items, ended, dialect }: Table): number {
  if (!ended || dialect === undefined) return 0;
  const width = dialect.header.length;
  let notes = 0;
  for (const item of items.toReversed()) {
    const cells = item.kind === 'record' ? Object.values(item.fields).filter((cell) => cell !== '') : undefined;
    const isNote =
      cells === undefined
        ? item.kind === 'defect' && item.defect === 'COLUMN_COUNT' && !isShortRow(item.detail, width)
        : cells.length <= width / 2 &&
          /^(?:total|sum|summe|gesamt|[(_=*-]|stand|source|quelle|note)/iu.test(textOf(cells[0]));
    if (!isNote || notes === MOST_NOTES) break;
    notes += 1;
  }
  return notes < items.length ? notes : 0;
}

/** Of an empty row as of a ruled one. */
const textOf = (cell: unknown): string => (typeof cell === 'string' ? cell : '_');

/** A row that lacks a cell or two, as programs write it that drop empty ones, is a record; one with hardly any is a note. */
function isShortRow(detail: string, width: number): boolean {
  const found = Number(/has (\d+) cell/.exec(detail)?.[1] ?? 0);
  return found > 1 && found < width && found >= width - 2;
}

/** Rows that lack cells at their end, in the middle of the file. */
export const hasShortRows = ({ items, dialect }: Table): boolean =>
  dialect !== undefined &&
  items.some(
    (item) =>
      item.kind === 'defect' && item.defect === 'COLUMN_COUNT' && isShortRow(item.detail, dialect.header.length),
  );
