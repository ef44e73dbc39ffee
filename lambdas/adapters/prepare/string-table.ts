import { UnreadableSourceError } from '../../domain/source/unreadable-source.ts';

/** Bytes of text, and texts, that a workbook may share between its cells: with their index they stay below 300 MB. */
const MAX_SHARED_BYTES = 192 * 1024 * 1024;
const MAX_STRINGS = 8 * 1024 * 1024;
const PAGE_BYTES = 1024 * 1024;

/** Many texts in little memory: bytes in pages, and two numbers for each text. */
export class StringTable {
  #pages: Buffer[] = [];
  /** Bytes used of the last page. */
  #used = PAGE_BYTES;
  #bytes = 0;
  #count = 0;
  /** Page and offset of each text, and its length in bytes. */
  #starts = new Uint32Array(1024);
  #lengths = new Uint32Array(1024);

  add(text: string): void {
    const length = Buffer.byteLength(text);
    this.#bytes += length;
    if (this.#bytes > MAX_SHARED_BYTES || this.#count >= MAX_STRINGS || length > PAGE_BYTES) {
      throw new UnreadableSourceError(
        'DECOMPRESSED_TOO_LARGE',
        'The workbook has more text than can be unpacked. Split it, or save the sheet as CSV in UTF-8 and submit that.',
      );
    }
    if (this.#used + length > PAGE_BYTES) {
      this.#pages.push(Buffer.allocUnsafe(PAGE_BYTES));
      this.#used = 0;
    }
    if (this.#count === this.#starts.length) this.#grow();
    this.#pages.at(-1)?.write(text, this.#used);
    this.#starts[this.#count] = (this.#pages.length - 1) * PAGE_BYTES + this.#used;
    this.#lengths[this.#count] = length;
    this.#used += length;
    this.#count += 1;
  }

  /** The text with this index, 0-based; undefined when there is none. */
  get(index: number): string | undefined {
    const start = this.#starts[index];
    const length = this.#lengths[index];
    if (index >= this.#count || start === undefined || length === undefined) return undefined;
    const at = start % PAGE_BYTES;
    return this.#pages[Math.floor(start / PAGE_BYTES)]?.toString('utf8', at, at + length);
  }

  #grow(): void {
    const [starts, lengths] = [new Uint32Array(this.#count * 2), new Uint32Array(this.#count * 2)];
    starts.set(this.#starts);
    lengths.set(this.#lengths);
    [this.#starts, this.#lengths] = [starts, lengths];
  }
}
