import {
  FileRejectedError,
  HEAD_BYTES,
  openFile,
  readRecords,
  type CsvDialect,
  type FileFormat,
  type ReadItem,
  type ReadOptions,
  type ReaderPosition,
} from '../../../lambdas/domain/files/reader.ts';
import { READER_VERSION } from '../../../lambdas/domain/submissions/terms.ts';

type Options = Omit<ReadOptions, 'readerVersion'> & { readerVersion?: number };

export interface Reading {
  items: ReadItem[];
  rejection?: FileRejectedError;
  dialect?: CsvDialect;
}

export const utf8 = (text: string): Buffer => Buffer.from(text, 'utf8');

/** A stream of the file from an offset on, cut at the given file offsets. */
export async function* blocksOf(bytes: Uint8Array, from = 0, cuts: readonly number[] = []): AsyncGenerator<Uint8Array> {
  let at = from;
  for (const cut of [...cuts, bytes.length]) {
    if (cut > at && cut <= bytes.length) {
      yield bytes.subarray(at, cut);
      at = cut;
    }
  }
}

/** Offsets that cut `length` bytes into blocks of `size`. */
export const everyNth = (length: number, size: number): number[] =>
  Array.from({ length: Math.floor(length / size) }, (_, index) => (index + 1) * size);

/** Everything a reader answers that starts at `from`; a rejection is part of the answer. */
export async function readFrom(
  bytes: Uint8Array,
  format: FileFormat,
  from: ReaderPosition,
  { readerVersion = READER_VERSION, ...options }: Options,
  cuts: readonly number[] = [],
): Promise<Reading> {
  const items: ReadItem[] = [];
  try {
    for await (const batch of readRecords(blocksOf(bytes, from.byteOffset, cuts), format, from, {
      ...options,
      readerVersion,
    })) {
      items.push(...batch);
    }
  } catch (error) {
    if (error instanceof FileRejectedError) return { items, rejection: error };
    throw error;
  }
  return { items };
}

/** Opens a file as fan-out does, and reads it to its end or its rejection. */
export async function readWhole(
  bytes: Uint8Array,
  format: FileFormat,
  {
    maxRecordBytes = 262_144,
    cuts = [],
    readerVersion = READER_VERSION,
    reading: said,
    columns,
  }: Partial<Options> & { cuts?: readonly number[]; columns?: readonly string[] } = {},
): Promise<Reading> {
  const opening = { reading: said, ...(columns && { columns }) };
  let opened;
  try {
    opened = openFile(bytes.subarray(0, HEAD_BYTES), format, { fileBytes: bytes.length, readerVersion, ...opening });
  } catch (error) {
    if (error instanceof FileRejectedError) return { items: [], rejection: error };
    throw error;
  }
  const { start, dialect } = opened;
  const options = { maxRecordBytes, readerVersion, reading: said, ...(dialect && { dialect }) };
  return { ...(await readFrom(bytes, format, start, options, cuts)), ...(dialect && { dialect }) };
}

/** The fields of what was read as records. */
export const fieldsOf = ({ items }: Reading): Record<string, unknown>[] =>
  items.flatMap((item) => (item.kind === 'record' ? [item.fields] : []));

/** The defects, as number, line and code. */
export const defectsOf = ({ items }: Reading): { recordNo: number; line: number; defect: string }[] =>
  items.flatMap((item) =>
    item.kind === 'defect' ? [{ recordNo: item.recordNo, line: item.line, defect: item.defect }] : [],
  );
