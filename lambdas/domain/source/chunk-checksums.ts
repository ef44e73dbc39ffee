import { crc32 } from 'node:zlib';
import type { ReadItem } from '../files/reader.ts';
import { chunkOf, offsetOf } from '../model.ts';

/** What is kept of a record that is longer than this counts into the checksum as it goes by. */
const KEPT_BYTES = 1024 * 1024;

/** @param crc - CRC-32 of the chunk's bytes; undefined where it cannot be known. */
export type OnChunk = (chunk: number, crc: number | undefined) => void;

/**
 * CRC-32 of each chunk's bytes while they are read: from the first byte of its first record to the last byte of its last one. Passes the
 * blocks on to the reader, and must be told of the items of each batch before the next one is read.
 */
export class ChunkChecksums {
  /** Bytes behind the last item, and where they begin. */
  #kept: Buffer = Buffer.alloc(0);
  #keptFrom = 0;
  /** Checksum of the chunk up to `#keptFrom`; undefined where it cannot be known. */
  #crc: number | undefined;
  /** End of the last item. */
  #at = 0;
  #chunk = -1;
  readonly #ended: OnChunk;

  /** @param ended - Called behind every item that ends a chunk, and by `finish` for a last one that is not full. */
  constructor(ended: OnChunk) {
    this.#ended = ended;
  }

  async *watch(blocks: AsyncIterable<Uint8Array>, fromByte: number): AsyncGenerator<Uint8Array, void, undefined> {
    this.#keptFrom = fromByte;
    this.#at = fromByte;
    for await (const block of blocks) {
      // A copy: a block may be a window into a buffer that is used again.
      this.#kept = Buffer.concat([this.#kept, block]);
      yield block;
      if (this.#kept.byteLength > KEPT_BYTES) this.#count(this.#keptFrom + this.#kept.byteLength);
    }
  }

  /** The reader has answered these. */
  add(items: readonly ReadItem[]): void {
    for (const { recordNo, byteOffset, endByteOffset } of items) {
      if (offsetOf(recordNo) === 0) this.#begin(chunkOf(recordNo), byteOffset);
      this.#count(endByteOffset);
      this.#at = endByteOffset;
      if (this.#chunk === chunkOf(recordNo) && offsetOf(recordNo + 1) === 0) this.finish();
    }
  }

  /** The chunk that is under way ends with the last item. */
  finish(): void {
    // What was counted beyond the last item belongs to a record that never ended.
    if (this.#chunk >= 0) this.#ended(this.#chunk, this.#keptFrom === this.#at ? this.#crc : undefined);
    this.#chunk = -1;
    this.#crc = undefined;
  }

  #begin(chunk: number, byteOffset: number): void {
    this.#chunk = chunk;
    if (byteOffset < this.#keptFrom) {
      this.#crc = undefined;
      return;
    }
    this.#drop(byteOffset);
    this.#crc = 0;
  }

  /** Counts the bytes before `end`. Where they were counted already and more, the checksum of the chunk is lost. */
  #count(end: number): void {
    if (end < this.#keptFrom) {
      this.#crc = undefined;
      return;
    }
    const bytes = this.#kept.subarray(0, end - this.#keptFrom);
    if (this.#crc !== undefined) this.#crc = crc32(bytes, this.#crc);
    this.#drop(end);
  }

  #drop(before: number): void {
    this.#kept = this.#kept.subarray(before - this.#keptFrom);
    this.#keptFrom = before;
  }
}
