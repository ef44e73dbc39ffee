import { ArrayScanner } from './array-scanner.ts';
import { openCsv } from './csv-head.ts';
import { csvRowReader } from './csv-row.ts';
import type { Reading } from '../profiles/profile.ts';
import type { Head } from './head.ts';
import type { RecordScanner } from './item-log.ts';
import { openJsonArray, openNdjson } from './json-head.ts';
import { readJsonLine, readJsonRecord } from './json-record.ts';
import type { CsvDialect, FileFormat, ReadItem, ReaderPosition } from './read-item.ts';
import { RowScanner } from './row-scanner.ts';
import { findTextStart } from './signatures.ts';

export { FileRejectedError, type FileRejectionCode } from './file-rejected-error.ts';
export { positionAfter, positionBefore } from './read-item.ts';
export type { CsvDialect, DefectItem, FileFormat, ReadItem, ReaderPosition, RecordItem } from './read-item.ts';

/*
 * What the reader promises, for CSV, NDJSON and JSON arrays alike:
 *
 * - Text is UTF-8, with or without a byte order mark. Nothing is replaced, trimmed or rounded: a row whose text or
 *   numbers would change on their way is a defect. CSV cells stay text. Only the names in a CSV header are trimmed.
 * - CR, LF and CRLF each end one line, also when mixed. Blank lines (white space only) are skipped and not numbered;
 *   every other row is numbered, defects too. The record number is the key: rows that repeat a `record_id` are all read.
 * - Of a record longer than the limit only its place is kept, and reading goes on behind it.
 * - CSV: a cell is quoted when its first byte is a quote. Text behind a closing quote makes the row's first physical
 *   line a defect, and the next line is the next row. A quote that is open at the end of the file rejects the file; the
 *   rows before it have been answered by then, and what becomes of them is the caller's decision.
 * - CSV: a row that repeats the header, or begins with a byte order mark, is a defect (two files were joined).
 * - Since version 3, in CSV: the header is looked for below title lines, a row of empty cells is a blank line, an empty cell at the end of
 *   every row is no column, and a quote may be written with a backslash where the first rows show that.
 * - Since version 3, in NDJSON: a comma behind the record of a line is ignored.
 * - JSON: a key given twice, a number that a double cannot hold, and an escape for no character are defects.
 */

/** Bytes of a file's beginning that {@link openFile} needs at most. A header that does not fit is refused. */
export const HEAD_BYTES = 64 * 1024;

/** Larger blocks are read in parts, so that a batch of items stays small. */
const BLOCK_BYTES = 64 * 1024;

export interface OpenOptions {
  /** Size of the whole file: tells whether `head` is all of it. */
  fileBytes: number;
  /** The columns that a CSV file must have; `record_id` where they are not given. */
  columns?: readonly string[];
  /** What the customer says of the file. */
  reading?: Reading | undefined;
  /** As in {@link ReadOptions}. */
  readerVersion: number;
  /** Whether a row of CSV counts as one line, as in a sheet, whatever line ends its cells hold. */
  countRows?: boolean;
}

export interface OpenedFile {
  /** Where the first record is looked for. */
  start: ReaderPosition;
  /** Present for CSV. */
  dialect?: CsvDialect;
}

export interface ReadOptions {
  /** As {@link openFile} found it. Required for CSV. */
  dialect?: CsvDialect;
  /** Longest record, its line end not counted. */
  maxRecordBytes: number;
  /** Version of the rules of reading that the submission was accepted under. */
  readerVersion: number;
  /** As in {@link OpenOptions}. */
  countRows?: boolean;
  reading?: Reading | undefined;
  /** Whether a list of failed records was written with apostrophes before formulas. True by default. */
  guarded?: boolean;
}

/**
 * Looks at the beginning of a file (its first {@link HEAD_BYTES}, or all of it): encoding, compression and container, whether it is of
 * the announced format, and for CSV the delimiter (comma, semicolon, tab, vertical bar, or as a first line `sep=;` says) and header.
 * Throws {@link FileRejectedError} when the file cannot be read.
 */
export function openFile(head: Uint8Array, format: FileFormat, options: OpenOptions): OpenedFile {
  const opened: Head = {
    bytes: Buffer.from(head.buffer, head.byteOffset, head.byteLength),
    complete: head.byteLength >= options.fileBytes,
    columns: options.columns ?? ['record_id'],
    reading: options.reading ?? {},
    readerVersion: options.readerVersion,
    countRows: options.countRows ?? false,
  };
  const textStart = findTextStart(opened.bytes);
  if (format === 'csv') return openCsv(opened, textStart);
  return { start: format === 'json' ? openJsonArray(opened, textStart) : openNdjson(opened, textStart) };
}

/**
 * Reads records from a byte stream that begins at `from.byteOffset` of the file: where {@link openFile} said, or at a position before or
 * after any item read earlier; the items that follow are the same either way. Yields the items block by block, never an empty batch.
 * Throws {@link FileRejectedError} behind the last readable item when the file cannot be read on. It cannot know whether the stream
 * ended too early: the caller compares lengths.
 */
export async function* readRecords(
  source: AsyncIterable<Uint8Array>,
  format: FileFormat,
  from: ReaderPosition,
  options: ReadOptions,
): AsyncGenerator<ReadItem[], void, undefined> {
  const { skipRowsAtEnd = 0 } = options.reading ?? {};
  const items = scan(source, scannerFor(format, from, options));
  yield* skipRowsAtEnd > 0 ? withoutLast(items, skipRowsAtEnd) : items;
}

/** Leaves out the last rows of the file, whatever they are. What precedes an error is answered before it. */
async function* withoutLast(
  batches: AsyncIterable<ReadItem[]>,
  count: number,
): AsyncGenerator<ReadItem[], void, undefined> {
  let held: ReadItem[] = [];
  try {
    for await (const items of batches) {
      held = [...held, ...items];
      const free = held.splice(0, Math.max(0, held.length - count));
      if (free.length > 0) yield free;
    }
  } catch (error) {
    if (held.length > 0) yield held;
    throw error;
  }
}

async function* scan(
  source: AsyncIterable<Uint8Array>,
  scanner: RecordScanner,
): AsyncGenerator<ReadItem[], void, undefined> {
  for await (const block of source) {
    for (let at = 0; at < block.byteLength && !scanner.failure; at += BLOCK_BYTES) {
      const items = scanner.push(block.subarray(at, at + BLOCK_BYTES));
      if (items.length > 0) yield items;
    }
    if (scanner.failure) throw scanner.failure;
  }
  const items = scanner.finish();
  if (items.length > 0) yield items;
  if (scanner.failure) throw scanner.failure;
}

function scannerFor(format: FileFormat, from: ReaderPosition, options: ReadOptions): RecordScanner {
  const { dialect, maxRecordBytes, readerVersion, countRows = false, reading, guarded = true } = options;
  if (format === 'json') return new ArrayScanner(from, { maxRecordBytes });
  if (format === 'ndjson') {
    const readRow = readerVersion >= 3 ? readJsonLine : readJsonRecord;
    return new RowScanner(from, { readRow, maxRecordBytes });
  }
  if (!dialect)
    throw new TypeError('A CSV file is read with the dialect that openFile found; options.dialect is missing.');
  const { quote = '"', escape = '"' } = dialect;
  const delimiter = dialect.delimiter.charCodeAt(0);
  const readRow = csvRowReader(dialect, { readerVersion, fill: reading?.shortRows === 'fill', guarded });
  return new RowScanner(from, { delimiter, quote, escape, readRow, maxRecordBytes, countRows });
}
