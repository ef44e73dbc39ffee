import type { CsvDialect, ReadItem, ReaderPosition } from '../files/reader.ts';
import { MESSAGE_VERSION, type RecordContent, type RecordMessage } from '../queues/messages.ts';
import { CHUNK_RECORDS, type RecordRow, type Submission } from '../model.ts';
import type { LedgerStore } from '../ledger/ports.ts';
import type { ObjectStore } from './ports.ts';
import { fittingContentOf } from '../records/content.ts';
import { endWithDefect, openSource, readSource, type SourceItem, type SourceOf, type Watch } from './source-reader.ts';
import { UnreadableSourceError } from './unreadable-source.ts';

export type { SourceItem, SourceOf };

/** The CSV dialect that fan-out went by; undefined for other formats and for a source that cannot be opened. */
export async function dialectOf(deps: { objects: ObjectStore }, submission: SourceOf): Promise<CsvDialect | undefined> {
  if (submission.format !== 'csv') return undefined;
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
    if (start) return { ...start, recordNo: at * CHUNK_RECORDS };
  }
  return undefined;
}

async function* readFromChunk(
  deps: { objects: ObjectStore; ledger: LedgerStore },
  submission: SourceOf,
  chunk: number,
  watch: Watch | undefined,
): AsyncGenerator<ReadItem[], void, undefined> {
  const noted = await startBefore(deps, submission.submissionId, chunk);
  const { dialect } = submission.fanOut;
  const opened = noted && (dialect || submission.format !== 'csv') ? undefined : await openSource(deps, submission);
  const from = noted ?? opened?.start ?? { byteOffset: 0, recordNo: 0, line: 1 };
  const options = { watch, dialect: dialect ?? opened?.dialect };
  for await (const items of readSource(deps, submission, from, options)) {
    const wanted = items.filter((item) => item.recordNo > chunk * CHUNK_RECORDS);
    if (wanted.length > 0) yield wanted;
  }
}

/**
 * Reads again what fan-out has sent, from the first record of `chunk` (0-based) on. Where the source cannot be read (any more), each
 * record up to `through` is a defect that says why. Throws ShortReadError and DependencyUnavailableError.
 */
export function recordsFromChunk(
  deps: { objects: ObjectStore; ledger: LedgerStore },
  submission: SourceOf,
  chunk: number,
  through: number,
  watch?: Watch,
): AsyncGenerator<readonly SourceItem[], void, undefined> {
  const from = { byteOffset: 0, recordNo: chunk * CHUNK_RECORDS, line: 1 };
  return endWithDefect(readFromChunk(deps, submission, chunk, watch), from, () => through);
}

export interface RebuiltRecord {
  content: RecordContent;
  line: number;
}

/**
 * Rebuilds what the messages of some records of one chunk carried, by record number.  A number beyond the end of the file is absent from the answer. Reads at most one chunk, behind the start that the ledger notes.
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
  for await (const items of recordsFromChunk(deps, submission, chunk, last)) {
    for (const item of items) {
      if (wanted.has(item.recordNo)) rebuilt.set(item.recordNo, { content: fittingContentOf(item), line: item.line });
    }
    if ((items.at(-1)?.recordNo ?? 0) >= last) break;
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
