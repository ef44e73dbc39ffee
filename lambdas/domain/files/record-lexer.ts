import { BACKSLASH, CR, LF } from './bytes.ts';

type State =
  /** At the first byte of a cell: a quote here opens a quoted cell, anywhere else it is text. */
  | 'cell_start'
  | 'plain'
  | 'quoted'
  /** Behind a quote in a quoted cell: it closed the cell, or is the first half of a doubled one. */
  | 'quote_seen'
  /** Quotes mean nothing: everything up to the line end. */
  | 'line';

/**
 * `end`: at a line end that ends the record. `stray`: at text behind a closing quote. `known_stray`: at the record's first line end,
 * which lies inside quotes as it did in a record that ended in stray text. `more`: the bytes are used up.
 */
export type LexerStop = 'end' | 'stray' | 'known_stray' | 'more';

/**
 * Finds where a record ends, across blocks. A record is a line; with a delimiter given (CSV), line ends inside a quoted
 * cell belong to the record.
 */
export class RecordLexer {
  readonly #delimiter: number | undefined;
  readonly #quote: number | undefined;
  readonly #backslash: boolean;
  /** Behind a backslash in a quoted cell. */
  #escaped = false;
  #state: State = 'cell_start';
  #afterCr = false;
  /** 1-based column of the cell the lexer is in. */
  column = 1;
  /** True when a quoted cell was seen in this record. */
  quoted = false;
  /** True when text was found behind a closing quote, so that quotes mean nothing for the rest of the line. */
  stray = false;
  /** Line ends inside quotes before the cell that the lexer is in. */
  breaksBeforeCell = 0;
  /** Line ends inside quotes: offset in the file, and the column of the cell. The first one ends the first physical line. */
  #breaks: { offset: number; column: number }[] = [];
  /** Columns from a line end inside quotes to the stray text that follows it, by the line end's offset. */
  #columnsToStray: ReadonlyMap<number, number> = new Map();

  /** `delimiter`: one ASCII byte; none for formats in which every line is a record. */
  constructor(delimiter?: number, { quote = '"', escape = '"' }: { quote?: string; escape?: '"' | '\\' } = {}) {
    this.#delimiter = delimiter;
    this.#quote = quote === '' ? undefined : quote.charCodeAt(0);
    this.#backslash = escape === '\\';
    this.reset();
  }

  reset(): void {
    this.#state = this.#delimiter === undefined ? 'line' : 'cell_start';
    this.#afterCr = false;
    this.#escaped = false;
    this.column = 1;
    this.quoted = false;
    this.stray = false;
    this.breaksBeforeCell = 0;
    this.#breaks = [];
  }

  /** Line ends inside quotes so far. */
  get breaks(): number {
    return this.#breaks.length;
  }

  /** Offset of the first line end inside quotes; -1 when there was none. */
  get firstBreakOffset(): number {
    return this.#breaks[0]?.offset ?? -1;
  }

  /**
   * Remembers the line ends inside the quotes of a record that ended in stray text. A later record that is in quotes at one of them
   * ends in the same text, so it needs no second look: many stray quotes cost one pass, not one for each line.
   */
  rememberStray(): void {
    this.#columnsToStray = new Map(this.#breaks.map(({ offset, column }) => [offset, this.column - column]));
  }

  /** From here to the line end quotes are text. */
  ignoreQuotes(): void {
    this.#state = 'line';
    this.stray = true;
  }

  get inQuotes(): boolean {
    return this.#state === 'quoted';
  }

  /**
   * Goes on at index `from`. Answers the index where it stopped and why. `offset` is the file offset of `bytes[0]`.
   */
  run(bytes: Buffer, from: number, offset: number): { at: number; stop: LexerStop } {
    let at = from;
    while (at < bytes.length) {
      if (this.#state === 'quoted') {
        at = this.#skipQuoted(bytes, at, offset);
        if (this.#state === 'quoted' && at < bytes.length) return { at, stop: 'known_stray' };
        continue;
      }
      const byte = bytes[at];
      if (byte === LF || byte === CR) return { at, stop: 'end' };
      if (this.#state === 'line') {
        at += 1;
      } else if (byte === this.#delimiter) {
        this.#nextCell();
        at += 1;
      } else if (this.#state === 'quote_seen') {
        if (byte !== this.#quote || this.#backslash) return { at, stop: 'stray' };
        this.#state = 'quoted';
        at += 1;
      } else if (this.#state === 'cell_start' && byte === this.#quote) {
        this.#openQuote();
        at += 1;
      } else {
        at = this.#skipPlain(bytes, at);
      }
    }
    return { at, stop: 'more' };
  }

  #nextCell(): void {
    this.#state = 'cell_start';
    this.column += 1;
  }

  #openQuote(): void {
    this.#state = 'quoted';
    this.#afterCr = false;
    this.quoted = true;
    this.breaksBeforeCell = this.breaks;
  }

  #skipPlain(bytes: Buffer, from: number): number {
    this.#state = 'plain';
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === this.#delimiter || byte === LF || byte === CR) return at;
    }
    return bytes.length;
  }

  /** Index behind the next quote, or of the first line end of a record whose end is known. Counts the line ends on the way. */
  #skipQuoted(bytes: Buffer, from: number, offset: number): number {
    let afterCr = this.#afterCr;
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at];
      if (this.#escaped) {
        this.#escaped = false;
        // A line end behind a backslash is one all the same.
        if (byte !== CR && byte !== LF) {
          afterCr = false;
          continue;
        }
      } else if (this.#backslash && byte === BACKSLASH) {
        this.#escaped = true;
        afterCr = false;
        continue;
      }
      if (byte === this.#quote) {
        this.#state = 'quote_seen';
        this.#afterCr = false;
        return at + 1;
      }
      if (byte === CR || (byte === LF && !afterCr)) {
        const columns = this.#breaks.length === 0 ? this.#columnsToStray.get(offset + at) : undefined;
        this.#breaks.push({ offset: offset + at, column: this.column });
        if (columns !== undefined) {
          this.column += columns;
          return at;
        }
      }
      afterCr = byte === CR;
    }
    this.#afterCr = afterCr;
    return bytes.length;
  }
}
