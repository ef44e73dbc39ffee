import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  CR,
  isBlank,
  LF,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './bytes.ts';

/** Counts physical lines byte by byte: CR, LF and CRLF each end one. */
export class LineCounter {
  line: number;
  afterCr = false;

  constructor(line: number) {
    this.line = line;
  }

  see(byte: number): void {
    if (byte === CR || (byte === LF && !this.afterCr)) this.line += 1;
    this.afterCr = byte === CR;
  }
}

/** What ends a number or a word that stands in the array itself. */
const endsScalar = (bytes: Buffer, at: number): boolean =>
  bytes[at] === COMMA || bytes[at] === CLOSE_BRACKET || bytes[at] === CLOSE_BRACE || isBlank(bytes, at, at + 1);

/**
 * Finds where an element of a JSON array ends, across blocks: brackets and braces are counted outside texts only, and
 * nothing else of JSON's grammar is looked at.
 */
export class ElementLexer {
  readonly #lines: LineCounter;
  /** Brackets and braces that are open. */
  #depth = 0;
  #inText = false;
  #escaped = false;
  /** True behind the quote, brace or bracket that closes the element. */
  #closed = false;

  constructor(lines: LineCounter) {
    this.#lines = lines;
  }

  reset(): void {
    this.#depth = 0;
    this.#inText = false;
    this.#escaped = false;
    this.#closed = false;
  }

  /** Goes on at index `from`; answers the index behind the element's last byte, or -1 when it goes on behind `bytes`. */
  findEnd(bytes: Buffer, from: number): number {
    let at = from;
    while (at < bytes.length) {
      if (this.#inText) {
        at = this.#skipText(bytes, at);
      } else {
        if (this.#depth === 0 && endsScalar(bytes, at)) return at;
        this.#take(bytes[at] ?? 0);
        at += 1;
      }
      if (this.#closed) return at;
    }
    return -1;
  }

  #take(byte: number): void {
    if (byte <= CR || this.#lines.afterCr) this.#lines.see(byte);
    if (byte === QUOTE) {
      this.#inText = true;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      this.#depth += 1;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      this.#depth -= 1;
      this.#closed = this.#depth === 0;
    }
  }

  /** Index behind the quote that closes the text, or the length. A raw line end in a text is no JSON, but it ends a line. */
  #skipText(bytes: Buffer, from: number): number {
    let escaped = this.#escaped;
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      if (byte <= CR || this.#lines.afterCr) this.#lines.see(byte);
      if (escaped) {
        escaped = false;
      } else if (byte === BACKSLASH) {
        escaped = true;
      } else if (byte === QUOTE) {
        this.#inText = false;
        this.#escaped = false;
        this.#closed = this.#depth === 0;
        return at + 1;
      }
    }
    this.#escaped = escaped;
    return bytes.length;
  }
}
