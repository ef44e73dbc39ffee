import { defective, type CsvDialect, type RowContent, type RowReader } from './read-item.ts';

/** Cells of a row in which at least one cell is quoted; where quotes open and close has been checked before. */
function splitQuoted(text: string, delimiter: string): string[] {
  const cells: string[] = [];
  let at = 0;
  for (;;) {
    if (text[at] === '"') {
      const close = closingQuote(text, at + 1);
      const cell = text.slice(at + 1, close);
      cells.push(cell.includes('"') ? cell.replaceAll('""', '"') : cell);
      at = close + 1;
    } else {
      const end = text.indexOf(delimiter, at);
      cells.push(end === -1 ? text.slice(at) : text.slice(at, end));
      at = end === -1 ? text.length : end;
    }
    if (at >= text.length) return cells;
    at += 1;
  }
}

function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at === -1 ? text.length : at;
}

/** Cells of a row as text, with nothing trimmed. */
export const splitRow = (text: string, delimiter: string, quoted: boolean): string[] =>
  quoted ? splitQuoted(text, delimiter) : text.split(delimiter);

function columnCount(line: number, expected: number, found: number): RowContent {
  const remedy =
    found > expected
      ? 'Quote the cells that contain the delimiter.'
      : 'Add the missing cells, if need be empty ones, or close a row that was broken in two.';
  const cells = found === 1 ? '1 cell' : `${found} cells`;
  return defective('COLUMN_COUNT', `The row on line ${line} has ${cells}; the header has ${expected}. ${remedy}`);
}

const BYTE_ORDER_MARK = '\uFEFF';

/** Names are compared as the header's own are read: without blanks around them, and without a mark before the first. */
const repeatsHeader = (cells: readonly string[], header: readonly string[]): boolean =>
  cells.length === header.length && cells.every((cell, column) => cell.trim() === header[column]);

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

/** Makes the reader of the rows of a CSV file. */
export function csvRowReader({ delimiter, header }: CsvDialect, readerVersion: number): RowReader {
  const findsJoints = readerVersion >= 2;
  return (text, line, quoted) => {
    const cells = splitRow(text, delimiter, quoted);
    if (findsJoints && repeatsHeader(cells, header)) return repeatedHeader(line);
    if (findsJoints && text.startsWith(BYTE_ORDER_MARK)) return strayMark(line);
    if (cells.length !== header.length) return columnCount(line, header.length, cells.length);
    // Plain properties are safe: a header with a reserved name is refused when the file is opened.
    const fields: Record<string, unknown> = {};
    for (let column = 0; column < header.length; column++) {
      fields[header[column] ?? ''] = cells[column];
    }
    return { kind: 'record', fields };
  };
}
