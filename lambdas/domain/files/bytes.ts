import { isUtf8 } from 'node:buffer';

const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

/** True for space, tab, line ends, vertical tab and form feed: what may stand on a line that counts as blank. */
const isBlankByte = (byte: number): boolean => byte === SPACE || (byte >= TAB && byte <= CR);

/** True when `[start, end)` holds white space only. */
export function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    if (!isBlankByte(bytes[at] ?? 0)) return false;
  }
  return true;
}

/**
 * Index behind the line end at `at`, which is a CR or an LF; -1 when a CR is the last byte known and a LF might follow.
 */
export function lineEndFrom(bytes: Uint8Array, at: number, complete: boolean): number {
  if (bytes[at] === LF) return at + 1;
  if (at + 1 < bytes.length) return bytes[at + 1] === LF ? at + 2 : at + 1;
  return complete ? at + 1 : -1;
}

/** Where the text of a row is not text: index of the byte in the row, and the byte. */
export interface IllegalByte {
  at: number;
  byte: number;
}

/**
 * First NUL in `[start, end)`, or else the first byte that is no UTF-8. `text` is what Node decoded from it: a replacement
 * character marks such a byte, unless the file itself has one there (EF BF BD).
 */
export function findIllegalByte(bytes: Buffer, start: number, end: number, text: string): IllegalByte | undefined {
  if (text.includes('\0')) return { at: bytes.indexOf(0, start) - start, byte: 0 };
  if (!text.includes('\uFFFD') || isUtf8(bytes.subarray(start, end))) return undefined;
  let at = start;
  let from = 0;
  for (;;) {
    const mark = text.indexOf('\uFFFD', from);
    at += Buffer.byteLength(text.slice(from, mark));
    const genuine = bytes[at] === 0xef && bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd;
    if (!genuine) return { at: at - start, byte: bytes[at] ?? 0 };
    at += 3;
    from = mark + 1;
  }
}

/** The next position of one byte value, remembered so that a block is searched once and not once per row. */
export class ByteFinder {
  readonly #value: number;
  #bytes: Buffer = Buffer.alloc(0);
  #found = -1;

  constructor(value: number) {
    this.#value = value;
  }

  reset(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#found = -1;
  }

  /** Index of the first such byte at or behind `from`; the length where there is none. `from` must not go back. */
  next(from: number): number {
    if (this.#found >= from) return this.#found;
    const index = this.#bytes.indexOf(this.#value, from);
    this.#found = index === -1 ? this.#bytes.length : index;
    return this.#found;
  }
}

/** The part of the file that is in memory: what was not consumed yet, and the newest block. */
export class ByteWindow {
  #store: Buffer = Buffer.allocUnsafe(0);
  #filled = 0;
  /** The bytes in memory. */
  bytes: Buffer = this.#store;
  /** Offset in the file of the first of them. */
  offset: number;

  constructor(offset: number) {
    this.offset = offset;
  }

  /** Drops the first `consumed` bytes and adds a copy of `block`. Indices into {@link bytes} move by `consumed`. */
  advance(consumed: number, block: Uint8Array): void {
    const kept = this.#filled - consumed;
    const needed = kept + block.length;
    if (needed > this.#store.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#store.length * 2));
      this.#store.copy(larger, 0, consumed, this.#filled);
      this.#store = larger;
    } else if (consumed > 0) {
      this.#store.copyWithin(0, consumed, this.#filled);
    }
    this.#store.set(block, kept);
    this.#filled = needed;
    this.offset += consumed;
    this.bytes = this.#store.subarray(0, needed);
  }
}
