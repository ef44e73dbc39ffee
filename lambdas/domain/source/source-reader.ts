import {
  HEAD_BYTES,
  openFile,
  positionAfter,
  readRecords,
  type CsvDialect,
  type DefectItem,
  type OpenedFile,
  type ReadItem,
  type ReaderPosition,
  type RecordItem,
} from '../files/reader.ts';
import { textOf, type Submission } from '../model.ts';
import { NotPreparedError } from '../prepare/not-prepared.ts';
import { wrappingOf } from '../prepare/detect.ts';
import { requiredColumns } from '../profiles/mapping.ts';
import type { Reading } from '../profiles/profile.ts';
import { ChunkChecksums, type OnChunk } from './chunk-checksums.ts';
import type { ObjectStore } from './ports.ts';
import { requireReader } from '../submissions/terms.ts';
import { asUnreadable, UnreadableSourceError } from './unreadable-source.ts';

/** Passes blocks of bytes on to the reader; the first one begins at `fromByte` of the file. */
export type Watch = (blocks: AsyncIterable<Uint8Array>, fromByte: number) => AsyncIterable<Uint8Array>;

export interface ReadSourceOptions {
  dialect?: CsvDialect | undefined;
  watch?: Watch | undefined;
  /** Is called with the CRC-32 of a chunk's bytes before its last item is yielded, and at the end of the file; see {@link ChunkChecksums}. */
  onChunk?: OnChunk | undefined;
}

/** The part of a submission that finds its records. */
export type SourceOf = Pick<Submission, 'submissionId' | 'source' | 'prepared' | 'terms' | 'format' | 'fanOut'>;

/** One record of a source, or what stands in its place. */
export type SourceItem =
  | RecordItem
  | (Omit<DefectItem, 'defect' | 'reason'> & { defect: string; reason: DefectItem['reason'] | 'duplicate_record_id' });

/** Lines that customers see are those of what they sent: rows of a sheet. */
const isSheet = ({ prepared }: SourceOf): boolean => prepared?.from.kind === 'xlsx';

/** What the customer says of the text. That of a sheet is our own, whatever a profile says of delimiters. */
function readingOf(submission: SourceOf): Reading | undefined {
  const { reading } = submission.terms;
  if (reading === undefined || !isSheet(submission)) return reading;
  const { delimiter: _delimiter, quote: _quote, escape: _escape, ...rest } = reading;
  return { ...rest, delimiter: ',', escape: '"' };
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // A range request behind the last byte is an error in S3.
}

/**
 * Looks at the beginning of an accepted source: where its records begin, and its CSV dialect. Throws
 * {@link UnreadableSourceError} when it cannot be read at all, {@link NotPreparedError} when it must be unpacked or decoded before, ShortReadError
 * and DependencyUnavailableError otherwise.
 */
export async function openSource(deps: { objects: ObjectStore }, submission: SourceOf): Promise<OpenedFile> {
  requireReader(submission);
  const { source, format } = textOf(submission);
  try {
    const blocks: Uint8Array[] = [];
    let bytes = 0;
    for await (const block of source.sizeBytes > 0 ? await deps.objects.read(source, 0) : nothing()) {
      blocks.push(block);
      bytes += block.byteLength;
      if (bytes >= HEAD_BYTES) break;
    }
    const head = Buffer.concat(blocks);
    const wrapping = submission.prepared ? undefined : wrappingOf(head, submission.terms.reading?.charset);
    if (wrapping) throw new NotPreparedError(submission.submissionId, wrapping);
    const { readerVersion, mapping } = submission.terms;
    return openFile(head, format, {
      fileBytes: source.sizeBytes,
      countRows: isSheet(submission),
      readerVersion,
      reading: readingOf(submission),
      ...(mapping && { columns: requiredColumns(mapping) }),
    });
  } catch (error) {
    throw asUnreadable(error);
  }
}

/**
 * Reads the records behind `from`, block by block, from the accepted version of the source and under the terms that it was accepted under.
 * A file that has more records than they allow ends in a defect at the next number. Throws {@link UnreadableSourceError}
 * behind the last readable one, ShortReadError and DependencyUnavailableError where a repetition helps.
 */
export async function* readSource(
  deps: { objects: ObjectStore },
  submission: SourceOf,
  from: ReaderPosition,
  options: ReadSourceOptions,
): AsyncGenerator<ReadItem[], void, undefined> {
  const { source, format } = textOf(submission);
  const { maxRecordBytes, maxRecords, readerVersion } = submission.terms;
  const guarded = submission.terms.results?.guard !== false;
  const { dialect, watch, onChunk } = options;
  requireReader(submission);
  const checksums = onChunk && new ChunkChecksums(onChunk);
  try {
    const blocks = from.byteOffset < source.sizeBytes ? await deps.objects.read(source, from.byteOffset) : nothing();
    const counted = checksums ? checksums.watch(blocks, from.byteOffset) : blocks;
    const watched = watch ? watch(counted, from.byteOffset) : counted;
    const countRows = isSheet(submission);
    const reading = readingOf(submission);
    const rules = { ...(dialect && { dialect }), maxRecordBytes, readerVersion, countRows, reading, guarded };
    for await (const items of readRecords(watched, format, from, rules)) {
      const allowed = items.filter((item) => item.recordNo <= maxRecords);
      checksums?.add(allowed);
      if (allowed.length > 0) yield allowed;
      if (allowed.length < items.length) throw tooMany(maxRecords);
    }
    checksums?.finish();
  } catch (error) {
    throw asUnreadable(error);
  }
}

const tooMany = (maxRecords: number): UnreadableSourceError =>
  new UnreadableSourceError(
    'TOO_MANY_RECORDS',
    `The file has more than ${maxRecords} records. Split it and submit the parts; records behind this one were not read.`,
  );

/**
 * The same items; but where the source turns out to be unreadable, its end is a defect that says why, and no error: what was
 * read before has been sent, so the file can no longer be refused as a whole. Where `through` answers a later record number,
 * every record up to that one gets the defect.
 */
export async function* endWithDefect(
  batches: AsyncIterable<readonly SourceItem[]>,
  from: ReaderPosition,
  through: (error: UnreadableSourceError) => number,
): AsyncGenerator<readonly SourceItem[], void, undefined> {
  let end = from;
  try {
    for await (const items of batches) {
      yield items;
      const last = items.at(-1);
      if (last) end = positionAfter(last);
    }
  } catch (error) {
    if (!(error instanceof UnreadableSourceError)) throw error;
    yield* unreadableItems(error, end, through(error));
  }
}

/** The item that stands for the end of an unreadable source, and its repetitions up to record `through`. */
export function* unreadableItems(
  error: UnreadableSourceError,
  from: ReaderPosition,
  through: number,
): Generator<readonly SourceItem[], void, undefined> {
  for (let recordNo = from.recordNo + 1; ; recordNo++) {
    yield [unreadable(error, { ...from, recordNo })];
    if (recordNo >= through) return;
  }
}

const unreadable = (error: UnreadableSourceError, at: ReaderPosition): SourceItem => ({
  kind: 'defect',
  reason: 'malformed_row',
  defect: error.code,
  detail: error.message,
  recordNo: at.recordNo,
  line: error.line ?? at.line,
  byteOffset: at.byteOffset,
  endByteOffset: at.byteOffset,
  endLine: at.line,
});
