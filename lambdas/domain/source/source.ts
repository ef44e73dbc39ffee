import type { CsvDialect, ReadItem, ReaderPosition } from '../files/reader.ts';
import { MESSAGE_VERSION, type RecordContent, type RecordMessage } from '../queues/messages.ts';
import { CHUNK_RECORDS, chunkOf, textOf, type RecordRow, type Submission } from '../model.ts';
import type { LedgerStore } from '../ledger/ports.ts';
import type { ObjectStore } from './ports.ts';
import { createMapper } from '../profiles/mapping.ts';
import { fittingContentOf } from '../records/content.ts';
import { duplicateFilterAt, withoutDuplicates } from './duplicates.ts';
import { endWithDefect, openSource, readSource, type SourceItem, type SourceOf, type Watch } from './source-reader.ts';
import { UnverifiedInputError } from '../errors.ts';
import type { OnChunk } from './chunk-checksums.ts';
import { UnreadableSourceError } from './unreadable-source.ts';

export type { SourceItem, SourceOf };

/** The CSV dialect that fan-out went by; undefined for other formats and for a source that cannot be opened. */
export async function dialectOf(deps: { objects: ObjectStore }, submission: SourceOf): Promise<CsvDialect | undefined> {
  if (textOf(submission).format !== 'csv') return undefined;
  if (submission.fanOut.dialect) return submission.fanOut.dialect;
  try {
    return (await openSource(deps, submission)).dialect;
  } catch (error) {
    if (error instanceof UnreadableSourceError) return undefined;
    throw error;
  }
}

/** Position of the last noted chunk start at or before `chunk`. */
async function startBefore(
  deps: { ledger: LedgerStore },
  submissionId: string,
  chunk: number,
): Promise<ReaderPosition | undefined> {
  for (let at = chunk; at >= 0; at--) {
    const start = (await deps.ledger.get(submissionId, at))?.start;
    if (start) return { byteOffset: start.byteOffset, line: start.line, recordNo: at * CHUNK_RECORDS };
  }
  return undefined;
}

async function* readFromChunk(
  deps: { objects: ObjectStore; ledger: LedgerStore },
  submission: SourceOf,
  chunk: number,
  lastChunk: number,
  watch: Watch | undefined,
): AsyncGenerator<ReadItem[], void, undefined> {
  const noted = await startBefore(deps, submission.submissionId, chunk);
  const { dialect } = submission.fanOut;
  const opened =
    noted && (dialect || textOf(submission).format !== 'csv') ? undefined : await openSource(deps, submission);
  const from = noted ?? opened?.start ?? { byteOffset: 0, recordNo: 0, line: 1 };
  const ended: [chunk: number, crc: number | undefined][] = [];
  const onChunk: OnChunk = (...found) => void ended.push(found);
  const verify = async (): Promise<void> => {
    for (const [number, crc] of ended.splice(0)) {
      if (number >= chunk && number <= lastChunk) await verifyChunk(deps, submission, number, crc);
    }
  };
  const options = { watch, dialect: dialect ?? opened?.dialect, onChunk };
  for await (const items of readSource(deps, submission, from, options)) {
    await verify();
    const wanted = items.filter((item) => item.recordNo > chunk * CHUNK_RECORDS);
    if (wanted.length > 0) yield wanted;
  }
  await verify();
}

/** The same; but a file that fan-out has read, and that is gone or another one now, says nothing about its records. */
async function* readSentChunks(
  ...given: Parameters<typeof readFromChunk>
): AsyncGenerator<ReadItem[], void, undefined> {
  try {
    yield* readFromChunk(...given);
  } catch (error) {
    const [{ ledger }, { submissionId, source }, chunk] = given;
    const isLost = error instanceof UnreadableSourceError && LOST.has(error.code);
    if (!isLost || (await ledger.get(submissionId, chunk))?.start?.crc === undefined) throw error;
    throw new UnverifiedInputError(
      `Chunk ${chunk} of ${submissionId} cannot be read again from ${source.key} (${error.code}): restore the object.`,
    );
  }
}

const LOST: ReadonlySet<string> = new Set(['FILE_MISSING', 'FILE_CHANGED']);

/** Holds what was read against what fan-out noted. Throws {@link UnverifiedInputError}. */
async function verifyChunk(
  { ledger }: { ledger: LedgerStore },
  { submissionId, source }: SourceOf,
  chunk: number,
  crc: number | undefined,
): Promise<void> {
  const noted = (await ledger.get(submissionId, chunk))?.start?.crc;
  if (noted === undefined || crc === undefined || noted === crc) return;
  throw new UnverifiedInputError(
    `Chunk ${chunk} of ${submissionId} is not what fan-out read from ${source.key}: its CRC-32 is ${crc}, and ${noted} was noted. ` +
      'Restore the object, or the version of the reader that fanned it out.',
  );
}

/**
 * Reads again what fan-out has sent, from the first record of `chunk` (0-based) on. Where the source could not be read to its end, each
 * record up to `through` is a defect that says why. Each chunk is verified before its last record is yielded, a last one that is not full at
 * the end of the file. Throws UnverifiedInputError, ShortReadError and DependencyUnavailableError.
 */
export function recordsFromChunk(
  deps: { objects: ObjectStore; ledger: LedgerStore },
  submission: SourceOf,
  chunk: number,
  through: number,
  watch?: Watch,
): AsyncGenerator<readonly SourceItem[], void, undefined> {
  const from = { byteOffset: 0, recordNo: chunk * CHUNK_RECORDS, line: 1 };
  return endWithDefect(readSentChunks(deps, submission, chunk, chunkOf(through), watch), from, () => through);
}

export interface RebuiltRecord {
  content: RecordContent;
  line: number;
}

/**
 * Rebuilds what the messages of some records of one chunk carried, by record number. A number beyond the end of the file is absent from
 * the answer. Reads and verifies one chunk, behind the start that the ledger notes. Throws UnverifiedInputError, ShortReadError and
 * DependencyUnavailableError.
 */
export async function rebuildMessages(
  deps: { objects: ObjectStore; ledger: LedgerStore },
  submission: SourceOf,
  chunk: number,
  recordNos: readonly number[],
): Promise<Map<number, RebuiltRecord>> {
  const rebuilt = new Map<number, RebuiltRecord>();
  const wanted = new Set(recordNos);
  const last = Math.max(...recordNos);
  if (wanted.size === 0) return rebuilt;
  const { mapping } = submission.terms;
  const dialect = mapping && (await dialectOf(deps, submission));
  const header = dialect?.header;
  const filter = await duplicateFilterAt(deps, submission, chunk * CHUNK_RECORDS + 1, dialect);
  const options = { mapper: mapping && createMapper(mapping), header };
  for await (const items of withoutDuplicates(recordsFromChunk(deps, submission, chunk, last), filter)) {
    for (const item of items) {
      if (wanted.has(item.recordNo))
        rebuilt.set(item.recordNo, { content: fittingContentOf(item, options), line: item.line });
    }
    if ((items.at(-1)?.recordNo ?? 0) >= (chunk + 1) * CHUNK_RECORDS) break;
  }
  return rebuilt;
}

/** The message that brings the record of a stored row back, for its next attempt; none where the file has no such record. */
export function messageAgain(
  submission: Submission,
  row: RecordRow,
  rebuilt: RebuiltRecord | undefined,
): RecordMessage[] {
  if (rebuilt === undefined) return [];
  const { submissionId, tenantId, lane = 'bulk', expiresAtSeconds } = submission;
  const { recordNo, generation, redrives, firstEnqueuedAtMs, attempts, waitingUntilMs } = row;
  return [
    {
      v: MESSAGE_VERSION,
      submissionId,
      tenantId,
      lane,
      recordNo,
      line: rebuilt.line,
      attempt: attempts + 1,
      generation,
      redrives,
      firstEnqueuedAtMs,
      expiresAtSeconds,
      // What the row announces the message must know of: by that it is told from copies that were left behind.
      ...(waitingUntilMs !== undefined && { notBeforeMs: Math.ceil(waitingUntilMs) }),
      content: rebuilt.content,
    },
  ];
}
