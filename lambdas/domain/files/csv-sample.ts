import { findIllegalByte, isBlank, lineEndFrom } from './bytes.ts';
import { splitRow } from './csv-row.ts';
import { FileRejectedError } from './file-rejected-error.ts';
import type { Head } from './head.ts';
import type { ReaderPosition } from './read-item.ts';
import { RecordLexer } from './record-lexer.ts';

/** How cells are quoted, as far as it is known. */
export interface Quoting {
  quote: string;
  /** Undefined where it is to be found. */
  escape: '"' | '\\' | undefined;
}

/** A row of the beginning of a file. */
export interface FoundHeader {
  delimiter: string;
  names: string[];
  text: string;
  /** Physical line where it begins. */
  line: number;
  /** Where the next row begins. */
  start: ReaderPosition;
}

export type Attempt = FoundHeader | { problem: 'incomplete' | 'unterminated' | 'stray' };

/** Rows that are looked at behind the header. */
const SAMPLE_ROWS = 200;

/** Reads the row at `from` as a delimiter divides it. Throws {@link FileRejectedError} for one that is not UTF-8. */
export function readRow(head: Head, from: ReaderPosition, delimiter: string, { quote, escape }: Quoting): Attempt {
  const { bytes, complete } = head;
  const lexer = new RecordLexer(delimiter.charCodeAt(0), { quote, ...(escape && { escape }) });
  const { at, stop } = lexer.run(bytes, from.byteOffset, 0);
  if (stop === 'stray') return { problem: 'stray' };
  if (stop === 'more' && !complete) return { problem: 'incomplete' };
  if (stop === 'more' && lexer.inQuotes) return { problem: 'unterminated' };
  const next = stop === 'more' ? at : lineEndFrom(bytes, at, complete);
  if (next === -1) return { problem: 'incomplete' };
  const text = bytes.toString('utf8', from.byteOffset, at);
  if (findIllegalByte(bytes, from.byteOffset, at, text)) {
    throw new FileRejectedError(
      'UNSUPPORTED_ENCODING',
      `The header on line ${from.line} is not text in UTF-8. Save the file as UTF-8 and submit it again.`,
      from.line,
    );
  }
  const dialect = { delimiter, quote, ...(escape && { escape }) };
  const names = splitRow(text, dialect, lexer.quoted).map((name) => name.trim());
  const lines = (head.countRows ? 0 : lexer.breaks) + 1;
  return { delimiter, names, text, line: from.line, start: { byteOffset: next, recordNo: 0, line: from.line + lines } };
}

type Row = Pick<FoundHeader, 'names'> | { problem: 'stray' | 'unterminated' };

/** The first rows behind the header that are not blank, as far as they are in the head. */
function sample(head: Head, { delimiter, start }: FoundHeader, quoting: Quoting): Row[] {
  const rows: Row[] = [];
  let at = start;
  while (rows.length < SAMPLE_ROWS && at.byteOffset < head.bytes.length) {
    const row = readRowLeniently(head, at, delimiter, quoting);
    if (row === undefined) return rows;
    if ('problem' in row) {
      if (row.problem !== 'incomplete') rows.push({ problem: row.problem });
      return rows;
    }
    if (!isBlank(head.bytes, at.byteOffset, row.start.byteOffset)) rows.push(row);
    at = row.start;
  }
  return rows;
}

/** What is wrong with a row's text is for the reader of rows to say. */
function readRowLeniently(head: Head, at: ReaderPosition, delimiter: string, quoting: Quoting): Attempt | undefined {
  try {
    return readRow(head, at, delimiter, quoting);
  } catch (error) {
    if (error instanceof FileRejectedError) return undefined;
    throw error;
  }
}

/**
 * How a quote is written in a quoted cell: by a backslash before it only where the first rows cannot be read otherwise, and all of them can
 * be read so.
 */
export function findEscape(head: Head, header: FoundHeader, { quote }: Quoting): '"' | '\\' {
  if (quote === '' || !head.bytes.includes(`\\${quote}`)) return '"';
  if (!sample(head, header, { quote, escape: '"' }).some((row) => 'problem' in row)) return '"';
  const rows = sample(head, header, { quote, escape: '\\' });
  const fits = rows.length > 0 && rows.every((row) => 'names' in row && row.names.length === header.names.length);
  return fits ? '\\' : '"';
}

/** 1 where each of the first rows has one cell more than the header, an empty one: a delimiter ends them. */
export function findSurplus(head: Head, header: FoundHeader, quoting: Quoting): number {
  const rows = sample(head, header, quoting).filter((row) => 'names' in row);
  const wanted = header.names.length + 1;
  return rows.length > 0 && rows.every(({ names }) => names.length === wanted && names.at(-1) === '') ? 1 : 0;
}
