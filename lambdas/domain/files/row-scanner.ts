import { ByteFinder, ByteWindow, CR, isBlank, LF, lineEndFrom } from './bytes.ts';
import { grouped } from './details.ts';
import { FileRejectedError } from './file-rejected-error.ts';
import { ItemLog, type RecordScanner } from './item-log.ts';
import { defective, type ReadItem, type ReaderPosition, type RowContent, type RowReader } from './read-item.ts';
import { RecordLexer } from './record-lexer.ts';
import { contentOf } from './row-content.ts';

/**
 * Reads files in which a record is a row: CSV (a `delimiter` is given, quoted cells may hold line ends) and NDJSON.
 *
 * Keeps at most one block and `maxRecordBytes` in memory: of a longer record only the end is looked for. Every decision
 * depends on the bytes of the record alone, never on where blocks end, so a restart comes to the same ones.
 */
export class RowScanner implements RecordScanner {
  readonly #window: ByteWindow;
  readonly #log: ItemLog;
  readonly #lexer: RecordLexer;
  readonly #csv: boolean;
  readonly #readRow: RowReader;
  readonly #maxRecordBytes: number;
  /** Whether a row counts as one line, whatever line ends its cells hold. */
  readonly #countRows: boolean;
  readonly #cr = new ByteFinder(CR);
  readonly #lf = new ByteFinder(LF);
  readonly #quote: ByteFinder;
  readonly #escape: '"' | '\\';
  failure: FileRejectedError | undefined;

  /** Index of the first byte of the record that is still in memory. */
  #start = 0;
  /** Index up to which the lexer has looked; beyond `#start` only inside a record that went on over a block's end. */
  #at = 0;
  /** Offset in the file where the record begins. */
  #recordOffset: number;
  /** True when the beginning of the record was dropped because it is too long. */
  #dropped = false;
  #droppedBlank = true;

  constructor(
    from: ReaderPosition,
    options: {
      delimiter?: number;
      quote?: string;
      escape?: '"' | '\\';
      readRow: RowReader;
      maxRecordBytes: number;
      countRows?: boolean;
    },
  ) {
    const { quote = '"', escape = '"' } = options;
    this.#window = new ByteWindow(from.byteOffset);
    this.#recordOffset = from.byteOffset;
    this.#log = new ItemLog(from);
    // Without quotes a row is a line.
    this.#csv = options.delimiter !== undefined && quote !== '';
    this.#lexer = new RecordLexer(this.#csv ? options.delimiter : undefined, { quote, escape });
    this.#quote = new ByteFinder((quote || '"').charCodeAt(0));
    this.#escape = escape;
    this.#readRow = options.readRow;
    this.#maxRecordBytes = options.maxRecordBytes;
    this.#countRows = options.countRows ?? false;
  }

  push(block: Uint8Array): ReadItem[] {
    if (this.failure) return [];
    this.#window.advance(this.#start, block);
    this.#at -= this.#start;
    this.#start = 0;
    this.#scan(false);
    return this.#log.take();
  }

  finish(): ReadItem[] {
    if (!this.failure) this.#scan(true);
    return this.#log.take();
  }

  #scan(complete: boolean): void {
    const { bytes } = this.#window;
    for (const finder of [this.#cr, this.#lf, this.#quote]) finder.reset(bytes);
    while (!this.failure && this.#start < bytes.length) {
      const advanced =
        (this.#atRecordStart() && this.#takePlainLine(bytes, complete)) || this.#takeRecord(bytes, complete);
      if (!advanced) break;
    }
    if (this.failure) return;
    if (complete) this.#closeLastRecord(bytes);
    else this.#dropOverlongBeginning(bytes);
  }

  #atRecordStart(): boolean {
    return this.#at === this.#start && !this.#dropped;
  }

  /** The common case: a line that is complete in memory and has no quote in it. */
  #takePlainLine(bytes: Buffer, complete: boolean): boolean {
    const end = Math.min(this.#cr.next(this.#start), this.#lf.next(this.#start));
    if (end === bytes.length || (this.#csv && this.#quote.next(this.#start) < end)) return false;
    const next = lineEndFrom(bytes, end, complete);
    if (next === -1) return false;
    this.#endRecord(bytes, end, next);
    return true;
  }

  /** Any other record. False when its end is not in memory yet. */
  #takeRecord(bytes: Buffer, complete: boolean): boolean {
    for (;;) {
      const { at, stop } = this.#lexer.run(bytes, this.#at, this.#window.offset);
      this.#at = at;
      if (stop === 'more') return false;
      if (stop === 'end') {
        const next = lineEndFrom(bytes, at, complete);
        if (next !== -1) this.#endRecord(bytes, at, next);
        return next !== -1;
      }
      if (stop === 'known_stray') {
        this.#endFirstLine(bytes);
        return true;
      }
      if (!this.#strayText(bytes, at)) return !this.failure;
    }
  }

  /**
   * Text behind a closing quote at index `at`. The quotes of this record cannot be trusted, so its first physical line
   * becomes the defect and reading goes on behind it: one quote too many must not swallow the rows that follow. True
   * when the lexer is to go on to the end of this line.
   */
  #strayText(bytes: Buffer, at: number): boolean {
    const lexer = this.#lexer;
    if (lexer.breaks === 0) {
      lexer.ignoreQuotes();
      return true;
    }
    if (this.#window.offset + at - this.#recordOffset > this.#maxRecordBytes) {
      this.#failUnterminated(
        `is not closed within the ${grouped(this.#maxRecordBytes)} bytes that a record may have, and text follows where it ends`,
      );
      return false;
    }
    lexer.rememberStray();
    this.#endFirstLine(bytes);
    return false;
  }

  /** The first physical line of the record is a defect; the next record begins behind it. */
  #endFirstLine(bytes: Buffer): void {
    const end = this.#lexer.firstBreakOffset - this.#window.offset;
    this.#add(this.#invalidQuoting(bytes, end), lineEndFrom(bytes, end, true), 1);
  }

  #invalidQuoting(bytes: Buffer, end: number): RowContent {
    const what = `The row on line ${this.#log.line} has text behind the closing quote of column ${this.#lexer.column}.`;
    const remedy =
      this.#escape !== '\\' && bytes.subarray(this.#start, end).includes('\\"')
        ? 'It has backslashes before quotes: submit the file with reading.escape "\\" in its profile, or double the quotes.'
        : 'Double every quote inside a quoted cell, and quote the cell as a whole.';
    return defective('INVALID_QUOTING', `${what} ${remedy}`);
  }

  /** The record ends at index `end`; the next one begins at `next`. */
  #endRecord(bytes: Buffer, end: number, next: number): void {
    const lines = (this.#countRows ? 0 : this.#lexer.breaks) + (next > end ? 1 : 0);
    if (this.#droppedBlank && isBlank(bytes, this.#start, end)) {
      this.#log.line += lines;
      this.#moveTo(next);
    } else {
      this.#add(this.#content(bytes, end), next, lines);
    }
  }

  #content(bytes: Buffer, end: number): RowContent {
    if (this.#lexer.stray) return this.#invalidQuoting(bytes, end);
    const row = {
      bytes,
      start: this.#start,
      end,
      sizeBytes: this.#window.offset + end - this.#recordOffset,
      line: this.#log.line,
      quoted: this.#lexer.quoted,
    };
    return contentOf(row, this.#maxRecordBytes, this.#readRow);
  }

  #add(content: RowContent, next: number, lines: number): void {
    const endOffset = this.#window.offset + next;
    this.#log.add(content, this.#recordOffset, endOffset, this.#log.line + lines);
    this.#moveTo(next);
  }

  #moveTo(index: number): void {
    this.#start = index;
    this.#at = index;
    this.#recordOffset = this.#window.offset + index;
    this.#dropped = false;
    this.#droppedBlank = true;
    this.#lexer.reset();
  }

  #closeLastRecord(bytes: Buffer): void {
    const length = this.#window.offset + bytes.length - this.#recordOffset;
    if (length === 0) return;
    if (this.#lexer.inQuotes) this.#failUnterminated('is never closed');
    else this.#endRecord(bytes, bytes.length, bytes.length);
  }

  #failUnterminated(what: string): void {
    const line = this.#log.line + this.#lexer.breaksBeforeCell;
    this.failure = new FileRejectedError(
      'UNTERMINATED_QUOTE',
      `The quote that opens column ${this.#lexer.column} on line ${line} ${what}. Close it, or remove it, and submit the file again.`,
      line,
    );
  }

  #dropOverlongBeginning(bytes: Buffer): void {
    if (this.#at - this.#start <= 0) return;
    if (this.#window.offset + this.#at - this.#recordOffset <= this.#maxRecordBytes) return;
    this.#droppedBlank &&= isBlank(bytes, this.#start, this.#at);
    this.#dropped = true;
    this.#start = this.#at;
  }
}
