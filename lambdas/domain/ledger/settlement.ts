import { closeFullChunks, type CompletionDeps } from '../submissions/completion.ts';
import { groupBy, mapBounded } from '../concurrency.ts';
import { chunkOf, isTerminal, offsetOf, type LedgerChunk, type RecordRow } from '../model.ts';
import type { LedgerMarks, LedgerStore } from './ports.ts';
import type { RecordStore } from '../records/ports.ts';
import type { ReasonCode } from '../reasons.ts';

export interface SettleDeps extends CompletionDeps {
  records: RecordStore;
  ledger: LedgerStore;
}

/**
 * What became of writing one row. `settled`: the row is stored, or another stands above it (`stored` is what stands), and the
 * ledger agrees. `unavailable`: something could not be written; all of it has to be repeated, and may be.
 */
export type Settlement =
  | { row: RecordRow; outcome: 'settled'; stored: RecordRow; applied: boolean }
  | { row: RecordRow; outcome: { unavailable: unknown } };

const PARALLEL_WRITES = 25;

/**
 * Writes rows, then marks the ledger with the outcomes *as stored*, one update per chunk, then closes the chunks that became
 * full. A failing write makes only its own records `unavailable`. One settlement per row, in their order. Never throws.
 *
 * @param seen - By row, the stored one that it was made from, where there was one.
 */
export async function settle(
  deps: SettleDeps,
  rows: readonly RecordRow[],
  seen: ReadonlyMap<RecordRow, RecordRow> = new Map(),
): Promise<Settlement[]> {
  const written = await mapBounded(rows, PARALLEL_WRITES, async (row) => writeRow(deps, row, seen.get(row)));
  const stored = written.flatMap((settlement) => (settlement.outcome === 'settled' ? [settlement.stored] : []));
  const failures = await accountFor(deps, stored);
  return written.map((settlement) => {
    if (settlement.outcome !== 'settled' || !failures.has(settlement.stored)) return settlement;
    return { row: settlement.row, outcome: { unavailable: failures.get(settlement.stored) } };
  });
}

/**
 * Marks the ledger for stored rows that are terminal and closes the chunks that became full. Safe to repeat: whoever meets a
 * finished record again does so, because the one who finished it may have crashed in between. Never throws.
 *
 * @returns the errors by row, for those that could not be accounted for.
 */
export async function accountFor(deps: SettleDeps, stored: readonly RecordRow[]): Promise<Map<RecordRow, unknown>> {
  const finished = stored.filter((row) => isTerminal(row.state));
  const failures = new Map<RecordRow, unknown>();
  const submissions = groupBy(finished, (row) => row.submissionId);
  await mapBounded(submissions, PARALLEL_WRITES, async (rows) => {
    const chunks: LedgerChunk[] = [];
    const marked: RecordRow[] = [];
    await mapBounded(
      groupBy(rows, (row) => String(chunkOf(row.recordNo))),
      PARALLEL_WRITES,
      async (chunkRows) => {
        try {
          chunks.push(await markChunk(deps, chunkRows));
          marked.push(...chunkRows);
        } catch (error) {
          for (const row of chunkRows) failures.set(row, error);
        }
      },
    );
    try {
      const submissionId = rows[0]?.submissionId;
      if (submissionId !== undefined) await closeFullChunks(deps, submissionId, chunks);
    } catch (error) {
      for (const row of marked) failures.set(row, error);
    }
  });
  return failures;
}

async function writeRow({ records }: SettleDeps, row: RecordRow, seen: RecordRow | undefined): Promise<Settlement> {
  try {
    return { row, outcome: 'settled', ...(await records.put(row, seen)) };
  } catch (error) {
    return { row, outcome: { unavailable: error } };
  }
}

async function markChunk({ ledger }: SettleDeps, rows: readonly RecordRow[]): Promise<LedgerChunk> {
  const [first] = rows;
  if (first === undefined) throw new RangeError('A chunk to mark has no rows.');
  const expiresAtSeconds = Math.max(...rows.map((row) => row.expiresAtSeconds));
  return ledger.mark(first.submissionId, chunkOf(first.recordNo), marksOf(rows), expiresAtSeconds);
}

function marksOf(rows: readonly RecordRow[]): LedgerMarks {
  const succeeded: number[] = [];
  const cancelled: number[] = [];
  const failed = new Map<ReasonCode, number[]>();
  for (const { state, reason, recordNo } of rows) {
    const offset = offsetOf(recordNo);
    if (state === 'succeeded') succeeded.push(offset);
    else if (state === 'cancelled') cancelled.push(offset);
    else {
      // A failed row without a reason would be a defect of ours; it must count as failed all the same.
      const counted = reason ?? 'internal_error';
      failed.set(counted, [...(failed.get(counted) ?? []), offset]);
    }
  }
  return { succeeded, cancelled, failed };
}
