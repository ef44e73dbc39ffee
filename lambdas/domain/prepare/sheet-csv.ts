import { grouped } from '../files/details.ts';
import { UnreadableSourceError } from '../source/unreadable-source.ts';

/** One row of a sheet: its number, 1-based, and the texts of its cells from the first column on. */
export interface SheetRow {
  row: number;
  cells: readonly string[];
}

/** Rows and columns that a sheet may have, https://support.microsoft.com/office/1672b34d-7043-467e-8e27-269d656771c3. */
const MAX_ROWS = 1_048_576;
/** The first rows with cells, among which the header is: shorter rows are filled up to the widest of them. */
const HEAD_ROWS = 50;
const FLUSH_LENGTH = 64 * 1024;

/** What a reader of CSV might take for more than the text that it is. */
const NEEDS_QUOTES = /[",;|\t\r\n]|^\s|\s$/;

const quoted = (cell: string): string => (NEEDS_QUOTES.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/**
 * Writes the rows of a sheet as CSV, row n as the n-th row of the text: rows without cells are blank lines. Rows are as wide as the widest
 * of the first {@link HEAD_ROWS}, since a sheet ends each row at its last cell.
 */
export async function* sheetCsv(rows: AsyncIterable<SheetRow>): AsyncGenerator<Uint8Array> {
  const writer = new SheetWriter();
  const head: SheetRow[] = [];
  let width: number | undefined;
  for await (const { row, cells } of rows) {
    const filled = cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1);
    if (filled.length === 0) continue;
    if (width !== undefined) writer.add({ row, cells: filled }, width);
    else if (head.push({ row, cells: filled }) === HEAD_ROWS) width = writer.addHead(head);
    if (writer.isFull) yield* writer.take();
  }
  if (width === undefined) writer.addHead(head);
  yield* writer.take();
}

class SheetWriter {
  #text: string[] = [];
  #length = 0;
  #last = 0;

  get isFull(): boolean {
    return this.#length >= FLUSH_LENGTH;
  }

  addHead(rows: readonly SheetRow[]): number {
    const width = Math.max(0, ...rows.map(({ cells }) => cells.length));
    for (const row of rows) this.add(row, width);
    return width;
  }

  add({ row, cells }: SheetRow, width: number): void {
    if (row <= this.#last || row > MAX_ROWS) {
      throw new UnreadableSourceError(
        'DAMAGED_FILE',
        `Row ${grouped(row)} of the sheet follows row ${grouped(this.#last)}; rows are numbered upwards to ${grouped(MAX_ROWS)}. Open the workbook, save it and submit it again.`,
        { line: row },
      );
    }
    const blank = '\n'.repeat(row - this.#last - 1);
    const line = cells.map(quoted).join(',');
    this.#append(`${blank}${line}${','.repeat(Math.max(0, width - cells.length))}\n`);
    this.#last = row;
  }

  *take(): Generator<Uint8Array> {
    if (this.#length > 0) yield Buffer.from(this.#text.join(''));
    this.#text = [];
    this.#length = 0;
  }

  #append(text: string): void {
    this.#text.push(text);
    this.#length += text.length;
  }
}
