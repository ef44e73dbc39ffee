export interface CsvLineOptions {
  /** One character; comma by default. */
  delimiter?: string;
  /** Whether cells that could be formulas are written as text. True by default. */
  guard?: boolean;
}

/**
 * What a spreadsheet may take for the beginning of a formula, also behind blanks: = + - @ (and their full-width forms), or
 * a cell that begins with a tab or line end.
 */
const FORMULA_START = /^(?:[\t\r\n]|\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/;

/** A number as programs and people write it: -5, +3.2, -21,419, 1.5e-7. */
const PLAIN_NUMBER = /^[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?$/;

/** An international telephone number: a spreadsheet would calculate with it and drop its plus sign. */
const PHONE_NUMBER = /^\+\d{7,}$/;

const isFormula = (cell: string): boolean =>
  FORMULA_START.test(cell) && (PHONE_NUMBER.test(cell) || !PLAIN_NUMBER.test(cell));

/** A cell that is guarded, and one that begins as a guarded one would: {@link unguard} gives both back as they were. */
const needsGuard = (cell: string): boolean => isFormula(cell.replace(/^'+/, ''));

/** The cell before it was written with an apostrophe that keeps a spreadsheet from calculating it. */
export const unguard = (cell: string): string =>
  cell.startsWith("'") && needsGuard(cell.slice(1)) ? cell.slice(1) : cell;

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  return JSON.stringify(value) ?? '';
}

function formatCell(value: unknown, delimiter: string, guard: boolean): string {
  const text = textOf(value);
  const formula = guard && needsGuard(text);
  if (!formula && !text.includes('"') && !text.includes(delimiter) && !/[\r\n]/.test(text)) return text;
  return `"${formula ? "'" : ''}${text.replaceAll('"', '""')}"`;
}

/**
 * Formats one line of CSV for a results file, CRLF included (RFC 4180). Text stays as it is, null and undefined are
 * empty cells, other values are written as JSON.
 *
 * Results are opened in spreadsheets, and their cells come from strangers: a cell that could be a formula is written with
 * an apostrophe before it, in quotes, which shows it as text (https://owasp.org/www-community/attacks/CSV_Injection).
 * Numbers stay usable: -5 and +3.2 are written as they are. NDJSON results hold every value unchanged.
 */
export function formatCsvLine(
  values: readonly unknown[],
  { delimiter = ',', guard = true }: CsvLineOptions = {},
): string {
  const cells = values.map((value) => formatCell(value, delimiter, guard));
  const line = cells.join(delimiter);
  if (cells.some((cell) => cell.trim() !== '') || cells.length === 0) return `${line}\r\n`;
  // To a reader a row without content is no row: quotes around the first cell make it one.
  return `"${cells[0] ?? ''}"${line.slice(cells[0]?.length)}\r\n`;
}
