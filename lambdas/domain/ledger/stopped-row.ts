import { isTerminal, recordNoAt, type LedgerChunk, type RecordRow, type Submission } from '../model.ts';
import { outcomeAt, reasonAt } from './ledger.ts';

const CANCELLED = { state: 'cancelled', reason: 'cancelled' } as const;
const EXPIRED = { state: 'failed', reason: 'deadline_passed' } as const;

/**
 * The outcome of a record that only the ledger has, because its submission was stopped before a worker finished it: as a row.
 *
 * @param row - The stored row, where there is one. A terminal one decides by itself.
 * @returns undefined when the ledger says nothing of the kind, or a replay has opened the row again and ended before it told the ledger.
 */
export function stoppedRow(
  submission: Submission,
  ledger: LedgerChunk | undefined,
  offset: number,
  row: RecordRow | undefined,
): RecordRow | undefined {
  if (ledger === undefined || (row !== undefined && isTerminal(row.state))) return undefined;
  if (row?.reason === 'redriven' && submission.stop === undefined) return undefined;
  const outcome = outcomeAt(ledger, offset);
  const isExpired = outcome === 'failed' && reasonAt(ledger, offset) === 'deadline_passed';
  if (outcome !== 'cancelled' && !isExpired) return undefined;
  const { submissionId, createdAtMs, updatedAtMs, expiresAtSeconds, stop } = submission;
  const {
    waitingOn: _on,
    waitingUntilMs: _until,
    detail: _detail,
    ...known
  } = row ?? {
    submissionId,
    recordNo: recordNoAt(ledger.chunk, offset),
    attempts: 0,
    generation: 0,
    redrives: 0,
    answers: {},
    firstEnqueuedAtMs: createdAtMs,
    updatedAtMs: stop?.atMs ?? updatedAtMs,
    expiresAtSeconds,
  };
  return { ...known, ...(isExpired ? EXPIRED : CANCELLED) };
}
