import { UnverifiedInputError } from '../errors.ts';
import { finishedOffsets, outcomeAt, reasonAt } from '../ledger/ledger.ts';
import { isTerminal, offsetOf, recordNoAt, type LedgerChunk, type RecordRow, type Submission } from '../model.ts';
import type { LedgerMarks } from '../ledger/ports.ts';
import type { ReasonCode } from '../reasons.ts';
import { stoppedRow } from '../ledger/stopped-row.ts';

/** What the ledger says of a chunk, held against its rows. */
export interface Recount {
  /** Rows with an outcome, by offset in the chunk. */
  finished: ReadonlyMap<number, RecordRow>;
  /** Offsets without an outcome. */
  open: readonly number[];
  /** Offsets whose failure or cancellation in the ledger no row confirms. */
  wrong: readonly number[];
  /** Offsets past the end of the chunk that the ledger has outcomes for: no record is there, so this can only be a defect. */
  beyond: readonly number[];
  /** Outcomes that the ledger lacks; undefined when it lacks none. */
  missing: LedgerMarks | undefined;
}

/**
 * Compares the ledger item of a chunk of `size` records with the rows, which are the truth; of a record that was stopped before anybody
 * finished it, the ledger is. Throws {@link UnverifiedInputError} where the
 * ledger has a success that no row confirms: nothing takes a success back, so rows were deleted, or it is a defect.
 */
export function recount(
  submission: Submission,
  rows: readonly RecordRow[],
  ledger: LedgerChunk,
  size: number,
): Recount {
  const stored = new Map(rows.map((row) => [offsetOf(row.recordNo), row]));
  const finished = new Map<number, RecordRow>();
  for (let offset = 0; offset < size; offset++) {
    const row = stored.get(offset);
    const end = row !== undefined && isTerminal(row.state) ? row : stoppedRow(submission, ledger, offset, row);
    if (end !== undefined) finished.set(offset, end);
  }
  const wrong: number[] = [];
  const marks = new Marks();
  const told = finishedOffsets(ledger);
  for (const offset of told) {
    if (offset < size && !agrees(ledger, offset, finished.get(offset))) wrong.push(offset);
  }
  for (const [offset, row] of finished) if (!agrees(ledger, offset, row)) marks.add(offset, row);
  const open = Array.from({ length: size }, (_, offset) => offset).filter((offset) => !finished.has(offset));
  return { finished, open, wrong, beyond: told.filter((offset) => offset >= size), missing: marks.taken };
}

function agrees(ledger: LedgerChunk, offset: number, row: RecordRow | undefined): boolean {
  const outcome = outcomeAt(ledger, offset);
  if (outcome === 'succeeded' && row?.state !== 'succeeded') {
    throw new UnverifiedInputError(
      `The ledger counts record ${recordNoAt(ledger.chunk, offset)} as succeeded, but its row says ${row?.state ?? 'nothing'}: ` +
        'restore the row from a backup; if it was never written, look for what wrote the ledger before it.',
    );
  }
  if (row === undefined) return false;
  if (row.state === 'succeeded' || row.state === 'cancelled') return outcome === row.state;
  return outcome === 'failed' && reasonAt(ledger, offset) === failureReason(row);
}

/** The reason that a row counts under. */
export const failureReason = (row: RecordRow): ReasonCode => row.reason ?? 'internal_error';

class Marks {
  readonly #succeeded: number[] = [];
  readonly #cancelled: number[] = [];
  readonly #failed = new Map<ReasonCode, number[]>();

  add(offset: number, row: RecordRow): void {
    if (row.state === 'succeeded') this.#succeeded.push(offset);
    else if (row.state === 'cancelled') this.#cancelled.push(offset);
    else this.#failed.set(failureReason(row), [...(this.#failed.get(failureReason(row)) ?? []), offset]);
  }

  get taken(): LedgerMarks | undefined {
    const any = this.#succeeded.length + this.#cancelled.length + this.#failed.size > 0;
    return any ? { succeeded: this.#succeeded, cancelled: this.#cancelled, failed: this.#failed } : undefined;
  }
}
