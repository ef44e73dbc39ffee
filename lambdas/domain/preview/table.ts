import {
  FileRejectedError,
  HEAD_BYTES,
  openFile,
  readRecords,
  type CsvDialect,
  type ReadItem,
} from '../files/reader.ts';
import { EXAMINED_RECORDS } from '../fan-out/early-stop.ts';
import { requiredColumns } from '../profiles/mapping.ts';
import type { ResolvedProfile } from '../profiles/profile.ts';
import { READER_VERSION } from '../submissions/terms.ts';
import type { Sample } from './sample.ts';

/** The first records of a file, as one profile reads them. */
export interface Table {
  dialect: CsvDialect | undefined;
  items: readonly ReadItem[];
  /** Whether they are all of the file. */
  ended: boolean;
  /** Bytes of the text that they were read from. */
  bytes: number;
  /** Why reading ended before the file did. */
  problem?: FileRejectedError;
}

export interface ReadTableOptions {
  profile: Pick<ResolvedProfile, 'reading' | 'mapping' | 'results'>;
  maxRecordBytes: number;
  /** Columns that a CSV file must have; those of the profile where they are not given. */
  columns?: readonly string[];
}

/** Reads the first records, at most {@link EXAMINED_RECORDS}. Throws {@link FileRejectedError} for a file that cannot be opened. */
export async function readTable(
  sample: Sample,
  { profile, maxRecordBytes, columns }: ReadTableOptions,
): Promise<Table> {
  const { bytes, complete, format, from } = sample;
  const isSheet = from?.kind === 'xlsx';
  const { delimiter: _delimiter, quote: _quote, escape: _escape, ...rest } = profile.reading;
  const reading = isSheet ? { ...rest, delimiter: ',', escape: '"' as const } : profile.reading;
  const shared = { readerVersion: READER_VERSION, countRows: isSheet, reading };
  const { start, dialect } = openFile(bytes.subarray(0, HEAD_BYTES), format, {
    ...shared,
    fileBytes: complete ? bytes.byteLength : Infinity,
    columns: columns ?? requiredColumns(profile.mapping),
  });
  const guarded = profile.results?.guard !== false;
  const options = { ...shared, maxRecordBytes, guarded, ...(dialect && { dialect }) };
  const items: ReadItem[] = [];
  let problem: FileRejectedError | undefined;
  let ended = true;
  try {
    for await (const batch of readRecords(once(bytes.subarray(start.byteOffset)), format, start, options)) {
      items.push(...batch);
      if (items.length <= EXAMINED_RECORDS) continue;
      ended = false;
      break;
    }
  } catch (error) {
    if (!(error instanceof FileRejectedError)) throw error;
    // The end of what was cut is not the end of the file.
    if (complete) problem = error;
  }
  // The last record of what was cut may be half of one.
  if (!complete && ended) items.pop();
  const first = items.slice(0, EXAMINED_RECORDS);
  return {
    dialect,
    items: first,
    ended: complete && ended && first.length === items.length,
    bytes: first.at(-1)?.endByteOffset ?? bytes.byteLength,
    ...(problem && { problem }),
  };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.byteLength > 0) yield bytes;
}

/** The columns of a table: of CSV by its header, of JSON the keys of its records. */
export function columnsOf({ dialect, items }: Table): string[] {
  if (dialect) return dialect.header;
  return [...new Set(items.flatMap((item) => (item.kind === 'record' ? Object.keys(item.fields) : [])))];
}
