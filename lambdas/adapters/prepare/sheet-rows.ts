import { UnreadableSourceError } from '../../domain/source/unreadable-source.ts';
import { atMost } from '../../domain/prepare/bounds.ts';
import type { SheetRow } from '../../domain/prepare/sheet-csv.ts';
import { TextCollector, unescape, type Workbook } from './workbook.ts';
import { damagedWorkbook, parseXml } from './xml.ts';

/** Columns of a sheet: A to XFD. */
const MAX_COLUMNS = 16_384;

/** 0-based column of a cell's reference (`AB12`). */
function columnOf(reference: string): number {
  let column = 0;
  for (let at = 0; at < reference.length; at++) {
    const letter = reference.charCodeAt(at) - 64;
    if (letter < 1 || letter > 26) break;
    column = column * 26 + letter;
  }
  return column - 1;
}

/** Reads the rows that a sheet has, upwards, with the texts that its cells show. Throws {@link UnreadableSourceError}. */
export async function* sheetRows(workbook: Workbook, maxBytes: number): AsyncGenerator<SheetRow> {
  const cells = new CellReader(workbook);
  const blocks = atMost(await workbook.sheet.part.read(), maxBytes, 'The sheet');
  for await (const _ of parseXml(blocks, cells)) yield* cells.take();
}

class CellReader {
  readonly #workbook: Workbook;
  #done: SheetRow[] = [];
  #row = 0;
  #cells: string[] = [];
  #column = -1;
  #inCell = false;
  #inValue = false;
  #hasFormula = false;
  #type = 'n';
  #style = 0;
  #value = '';
  readonly #inline = new TextCollector();

  constructor(workbook: Workbook) {
    this.#workbook = workbook;
  }

  *take(): Generator<SheetRow> {
    const done = this.#done;
    this.#done = [];
    yield* done;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === 'row') this.#beginRow(attributes['r']);
    else if (name === 'c') this.#beginCell(attributes);
    else if (!this.#inCell) return;
    else if (name === 'v') this.#inValue = true;
    else if (name === 'f') this.#hasFormula = true;
    else this.#inline.open(name);
  }

  text(text: string): void {
    if (this.#inValue) this.#value += text;
    else if (this.#inCell) this.#inline.add(text);
  }

  close(name: string): void {
    if (name === 'row') this.#done.push({ row: this.#row, cells: this.#cells });
    else if (name === 'v') this.#inValue = false;
    else if (name === 'c') this.#endCell();
    else if (this.#inCell) this.#inline.close(name);
  }

  #beginRow(number: string | undefined): void {
    this.#row = number === undefined ? this.#row + 1 : Number(number);
    if (!Number.isInteger(this.#row)) throw damagedWorkbook('has a row without a number');
    this.#cells = [];
    this.#column = -1;
  }

  #beginCell({ r: reference, t: type = 'n', s: style = '0' }: Readonly<Record<string, string>>): void {
    const column = reference === undefined ? this.#column + 1 : columnOf(reference);
    if (column <= this.#column || column >= MAX_COLUMNS) {
      throw damagedWorkbook(`has cells of row ${this.#row} that are out of order`);
    }
    while (this.#cells.length < column) this.#cells.push('');
    this.#column = column;
    this.#inCell = true;
    this.#hasFormula = false;
    this.#type = type;
    this.#style = Number(style);
    this.#value = '';
    this.#inline.begin();
  }

  #endCell(): void {
    this.#inCell = false;
    this.#cells.push(this.#shown());
  }

  #shown(): string {
    const value = this.#value;
    if (this.#type === 'inlineStr') return this.#inline.take();
    if (this.#type === 'str') return unescape(value);
    if (value === '') {
      if (this.#hasFormula) throw this.#withoutValue();
      return '';
    }
    switch (this.#type) {
      case 's':
        return this.#sharedString(value);
      case 'b':
        return value === '1' || value === 'true' ? 'TRUE' : 'FALSE';
      // Errors as `#N/A`, and dates in ISO 8601.
      case 'e':
      case 'd':
        return value;
      default:
        return this.#shownNumber(value);
    }
  }

  #sharedString(index: string): string {
    const text = this.#workbook.strings.get(Number(index));
    if (text === undefined) throw damagedWorkbook(`has a cell in row ${this.#row} whose text is missing`);
    return text;
  }

  #shownNumber(value: string): string {
    const number = Number(value);
    if (!Number.isFinite(number)) throw damagedWorkbook(`has a cell in row ${this.#row} that is no number`);
    return this.#workbook.showNumber(this.#style)(number);
  }

  #withoutValue(): UnreadableSourceError {
    return new UnreadableSourceError(
      'FORMULA_WITHOUT_VALUE',
      `A formula in row ${this.#row} of the sheet has no stored result. Open the workbook in a spreadsheet program, save it and submit it again.`,
      { line: this.#row },
    );
  }
}
