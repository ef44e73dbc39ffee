import {
  BACKSLASH,
  ByteWindow,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  CR,
  findInvalidUtf8,
  isBlank,
  LF,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './bytes.ts';
import { illegalByte, tooLarge } from './details.ts';
import { FileRejectedError } from './file-rejected-error.ts';
import { ItemLog, type RecordScanner } from './item-log.ts';
import { readJsonRecord } from './json-record.ts';
import type { ReadItem, ReaderPosition, RowContent } from './read-item.ts';

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
  /** Brackets open inside the element. */
  #depth = 0;
  #inText = false;
  #escaped = false;
  /** Physical line of the byte at `#at`; the log's line is the one where the element begins. */
  #line: number;
  #afterCr = false;

  constructor(from: ReaderPosition, options: { maxRecordBytes: number }) {
    this.#window = new ByteWindow(from.byteOffset);
    this.#log = new ItemLog(from);
    this.#line = from.line;
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
      this.#countLine(byte);
      this.#at += 1;
      return;
    }
    this.#afterCr = false;
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
    this.#log.line = this.#line;
    this.#depth = 0;
    this.#inText = false;
    this.#escaped = false;
  }

  #takeElement(bytes: Buffer): void {
    const end = this.#findElementEnd(bytes);
    if (end === -1) {
      this.#at = bytes.length;
      if (this.#window.offset + this.#at - this.#elementOffset > this.#maxRecordBytes) this.#start = this.#at;
      return;
    }
    const endOffset = this.#window.offset + end;
    this.#log.add(this.#content(bytes, end), this.#elementOffset, endOffset, this.#line);
    this.#at = end;
    this.#place = 'after_element';
  }

  /** Index behind the element's last byte, or -1 when it goes on behind this block. */
  #findElementEnd(bytes: Buffer): number {
    for (let at = this.#at; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      if (this.#inText) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) {
          this.#inText = false;
          if (this.#depth === 0) return at + 1;
        }
      } else if (byte === QUOTE) {
        this.#inText = true;
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        this.#depth += 1;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (this.#depth === 0) return at;
        this.#depth -= 1;
        if (this.#depth === 0) return at + 1;
      } else if (this.#depth === 0 && (byte === COMMA || isBlank(bytes, at, at + 1))) {
        return at;
      }
      if (byte <= CR) this.#countLine(byte);
      else this.#afterCr = false;
    }
    return -1;
  }

  /** CR, LF and CRLF each end one line. */
  #countLine(byte: number): void {
    if (byte === CR || (byte === LF && !this.#afterCr)) this.#line += 1;
    this.#afterCr = byte === CR;
  }

  #content(bytes: Buffer, end: number): RowContent {
    const { line } = this.#log;
    const sizeBytes = this.#window.offset + end - this.#elementOffset;
    if (sizeBytes > this.#maxRecordBytes) return tooLarge(line, sizeBytes, this.#maxRecordBytes);
    const text = bytes.toString('utf8', this.#start, end);
    const nul = text.includes('\0') ? bytes.indexOf(0, this.#start) - this.#start : -1;
    if (nul >= 0) return illegalByte(line, { at: nul, byte: 0 });
    const invalid = findInvalidUtf8(bytes, this.#start, end, text);
    return invalid ? illegalByte(line, invalid) : readJsonRecord(text, line, false);
  }

  #failInvalid(): void {
    const line = this.#line;
    const message =
      this.#place === 'array_end'
        ? `On line ${line}, text follows the end of the JSON array. A JSON file must be one array of records and nothing else.`
        : `On line ${line}, a comma, brace or bracket stands where a record must begin or end. Check the record before it.`;
    this.failure = new FileRejectedError('INVALID_ARRAY', message, line);
  }

  #failTruncated(): void {
    const inElement = this.#place === 'in_element';
    const line = inElement ? this.#log.line : this.#line;
    const what = inElement
      ? `inside the record that begins on line ${line}: one of its quotes, braces or brackets is never closed`
      : `on line ${line}, before the closing bracket of the array`;
    this.failure = new FileRejectedError('TRUNCATED_ARRAY', `The file ends ${what}. Submit the complete file.`, line);
  }
}
