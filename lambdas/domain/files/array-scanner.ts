import { ByteWindow, CLOSE_BRACE, CLOSE_BRACKET, COMMA, isBlank } from './bytes.ts';
import { ElementLexer, LineCounter } from './element-lexer.ts';
import { FileRejectedError } from './file-rejected-error.ts';
import { ItemLog, type RecordScanner } from './item-log.ts';
import { readJsonRecord } from './json-record.ts';
import type { ReadItem, ReaderPosition, RowContent } from './read-item.ts';
import { contentOf } from './row-content.ts';

type Place =
  /** Behind the opening bracket: an element or the closing bracket. */
  | 'array_start'
  /** Behind a comma: an element. */
  | 'before_element'
  /** Behind an element: a comma or the closing bracket. A missing comma is tolerated: nothing is lost by it. */
  | 'after_element'
  | 'in_element'
  /** Behind the closing bracket: blanks only. */
  | 'array_end';

/**
 * Reads the elements of one JSON array, each as a record, without holding the array. It starts behind the opening
 * bracket. Brackets are counted outside texts only, so what breaks one element's syntax breaks that record; what breaks
 * the array itself (a text or bracket never closed) ends in a rejection, since nobody can tell where the next one begins.
 */
export class ArrayScanner implements RecordScanner {
  readonly #window: ByteWindow;
  readonly #log: ItemLog;
  readonly #maxRecordBytes: number;
  failure: FileRejectedError | undefined;

  #place: Place;
  /** Index of the first byte that has not been looked at. */
  #at = 0;
  /** Index of the first byte of the element that is still in memory. */
  #start = 0;
  #elementOffset = 0;
  /** Counts up to the byte at `#at`; the log's line is the one where the element begins. */
  readonly #lines: LineCounter;
  readonly #lexer: ElementLexer;

  constructor(from: ReaderPosition, options: { maxRecordBytes: number }) {
    this.#window = new ByteWindow(from.byteOffset);
    this.#log = new ItemLog(from);
    this.#lines = new LineCounter(from.line);
    this.#lexer = new ElementLexer(this.#lines);
    this.#place = from.recordNo === 0 ? 'array_start' : 'after_element';
    this.#maxRecordBytes = options.maxRecordBytes;
  }

  push(block: Uint8Array): ReadItem[] {
    if (this.failure) return [];
    const consumed = this.#place === 'in_element' ? this.#start : this.#at;
    this.#window.advance(consumed, block);
    this.#at -= consumed;
    this.#start = 0;
    this.#scan();
    return this.#log.take();
  }

  finish(): ReadItem[] {
    if (!this.failure && this.#place !== 'array_end') this.#failTruncated();
    return this.#log.take();
  }

  #scan(): void {
    const { bytes } = this.#window;
    while (!this.failure && this.#at < bytes.length) {
      if (this.#place === 'in_element') this.#takeElement(bytes);
      else this.#takeBetween(bytes);
    }
  }

  /** Looks at one byte between elements. */
  #takeBetween(bytes: Buffer): void {
    const byte = bytes[this.#at] ?? 0;
    if (isBlank(bytes, this.#at, this.#at + 1)) {
      this.#lines.see(byte);
      this.#at += 1;
      return;
    }
    this.#lines.afterCr = false;
    const place = this.#place;
    if (place === 'array_end' || byte === CLOSE_BRACE) this.#failInvalid();
    else if (byte === COMMA && place === 'after_element') this.#pass('before_element');
    else if (byte === CLOSE_BRACKET && place !== 'before_element') this.#pass('array_end');
    else if (byte === COMMA || byte === CLOSE_BRACKET) this.#failInvalid();
    else this.#beginElement();
  }

  #pass(place: Place): void {
    this.#place = place;
    this.#at += 1;
  }

  #beginElement(): void {
    this.#place = 'in_element';
    this.#start = this.#at;
    this.#elementOffset = this.#window.offset + this.#at;
    this.#log.line = this.#lines.line;
    this.#lexer.reset();
  }

  #takeElement(bytes: Buffer): void {
    const end = this.#lexer.findEnd(bytes, this.#at);
    if (end === -1) {
      this.#at = bytes.length;
      if (this.#window.offset + this.#at - this.#elementOffset > this.#maxRecordBytes) this.#start = this.#at;
      return;
    }
    const endOffset = this.#window.offset + end;
    this.#log.add(this.#content(bytes, end), this.#elementOffset, endOffset, this.#lines.line);
    this.#at = end;
    this.#place = 'after_element';
  }

  #content(bytes: Buffer, end: number): RowContent {
    const sizeBytes = this.#window.offset + end - this.#elementOffset;
    const row = { bytes, start: this.#start, end, sizeBytes, line: this.#log.line, quoted: false };
    return contentOf(row, this.#maxRecordBytes, readJsonRecord);
  }

  #failInvalid(): void {
    const line = this.#lines.line;
    const message =
      this.#place === 'array_end'
        ? `On line ${line}, text follows the end of the JSON array. A JSON file must be one array of records and nothing else.`
        : `On line ${line}, a comma, brace or bracket stands where a record must begin or end. Check the record before it.`;
    this.failure = new FileRejectedError('INVALID_ARRAY', message, line);
  }

  #failTruncated(): void {
    const inElement = this.#place === 'in_element';
    const line = inElement ? this.#log.line : this.#lines.line;
    const what = inElement
      ? `inside the record that begins on line ${line}: one of its quotes, braces or brackets is never closed`
      : `on line ${line}, before the closing bracket of the array`;
    const message = `The file ends ${what}. Submit the complete file.`;
    this.failure = new FileRejectedError('TRUNCATED_ARRAY', message, line);
  }
}
