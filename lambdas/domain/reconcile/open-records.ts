import { chunkSize, emptyChunk, openOffsets } from '../ledger/ledger.ts';
import { chunkCount, CHUNK_RECORDS, recordNoAt, type LedgerChunk, type RecordRow, type Submission } from '../model.ts';
import type { RecordStore } from '../records/ports.ts';

/** A record without an outcome in the ledger, and what is stored about it. */
export interface OpenRecord {
  recordNo: number;
  row: RecordRow | undefined;
}

/** Open records of one chunk. */
export interface OpenChunk {
  ledger: LedgerChunk;
  records: OpenRecord[];
}

/** An item for every chunk of the file: where no worker has written one yet, an empty one. Fan-out must have ended. */
export function allChunks({ fanOut: { records } }: Submission, ledger: readonly LedgerChunk[]): LedgerChunk[] {
  const stored = new Map(ledger.map((chunk) => [chunk.chunk, chunk]));
  return Array.from({ length: chunkCount(records) }, (_, chunk) => {
    const size = Math.min(CHUNK_RECORDS, records - chunk * CHUNK_RECORDS);
    return { ...(stored.get(chunk) ?? emptyChunk(chunk)), size };
  });
}

/** Reads the rows of open records, chunk by chunk, until about `limit` records are found. */
export async function* openRecords(
  { records }: { records: RecordStore },
  { submissionId }: Submission,
  chunks: readonly LedgerChunk[],
  limit: number,
): AsyncGenerator<OpenChunk, void, undefined> {
  let found = 0;
  for (const ledger of chunks) {
    if (found >= limit) return;
    const recordNos = openOffsets(ledger, chunkSize(ledger)).map((offset) => recordNoAt(ledger.chunk, offset));
    if (recordNos.length === 0) continue;
    found += recordNos.length;
    const rows = await records.getMany(recordNos.map((recordNo) => ({ submissionId, recordNo })));
    const byNumber = new Map(rows.map((row) => [row.recordNo, row]));
    yield { ledger, records: recordNos.map((recordNo) => ({ recordNo, row: byNumber.get(recordNo) })) };
  }
}
