/** Bytes of a malformed row that the results quote at most. */
export const EXCERPT_BYTES = 500;

/** Bytes kept of what the reader has not answered yet: an excerpt, and blank lines before it. */
const KEPT_BYTES = 16 * 1024;

interface Segment {
  offset: number;
  bytes: Uint8Array;
}

/** Watches the bytes of a source on their way to the reader, to quote rows that could not be read. Holds one block at a time. */
export class RawExcerpts {
  #kept: Segment = { offset: 0, bytes: new Uint8Array() };
  #block: Segment = { offset: 0, bytes: new Uint8Array() };
  /** Everything before it has been answered by the reader. */
  #answeredTo = 0;

  /** The same blocks; the first one begins at `fromByte` of the file. */
  async *watch(blocks: AsyncIterable<Uint8Array>, fromByte: number): AsyncGenerator<Uint8Array, void, undefined> {
    this.#kept = { offset: fromByte, bytes: new Uint8Array() };
    this.#answeredTo = fromByte;
    let offset = fromByte;
    for await (const bytes of blocks) {
      this.#kept = this.#unanswered();
      this.#block = { offset, bytes };
      yield bytes;
      offset += bytes.byteLength;
    }
  }

  /** The reader has answered everything before byte `offset`. */
  answered(offset: number): void {
    this.#answeredTo = Math.max(this.#answeredTo, offset);
  }

  /**
   * The beginning of the bytes `[start, end)` as text, without the line end. Shortened ones end in `…`. Undefined when these
   * bytes have gone by.
   */
  quote(start: number, end: number): string | undefined {
    const wanted = Math.min(end, start + EXCERPT_BYTES);
    const bytes = this.#bytes(start, wanted);
    if (bytes.byteLength === 0) return undefined;
    const isWhole = start + bytes.byteLength >= end;
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: !isWhole });
    return isWhole ? text.replace(/[\r\n]+$/, '') : `${text}…`;
  }

  #unanswered(): Segment {
    const offset = Math.max(this.#answeredTo, this.#kept.offset);
    const end = offset + KEPT_BYTES;
    // A copy: a block may be a window into a buffer that is used again.
    return { offset, bytes: this.#bytes(offset, end) };
  }

  #bytes(start: number, end: number): Uint8Array {
    const kept = part(this.#kept, start, end);
    const next = start + kept.byteLength;
    // Of a long record only the beginning is kept: the block then lies further on.
    return this.#block.offset <= next ? Buffer.concat([kept, part(this.#block, next, end)]) : kept;
  }
}

function part({ offset, bytes }: Segment, start: number, end: number): Uint8Array {
  return bytes.subarray(Math.max(start - offset, 0), Math.max(end - offset, 0));
}
