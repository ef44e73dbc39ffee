import type { SourceObject } from '../model.ts';

export interface ObjectInfo {
  etag: string;
  sizeBytes: number;
}

/** What is known of an object without reading it. */
export interface ObjectDescription extends ObjectInfo {
  /** Equal for equal bytes; absent where the store has none. */
  checksum?: string;
}

export interface ObjectWriter {
  write(chunk: Uint8Array): Promise<void>;
  /** Completes the object: it appears only now, whole. */
  close(): Promise<ObjectInfo>;
  /** Gives up: nothing appears. */
  abort(): Promise<void>;
}

export interface ObjectStore {
  head(key: string): Promise<ObjectDescription | undefined>;
  /**
   * Streams from `fromByte` to the end. Throws ObjectMissingError, ObjectChangedError when the ETag differs, and
   * ShortReadError from the iteration when fewer bytes come than announced.
   */
  read(source: Pick<SourceObject, 'key' | 'etag' | 'sizeBytes'>, fromByte: number): Promise<AsyncIterable<Uint8Array>>;
  /** Whole small objects only (manifests): at most `maxBytes`. */
  getSmall(key: string, maxBytes: number): Promise<Uint8Array | undefined>;
  put(key: string, body: Uint8Array, contentType: string): Promise<ObjectInfo>;
  /** Writes an object once: what stands under the key already stays, and is what the answer describes. */
  create(key: string, body: Uint8Array, contentType: string): Promise<ObjectInfo>;
  /**
   * Writes an object of any size. With `once`, what stands under the key already stays, and is what `close` describes: for objects that
   * have the same bytes whoever writes them.
   */
  writer(key: string, contentType: string, options?: { once?: boolean }): ObjectWriter;
}
