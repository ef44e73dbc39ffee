import { columnNamed } from '../profiles/mapping.ts';
import { normalise } from '../profiles/normalise.ts';
import { lineEndFrom } from './bytes.ts';
import { findEscape, findSurplus, readRow, type Attempt, type FoundHeader, type Quoting } from './csv-sample.ts';
import { grouped, quoteName } from './details.ts';
import { withoutFailureColumns } from './failed-list.ts';
import { FileRejectedError } from './file-rejected-error.ts';
import { type Head, lineText, skipBlankLines } from './head.ts';
import type { CsvDialect, ReaderPosition } from './read-item.ts';
import { RecordLexer } from './record-lexer.ts';
import { isReservedName } from './reserved-names.ts';

/** The delimiters that are recognised. Where several fit equally well, the first of them is taken. */
const DELIMITERS: readonly string[] = [',', ';', '\t', '|'];

/** The first line of a file may name its delimiter, as Excel writes and reads it. */
const DELIMITER_LINE = /^sep=([,;\t|])$/i;

/** Lines among which the header is looked for. */
const MAX_TITLE_LINES = 50;

/** Finds delimiter, quoting and header. Throws {@link FileRejectedError}. */
export function openCsv(head: Head, textStart: number): { start: ReaderPosition; dialect: CsvDialect } {
  const { reading } = head;
  let at = skipBlankLines(head, { byteOffset: textStart, recordNo: 0, line: 1 });
  let delimiters = reading.delimiter === undefined ? DELIMITERS : [reading.delimiter];
  const quoting: Quoting = { quote: reading.quote ?? '"', escape: reading.escape };
  const first = readRow(head, at, ',', quoting);
  const declared = 'problem' in first ? undefined : DELIMITER_LINE.exec(first.text)?.[1];
  if (declared !== undefined && !('problem' in first)) {
    delimiters = [declared];
    at = skipBlankLines(head, first.start);
  }
  const found = findHeader(head, at, delimiters, quoting);
  const names = found.names.map((name) => (head.readerVersion >= 3 ? normalise(name, ['trim']) : name));
  const named = head.readerVersion >= 3 ? names.findLastIndex((name) => name !== '') + 1 : names.length;
  const own = withoutFailureColumns(names.slice(0, named), head);
  checkNames(own, found.line);
  const dialect: CsvDialect = { delimiter: found.delimiter, header: own };
  if (head.readerVersion < 3) return { start: found.start, dialect };
  if (quoting.quote !== '"') dialect.quote = quoting.quote;
  const escape = quoting.escape ?? findEscape(head, found, quoting);
  if (escape === '\\') dialect.escape = escape;
  const surplus = names.length - named || findSurplus(head, found, { ...quoting, escape });
  if (surplus > 0) dialect.surplus = surplus;
  if (own.length < named) dialect.failureColumns = named - own.length;
  if (found.line > 1) dialect.headerLine = found.line;
  return { start: found.start, dialect };
}

function findHeader(head: Head, at: ReaderPosition, delimiters: readonly string[], quoting: Quoting): FoundHeader {
  const { headerRow = 'found' } = head.reading;
  if (headerRow === 0) return withoutHeader(head, at, delimiters, quoting);
  if (headerRow !== 'found') return chooseHeader(head, lineNumber(head, at, headerRow), delimiters, quoting);
  if (head.readerVersion < 3 || head.columns.length === 0) return chooseHeader(head, at, delimiters, quoting);
  return (
    behindTitles(head, at, delimiters, quoting) ??
    chooseHeader(head, likeliest(head, at, delimiters, quoting), delimiters, quoting)
  );
}

/** The first line that has the columns that are looked for; of several delimiters the one that divides it into the most columns. */
function behindTitles(
  head: Head,
  from: ReaderPosition,
  delimiters: readonly string[],
  quoting: Quoting,
): FoundHeader | undefined {
  const above: FoundHeader[] = [];
  for (const at of linesFrom(head, from)) {
    const rows = delimiters.map((delimiter) => readRow(head, at, delimiter, quoting)).filter(isHeader);
    const found = widestOf(rows.filter((row) => hasColumns(head, row)));
    if (found) return mustBeTitles(above, found, head);
    above.push(...rows);
  }
  return undefined;
}

const cellsOf = ({ names }: FoundHeader): number => names.filter((name) => name !== '').length;

/** One column found below rows as wide as its header may be that of another table: the rows above are not passed over silently. */
function mustBeTitles(above: readonly FoundHeader[], found: FoundHeader, { columns }: Head): FoundHeader {
  const wide = above.find((row) => row.delimiter === found.delimiter && cellsOf(row) >= Math.max(2, cellsOf(found)));
  if (wide === undefined || columns.length > 1) return found;
  const message =
    `The column ${columns.map(quoteName).join(', ')} is on line ${found.line}, below line ${wide.line}, which has as many cells. ` +
    'Remove what stands above the header, or submit the file with reading.headerRow in its profile.';
  throw new FileRejectedError('INVALID_HEADER', message, found.line);
}

/** The line with the most columns: what a message about missing columns is to speak of. */
function likeliest(head: Head, from: ReaderPosition, delimiters: readonly string[], quoting: Quoting): ReaderPosition {
  const first = delimiters.map((delimiter) => readRow(head, from, delimiter, quoting));
  if (!first.some(isHeader)) return from;
  let best = from;
  let most = 1;
  for (const at of linesFrom(head, from)) {
    const widest = widestOf(delimiters.map((delimiter) => readRow(head, at, delimiter, quoting)).filter(isHeader));
    const columns = widest ? cellsOf(widest) : 0;
    if (columns <= most) continue;
    best = at;
    most = columns;
  }
  return best;
}

/** The beginnings of the first lines that are not blank. */
function* linesFrom(head: Head, from: ReaderPosition): Generator<ReaderPosition, void, undefined> {
  let at = from;
  for (let count = 0; count < MAX_TITLE_LINES; count++) {
    yield at;
    const { at: end, stop } = new RecordLexer().run(head.bytes, at.byteOffset, 0);
    const next = stop === 'end' ? lineEndFrom(head.bytes, end, head.complete) : -1;
    if (next === -1 || next >= head.bytes.length) return;
    at = { byteOffset: next, recordNo: 0, line: at.line + 1 };
  }
}

function lineNumber(head: Head, from: ReaderPosition, line: number): ReaderPosition {
  for (const at of linesFrom(head, from)) if (at.line === line) return at;
  const message = `The header is to be on line ${line}, and the file has no such line or only blank ones before it. Correct reading.headerRow.`;
  throw new FileRejectedError('INVALID_HEADER', message, line);
}

/** Columns are called by their numbers. */
function withoutHeader(head: Head, at: ReaderPosition, delimiters: readonly string[], quoting: Quoting): FoundHeader {
  const rows = delimiters.map((delimiter) => readRow(head, at, delimiter, quoting));
  const widest = widestOf(rows.filter(isHeader));
  if (!widest) throw unreadableHeader(head, at.line, rows);
  return { ...widest, names: widest.names.map((_, index) => `column_${index + 1}`), start: at, line: at.line };
}

const isHeader = (attempt: Attempt): attempt is FoundHeader => !('problem' in attempt);

const hasColumns = ({ columns, readerVersion }: Head, { names }: FoundHeader): boolean =>
  columns.every((name) => (readerVersion >= 3 ? columnNamed(names, name) !== undefined : names.includes(name)));

/** The header as the delimiter divides it that shows the columns that are looked for, and the most columns. */
function chooseHeader(head: Head, from: ReaderPosition, delimiters: readonly string[], quoting: Quoting): FoundHeader {
  const attempts = delimiters.map((delimiter) => readRow(head, from, delimiter, quoting));
  const headers = attempts.filter(isHeader);
  const widest = widestOf(headers.filter((header) => hasColumns(head, header)));
  if (widest) return widest;
  const other = widestOf(headers);
  if (!other) throw unreadableHeader(head, from.line, attempts);
  throw otherFormat(head, from) ?? missingColumn(head, other, from.line);
}

const widestOf = (headers: FoundHeader[]): FoundHeader | undefined =>
  headers.reduce<FoundHeader | undefined>(
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

function missingColumn(
  { columns, readerVersion, reading }: Head,
  { names }: FoundHeader,
  line: number,
): FileRejectedError {
  const missing = columns.filter((name) => columnNamed(names, name) === undefined);
  const ambiguous = columns.find((name) => !names.includes(name) && names.some((other) => columnNamed([other], name)));
  const shown = names.slice(0, 5).map(quoteName).join(', ');
  const found = names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
  if (readerVersion >= 3 && ambiguous !== undefined) {
    const message = `The header on line ${line} has several columns that ${quoteName(ambiguous)} can mean; it has ${found}. Name one exactly.`;
    return new FileRejectedError('MISSING_REQUIRED_COLUMN', message, line);
  }
  const wanted = missing.length > 0 ? missing : columns;
  const plural = wanted.length > 1 ? 'no columns' : 'no column';
  const remedy =
    reading.delimiter === undefined
      ? 'Name it exactly so, and delimit columns by comma, semicolon, tab or vertical bar'
      : `Name it exactly so, or correct reading.delimiter, which is ${JSON.stringify(reading.delimiter)}`;
  const profile = readerVersion >= 3 ? '; or submit a profile whose columns say where its values are.' : '.';
  return new FileRejectedError(
    'MISSING_REQUIRED_COLUMN',
    `The header on line ${line} has ${plural} ${wanted.slice(0, 5).map(quoteName).join(', ')}; it has ${found}. ${remedy}${profile}`,
    line,
  );
}

/** Two columns of the same name are refused; `Email` and `email` are two names. */
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
