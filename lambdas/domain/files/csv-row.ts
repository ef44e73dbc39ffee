import { normalise } from '../profiles/normalise.ts';
import { unguard } from './csv-writer.ts';
import { defective, type CsvDialect, type RowContent, type RowReader } from './read-item.ts';

/** Cells of a row in which at least one cell is quoted; where quotes open and close has been checked before. */
function splitQuoted(text: string, { delimiter, quote = '"', escape = '"' }: SplitOptions): string[] {
  const cells: string[] = [];
  const close = escape === '\\' ? closingBehindBackslashes : closingQuote;
  let at = 0;
  for (;;) {
    if (text[at] === quote) {
      const end = close(text, at + 1, quote);
      cells.push(unescape(text.slice(at + 1, end), quote, escape));
      at = end + 1;
    } else {
      const end = text.indexOf(delimiter, at);
      cells.push(end === -1 ? text.slice(at) : text.slice(at, end));
      at = end === -1 ? text.length : end;
    }
    if (at >= text.length) return cells;
    at += 1;
  }
}

function closingQuote(text: string, from: number, quote: string): number {
  let at = text.indexOf(quote, from);
  while (at !== -1 && text[at + 1] === quote) at = text.indexOf(quote, at + 2);
  return at === -1 ? text.length : at;
}

function closingBehindBackslashes(text: string, from: number, quote: string): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === quote) return at;
  }
  return text.length;
}

/** A backslash before anything but a quote or a backslash is one: `\n` and `\N` stay as they are. */
function unescape(cell: string, quote: string, escape: string): string {
  if (escape === '\\')
    return cell.replaceAll(/\\([\\"'])/g, (both, c: string) => (c === quote || c === '\\' ? c : both));
  return cell.includes(quote) ? cell.replaceAll(quote + quote, quote) : cell;
}

type SplitOptions = Pick<CsvDialect, 'delimiter' | 'quote' | 'escape'>;

/** Cells of a row as text, with nothing trimmed. */
export const splitRow = (text: string, options: SplitOptions, quoted: boolean): string[] =>
  quoted ? splitQuoted(text, options) : text.split(options.delimiter);

function columnCount(line: number, { header, headerLine }: CsvDialect, expected: number, found: number): RowContent {
  const remedy =
    found > expected
      ? 'Quote the cells that contain the delimiter.'
      : 'Add the missing cells, if need be empty ones, or close a row that was broken in two.';
  const cells = found === 1 ? '1 cell' : `${found} cells`;
  const place = headerLine === undefined ? 'the header' : `the header on line ${headerLine}`;
  const detail = `The row on line ${line} has ${cells}; ${place} has ${header.length}. ${remedy}`;
  return defective('COLUMN_COUNT', detail);
}

const unnamedValue = (line: number, { header, headerLine = 1 }: CsvDialect, column: number): RowContent =>
  defective(
    'COLUMN_COUNT',
    `The row on line ${line} has a value in column ${column}; the header on line ${headerLine} names ${header.length} columns. ` +
      'Name the column, or clear it.',
  );

const BYTE_ORDER_MARK = '\uFEFF';

/** Names are compared as the header's own are read: without blanks around them, and without a mark before the first. */
const repeatsHeader = (cells: readonly string[], header: readonly string[]): boolean =>
  cells.length >= header.length &&
  cells.every(
    (cell, column) => (header[column] ?? '') === cell || normalise(cell, ['trim']) === (header[column] ?? ''),
  );

const repeatedHeader = (line: number): RowContent =>
  defective(
    'REPEATED_HEADER',
    `The row on line ${line} repeats the header, as where two files were joined. Remove the row; the records around it are read.`,
  );

const strayMark = (line: number): RowContent =>
  defective(
    'ILLEGAL_CHARACTER',
    `The row on line ${line} begins with a byte order mark (U+FEFF), as where two files were joined. Remove the mark.`,
  );

export interface RowOptions {
  readerVersion: number;
  /** Cells that a row lacks at its end are empty. */
  fill?: boolean;
  /** In a list of failed records that comes back, cells that could be formulas are written as text. True by default. */
  guarded?: boolean;
}

/** Makes the reader of the rows of a CSV file. */
export function csvRowReader(
  dialect: CsvDialect,
  { readerVersion, fill = false, guarded = true }: RowOptions,
): RowReader {
  const { header, surplus = 0, failureColumns = 0 } = dialect;
  const findsJoints = readerVersion >= 2;
  const named = header.length + failureColumns;
  return (text, line, quoted) => {
    const cells = splitRow(text, dialect, quoted);
    if (readerVersion >= 3 && !quoted && cells.every((cell) => cell === '' || cell.trim() === ''))
      return { kind: 'blank' };
    if (findsJoints && failureColumns === 0 && repeatsHeader(cells, header)) return repeatedHeader(line);
    if (findsJoints && text.startsWith(BYTE_ORDER_MARK)) return strayMark(line);
    const isWhole = cells.length === named || cells.length === named + surplus;
    if (!isWhole && !(fill && cells.length < named)) return columnCount(line, dialect, named, cells.length);
    for (let column = named; column < cells.length; column++) {
      if (cells[column]?.trim() !== '') return unnamedValue(line, dialect, column + 1);
    }
    // Plain properties are safe: a header with a reserved name is refused when the file is opened.
    const fields: Record<string, unknown> = {};
    for (let column = 0; column < header.length; column++) {
      const cell = cells[column] ?? '';
      fields[header[column] ?? ''] = failureColumns > 0 && guarded ? unguard(cell) : cell;
    }
    return { kind: 'record', fields };
  };
}
