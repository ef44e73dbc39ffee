import { DependencyUnavailableError } from '../errors.ts';
import { chunkSize, openOffsets } from '../ledger/ledger.ts';
import { accountFor, settle } from '../ledger/settlement.ts';
import { type LedgerChunk, type RecordRow, type Submission, isTerminal, recordNoAt } from '../model.ts';
import type { ReconcileDeps } from './deps.ts';
import type { RecordStore } from '../records/ports.ts';
import { isProvenCrash } from '../worker/isolation.ts';

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

/** What became of the open records of a chunk: those that are settled, and those that are still open. */
export interface Sorted {
  settled: number;
  stillOpen: OpenRecord[];
}

/**
 * Settles what needs no worker: rows that have an outcome which the ledger lacks (their worker died between the two), records that
 * killed their worker alone until their message was given up.
 *
 * @throws DependencyUnavailableError when something could not be written; the next run repeats it.
 */
export async function settleDecided(
  deps: ReconcileDeps,
  submission: Submission,
  open: readonly OpenRecord[],
): Promise<Sorted> {
  const nowMs = deps.clock.now();
  const unaccounted = open.flatMap(({ row }) => (row && isTerminal(row.state) ? [row] : []));
  const failures = await accountFor(deps, unaccounted);
  throwFirst(failures.values());
  if (unaccounted.length > 0) {
    const { submissionId, tenantId } = submission;
    deps.telemetry.emit({ name: 'ledger_repaired', level: 'warn', submissionId, tenantId, count: unaccounted.length });
  }

  const outcomes = new Outcomes(submission);
  const stillOpen: OpenRecord[] = [];
  for (const record of open) {
    const { row } = record;
    if (row && isTerminal(row.state)) continue;
    if (isCrashed(row, nowMs, deps.settings.visibilityMs)) outcomes.add(record, crashed(nowMs));
    else stillOpen.push(record);
  }
  await settleAll(deps, submission, outcomes);
  return { settled: unaccounted.length + outcomes.rows.length, stillOpen };
}

/** Rows that end records, and what each was made from. */
class Outcomes {
  readonly rows: RecordRow[] = [];
  readonly seen = new Map<RecordRow, RecordRow>();
  readonly #submission: Submission;

  constructor(submission: Submission) {
    this.#submission = submission;
  }

  add({ recordNo, row }: OpenRecord, end: Parameters<typeof rowFor>[3]): void {
    const ended = rowFor(this.#submission, recordNo, row, end);
    this.rows.push(ended);
    if (row !== undefined) this.seen.set(ended, row);
  }
}

/** Gives records up that were begun alone, and whose message was repeated often enough without their ever being heard of again. */
export async function giveUp(
  deps: ReconcileDeps,
  submission: Submission,
  records: readonly OpenRecord[],
): Promise<void> {
  const nowMs = deps.clock.now();
  const outcomes = new Outcomes(submission);
  for (const record of records) outcomes.add(record, crashed(nowMs));
  await settleAll(deps, submission, outcomes);
}

const isCrashed = (row: RecordRow | undefined, nowMs: number, visibilityMs: number): boolean =>
  row !== undefined && isProvenCrash(row) && nowMs - row.updatedAtMs > visibilityMs;

const crashed = (updatedAtMs: number) =>
  ({ state: 'dead_lettered', reason: 'worker_crashed', updatedAtMs }) as const satisfies Partial<RecordRow>;

async function settleAll(deps: ReconcileDeps, { tenantId, lane }: Submission, { rows, seen }: Outcomes): Promise<void> {
  const settlements = await settle(deps, rows, seen);
  for (const settlement of settlements) {
    if (settlement.outcome !== 'settled' || !settlement.applied) continue;
    const { submissionId, recordNo, attempts, generation, state, reason } = settlement.stored;
    deps.telemetry.emit({
      name: 'record_finished',
      level: reason === 'worker_crashed' ? 'error' : 'info',
      submissionId,
      tenantId,
      ...(lane && { lane }),
      recordNo,
      attempt: attempts,
      generation,
      outcome: state,
      ...(reason && { reason }),
    });
  }
  throwFirst(settlements.flatMap(({ outcome }) => (outcome === 'settled' ? [] : [outcome.unavailable])));
}

function throwFirst(causes: Iterable<unknown>): void {
  for (const cause of causes) {
    throw new DependencyUnavailableError('An outcome could not be written; the next run repeats it.', { cause });
  }
}

/** A row for a record of which no message tells: from the row that is stored, or from nothing but its number. */
export function rowFor(
  { submissionId, generation, createdAtMs, expiresAtSeconds }: Submission,
  recordNo: number,
  stored: RecordRow | undefined,
  change: Pick<RecordRow, 'state' | 'updatedAtMs'> & Partial<Pick<RecordRow, 'reason' | 'detail' | 'resends'>>,
): RecordRow {
  const {
    waitingOn: _on,
    waitingUntilMs: _until,
    isolatedReceives,
    detail: _detail,
    ...known
  } = stored ?? {
    attempts: 0,
    generation,
    redrives: 0,
    answers: {},
    firstEnqueuedAtMs: createdAtMs,
  };
  // A record that crashed a worker stays isolated until it was processed.
  const isIsolated = isolatedReceives !== undefined && !isTerminal(change.state);
  return { submissionId, recordNo, expiresAtSeconds, ...known, ...(isIsolated && { isolatedReceives }), ...change };
}
