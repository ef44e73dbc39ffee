import pLimit from 'p-limit';
import { DependencyUnavailableError } from '../errors.ts';
import {
  chunkCount,
  chunkOf,
  isTerminal,
  offsetOf,
  type LedgerChunk,
  type RecordRow,
  type Submission,
} from '../model.ts';
import { encodeBody, MESSAGE_VERSION, type FinalizeMessage } from '../queues/messages.ts';
import { notSent } from '../queues/not-sent.ts';
import type { OutgoingMessage, QueueSender } from '../queues/ports.ts';
import type { ReasonCode } from '../reasons.ts';
import type { RecordStore } from '../records/ports.ts';
import type { SubmissionStore } from '../submissions/ports.ts';
import { isDraining } from '../submissions/stop.ts';
import type { Telemetry } from '../telemetry.ts';
import type { Clock } from '../time.ts';
import { isComplete, isFull } from './ledger.ts';
import type { LedgerMarks, LedgerStore } from './ports.ts';

/** What closing chunks and starting finalization needs. */
export interface CompletionDeps {
  submissions: SubmissionStore;
  finalizeQueue: QueueSender;
  telemetry: Telemetry;
  clock: Clock;
}

export interface SettleDeps extends CompletionDeps {
  records: RecordStore;
  ledger: LedgerStore;
}

/**
 * The result of writing one row. `settled`: the row is stored, or another one prevails (`stored` is the one that does), and the
 * ledger agrees. `unavailable`: a write failed, and all of them must be repeated; repeating is safe.
 */
export type Settlement =
  | { row: RecordRow; outcome: 'settled'; stored: RecordRow; applied: boolean }
  | { row: RecordRow; outcome: { unavailable: unknown } };

const PARALLEL_WRITES = 25;

/** Whether the invocation has time for another write, see WRITE_RESERVE_MS. */
export type HasTime = () => boolean;

const always: HasTime = () => true;

/** A write that starts too late could be cut off half way: its records are returned instead. */
function requireTime(hasTime: HasTime, what: string): void {
  if (!hasTime()) throw new DependencyUnavailableError(`No time was left for ${what}: the table answers slowly.`);
}

/**
 * Writes rows, then marks the ledger with the outcomes *as stored*, one update per chunk, then closes the chunks that became
 * full. A failing write makes only its own records `unavailable`. One settlement per row, in their order. Never throws.
 *
 * @param seen - By row, the stored one that it was made from, where there was one.
 * @param hasTime - Asked before every write; without time for it, its records are `unavailable`.
 */
export async function settle(
  deps: SettleDeps,
  rows: readonly RecordRow[],
  seen: ReadonlyMap<RecordRow, RecordRow> = new Map(),
  hasTime = always,
): Promise<Settlement[]> {
  const written = await pLimit(PARALLEL_WRITES).map(rows, async (row) => writeRow(deps, row, seen.get(row), hasTime));
  const stored = written.flatMap((settlement) => (settlement.outcome === 'settled' ? [settlement.stored] : []));
  const failures = await accountFor(deps, stored, hasTime);
  return written.map((settlement) => {
    if (settlement.outcome !== 'settled' || !failures.has(settlement.stored)) return settlement;
    return { row: settlement.row, outcome: { unavailable: failures.get(settlement.stored) } };
  });
}

/**
 * Marks the ledger for stored rows that are terminal and closes the chunks that became full. Safe to repeat: it is called again for
 * every finished record that is met, since the worker that finished it may have crashed in between. Never throws.
 *
 * @returns the errors by row, for those that are not marked.
 */
export async function accountFor(
  deps: SettleDeps,
  stored: readonly RecordRow[],
  hasTime = always,
): Promise<Map<RecordRow, unknown>> {
  const finished = stored.filter((row) => isTerminal(row.state));
  const failures = new Map<RecordRow, unknown>();
  const limit = pLimit(PARALLEL_WRITES);
  await Promise.all(
    [...Map.groupBy(finished, (row) => row.submissionId)].map(async ([submissionId, rows]) => {
      const chunks: LedgerChunk[] = [];
      const marked: RecordRow[] = [];
      const byChunk = Map.groupBy(rows, (row) => chunkOf(row.recordNo));
      await limit.map(byChunk, async ([chunk, chunkRows]) => {
        try {
          requireTime(hasTime, 'the ledger');
          chunks.push(await markChunk(deps, submissionId, chunk, chunkRows));
          marked.push(...chunkRows);
        } catch (error) {
          for (const row of chunkRows) failures.set(row, error);
        }
      });
      try {
        if (chunks.some(isFull)) requireTime(hasTime, 'closing a chunk');
        await closeFullChunks(deps, submissionId, chunks);
      } catch (error) {
        for (const row of marked) failures.set(row, error);
      }
    }),
  );
  return failures;
}

async function writeRow(
  { records }: SettleDeps,
  row: RecordRow,
  seen: RecordRow | undefined,
  hasTime: HasTime,
): Promise<Settlement> {
  try {
    requireTime(hasTime, 'the row');
    return { row, outcome: 'settled', ...(await records.put(row, seen)) };
  } catch (error) {
    return { row, outcome: { unavailable: error } };
  }
}

async function markChunk(
  { ledger }: SettleDeps,
  submissionId: string,
  chunk: number,
  rows: readonly RecordRow[],
): Promise<LedgerChunk> {
  const expiresAtSeconds = Math.max(...rows.map((row) => row.expiresAtSeconds));
  return ledger.mark(submissionId, chunk, marksOf(rows), expiresAtSeconds);
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
      // A failed row without a reason is a defect of ours; it must be counted all the same.
      const counted = reason ?? 'internal_error';
      failed.set(counted, [...(failed.get(counted) ?? []), offset]);
    }
  }
  return { succeeded, cancelled, failed };
}

/**
 * Closes the chunks among `chunks` that are full, and starts finalization when those were the last of the submission. Whoever
 * updates a ledger item calls this with what the update returned, so that nobody polls for the end.
 */
export async function closeFullChunks(
  deps: CompletionDeps,
  submissionId: string,
  chunks: readonly LedgerChunk[],
): Promise<void> {
  const full = chunks.filter(isFull).map(({ chunk }) => chunk);
  if (full.length === 0) return;
  const submission = await deps.submissions.closeChunks(submissionId, full, deps.clock.now());
  await finalizeIfComplete(deps, submission);
}

/**
 * Starts finalization when fan-out has ended, every chunk is closed and a stop order has drained. Exactly one caller per generation sends
 * the message.
 */
export async function finalizeIfComplete(deps: CompletionDeps, submission: Submission): Promise<void> {
  if (!isComplete(submission) || isDraining(submission, deps.clock.now())) return;
  const { submissionId, tenantId, fanOut } = submission;
  const won = await deps.submissions.beginFinalizing(submissionId, chunkCount(fanOut.records), deps.clock.now());
  if (!won) return;
  deps.telemetry.emit({ name: 'submission_finalizing', level: 'info', submissionId, tenantId });
  await requestResults(deps, submission);
}

/** Sends the message that makes the finalizer start or continue. The reconciler repeats it when it was lost. */
export async function requestResults(
  deps: Pick<CompletionDeps, 'finalizeQueue'>,
  { submissionId, tenantId }: Pick<Submission, 'submissionId' | 'tenantId'>,
  attributes: OutgoingMessage['attributes'] = {},
): Promise<void> {
  const message: FinalizeMessage = { v: MESSAGE_VERSION, kind: 'results', submissionId, tenantId };
  const [failure] = await deps.finalizeQueue.send([{ body: encodeBody(message), group: tenantId, attributes }]);
  if (failure) {
    throw notSent(`The finalize message of ${submissionId} was`, failure);
  }
}
