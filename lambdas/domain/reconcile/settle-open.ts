import { DependencyUnavailableError } from '../errors.ts';
import { isTerminal, type RecordRow, type StopOrder, type Submission } from '../model.ts';
import { accountFor, settle } from '../ledger/settlement.ts';
import { isProvenCrash } from '../worker/suspects.ts';
import type { ReconcileDeps } from './deps.ts';
import type { OpenRecord } from './open-records.ts';
import { rowFor } from './rows.ts';

/** What became of the open records of a chunk: those that are settled, and those that are still open. */
export interface Sorted {
  settled: number;
  stillOpen: OpenRecord[];
}

/**
 * Settles what needs no worker: rows that have an outcome which the ledger lacks (their worker died between the two), records that
 * killed their worker alone until their message was given up, and after a stop order everything that is left.
 *
 * @throws DependencyUnavailableError when something could not be written; the next run repeats it.
 */
export async function settleWhatIsOver(
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

  const isStopped = submission.stop !== undefined && nowMs - submission.stop.atMs >= deps.settings.stoppedMs;
  const ends = new Ends(submission);
  const stillOpen: OpenRecord[] = [];
  for (const record of open) {
    const { row } = record;
    if (row && isTerminal(row.state)) continue;
    if (isCrashed(row, nowMs, deps.settings.visibilityMs)) ends.add(record, crashed(nowMs));
    else if (isStopped && submission.stop) ends.add(record, stopped(submission.stop, nowMs));
    else stillOpen.push(record);
  }
  await settleAll(deps, submission, ends);
  return { settled: unaccounted.length + ends.rows.length, stillOpen };
}

/** Rows that end records, and what each was made from. */
class Ends {
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
  const ends = new Ends(submission);
  for (const record of records) ends.add(record, crashed(nowMs));
  await settleAll(deps, submission, ends);
}

const isCrashed = (row: RecordRow | undefined, nowMs: number, visibilityMs: number): boolean =>
  row !== undefined && isProvenCrash(row) && nowMs - row.updatedAtMs > visibilityMs;

const crashed = (updatedAtMs: number) =>
  ({ state: 'dead_lettered', reason: 'worker_crashed', updatedAtMs }) as const satisfies Partial<RecordRow>;

const stopped = ({ kind }: StopOrder, updatedAtMs: number) =>
  kind === 'cancelled'
    ? ({ state: 'cancelled', reason: 'cancelled', updatedAtMs } as const)
    : ({ state: 'failed', reason: 'deadline_passed', updatedAtMs } as const);

async function settleAll(deps: ReconcileDeps, { tenantId, lane }: Submission, { rows, seen }: Ends): Promise<void> {
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
