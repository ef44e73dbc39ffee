import { findIllegalByte, lineEndFrom } from './bytes.ts';
import { splitRow } from './csv-row.ts';
import { grouped, quoteName } from './details.ts';
import { FileRejectedError } from './file-rejected-error.ts';
import { type Head, lineText, skipBlankLines } from './head.ts';
import type { CsvDialect, ReaderPosition } from './read-item.ts';
import { RecordLexer } from './record-lexer.ts';
import { isReservedName } from './reserved-names.ts';

/** The delimiters that are recognised. Where several fit equally well, the first of them is taken. */
const DELIMITERS: readonly string[] = [',', ';', '\t', '|'];

/** The first line of a file may name its delimiter, as Excel writes and reads it. */
const DELIMITER_LINE = /^sep=([,;\t|])$/i;

interface HeaderRow {
  delimiter: string;
  names: string[];
  text: string;
  /** Where the first record begins. */
  start: ReaderPosition;
}

type Attempt = HeaderRow | { problem: 'incomplete' | 'unterminated' | 'stray' };

/** Finds delimiter and header. Throws {@link FileRejectedError}. */
export function openCsv(head: Head, textStart: number): { start: ReaderPosition; dialect: CsvDialect } {
  let at = skipBlankLines(head, { byteOffset: textStart, recordNo: 0, line: 1 });
  let delimiters = DELIMITERS;
  const first = readHeaderRow(head, at, ',');
  const declared = 'problem' in first ? undefined : DELIMITER_LINE.exec(first.text)?.[1];
  if (declared !== undefined && !('problem' in first)) {
    delimiters = [declared];
    at = skipBlankLines(head, first.start);
  }
  const { names, delimiter, start } = chooseHeader(head, at, delimiters);
  checkNames(names, at.line);
  return { start, dialect: { delimiter, header: names } };
}

function readHeaderRow(head: Head, from: ReaderPosition, delimiter: string): Attempt {
  const { bytes, complete } = head;
  const lexer = new RecordLexer(delimiter.charCodeAt(0));
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
  const names = splitRow(text, delimiter, lexer.quoted).map((name) => name.trim());
  const lines = (head.countRows ? 0 : lexer.breaks) + 1;
  return { delimiter, names, text, start: { byteOffset: next, recordNo: 0, line: from.line + lines } };
}

/** The header as the delimiter divides it that shows the identifier's column, and the most columns. */
function chooseHeader(head: Head, from: ReaderPosition, delimiters: readonly string[]): HeaderRow {
  const attempts = delimiters.map((delimiter) => readHeaderRow(head, from, delimiter));
  const headers = attempts.filter((attempt): attempt is HeaderRow => !('problem' in attempt));
  const widest = widestOf(headers.filter(({ names }) => names.includes(head.idField)));
  if (widest) return widest;
  const other = widestOf(headers);
  if (!other) throw unreadableHeader(head, from.line, attempts);
  throw otherFormat(head, from) ?? missingColumn(head.idField, other, from.line);
}

const widestOf = (headers: HeaderRow[]): HeaderRow | undefined =>
  headers.reduce<HeaderRow | undefined>(
    (widest, header) => (widest && widest.names.length >= header.names.length ? widest : header),
    undefined,
  );

function unreadableHeader({ bytes }: Head, line: number, attempts: Attempt[]): FileRejectedError {
  const hit = (wanted: string): boolean =>
    attempts.some((attempt) => 'problem' in attempt && attempt.problem === wanted);
  if (hit('stray')) {
    const message = `The header on line ${line} has text behind a closing quote. Quote each column name as a whole, or none.`;
    return new FileRejectedError('INVALID_HEADER', message, line);
  }
  if (hit('unterminated')) {
    const message = `A quote in the header, which begins on line ${line}, is never closed. Close it, or remove it.`;
    return new FileRejectedError('UNTERMINATED_QUOTE', message, line);
  }
  const message =
    `The header, which begins on line ${line}, does not end within the first ${grouped(bytes.length)} bytes of the file. ` +
    'Check for a quote that is never closed, and for line ends.';
  return new FileRejectedError('HEADER_TOO_LARGE', message, line);
}

function otherFormat(head: Head, from: ReaderPosition): FileRejectedError | undefined {
  const first = lineText(head, from).trimStart().slice(0, 1);
  const formats: Record<string, string> = { '{': 'NDJSON', '[': 'a JSON array', '<': 'HTML or XML' };
  const found = formats[first];
  if (found === undefined) return undefined;
  const remedy = first === '<' ? 'Submit the CSV file itself.' : 'Submit it with that format.';
  return new FileRejectedError(
    'FORMAT_MISMATCH',
    `The file is to be CSV but looks like ${found}. ${remedy}`,
    from.line,
  );
}

function missingColumn(idField: string, { names }: HeaderRow, line: number): FileRejectedError {
  const shown = names.slice(0, 5).map(quoteName).join(', ');
  const found = names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
  return new FileRejectedError(
    'MISSING_REQUIRED_COLUMN',
    `The header on line ${line} has no column ${quoteName(idField)}; it has ${found}. ` +
      'Name it exactly so, and delimit columns by comma, semicolon, tab or vertical bar.',
    line,
  );
}

/** Names are compared after trimming, and exactly: `Email` and `email` are two columns. */
function checkNames(names: readonly string[], line: number): void {
  const columns = new Map<string, number>();
  for (const [index, name] of names.entries()) {
    const column = index + 1;
    const where = `Column ${column} of the header on line ${line}`;
    if (name === '') {
      throw new FileRejectedError('EMPTY_HEADER', `${where} has no name. Name it, or remove the column.`, line);
    }
    if (isReservedName(name)) {
      const message = `${where} is called ${quoteName(name)}, a name that is reserved in JavaScript. Rename it.`;
      throw new FileRejectedError('RESERVED_HEADER', message, line);
    }
    const first = columns.get(name);
    if (first !== undefined) {
      const message = `Columns ${first} and ${column} of the header on line ${line} are both called ${quoteName(name)}. Rename one.`;
      throw new FileRejectedError('DUPLICATE_HEADER', message, line);
    }
    columns.set(name, column);
  }
}
