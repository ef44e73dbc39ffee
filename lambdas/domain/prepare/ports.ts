import type { FileFormat } from '../files/reader.ts';
import type { SourceObject } from '../model.ts';
import type { UnknownCode } from '../versions.ts';
import type { Wrapping } from './detect.ts';

export const PREPARED_KINDS = ['gzip', 'zip', 'xlsx', 'text'] as const;
export type PreparedKind = (typeof PREPARED_KINDS)[number];

/** What a prepared source was made from: shown to customers. */
export interface PreparedFrom {
  kind: PreparedKind | UnknownCode;
  /** Name of the file in the archive. */
  member?: string;
  /** Name of the sheet. */
  sheet?: string;
  /** Character set of the text where it is not UTF-8. */
  charset?: string;
}

export interface ConversionRequest {
  source: SourceObject;
  wrapping: Wrapping;
  /** The character set that the customer named, as `charsetOf` answers it. */
  charset?: string | undefined;
  /** The sheet that the customer named. */
  sheet?: string | undefined;
  maxBytes: number;
}

/** A source on its way to CSV, NDJSON or JSON in UTF-8. */
export interface Conversion {
  from: PreparedFrom;
  /** Format that the kind of the file, or the name of the member, says. */
  format?: FileFormat;
  /** The text. May be read once. The iteration throws what {@link Converter.convert} throws. */
  blocks: AsyncIterable<Uint8Array>;
}

export interface Converter {
  /**
   * Begins to unpack and decode a source, the same bytes every time. Throws {@link UnreadableSourceError} for what cannot be prepared, and
   * what {@link ObjectStore.read} throws.
   */
  convert(request: ConversionRequest): Promise<Conversion>;
}
