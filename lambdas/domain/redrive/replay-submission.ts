import { chunkOf, recordNoAt, type LedgerChunk, type RecordRow, type Submission } from '../model.ts';
import { reopenChunk, sendReopened, type Reopened, type Target } from './replay.ts';
import type { RedriveRequest } from './request.ts';
import type { Run } from './run.ts';
import { selectInChunk, type SkipCounter } from './select.ts';

/** What of a submission is to be replayed. */
export interface Wanted {
  request: RedriveRequest;
  firstRecordNo: number;
  /** Records at most. */
  max: number;
  only?: (row: RecordRow) => boolean;
  skips: SkipCounter;
}

export interface Replayed {
  /** Records that were selected; in a dry run nothing was done about them. */
  selected: number;
  /** Numbers of the records whose messages were sent. */
  sent: ReadonlySet<number>;
  /** The record at which to go on, where time or `max` did not suffice. */
  nextRecordNo?: number;
}

/**
 * Replays records of one submission: reopens all of them before it sends the first. Sent one by one, the last of those that are open
 * would end the submission, write its results and call its customer back, again and again. Reopening may take half of the time that is
 * left: what is reopened is to be sent as well, also when the reopening then fails.
 *
 * @throws DependencyUnavailableError, ShortReadError: what was reopened and not sent is sent by the reconciler.
 */
export async function replaySubmission(
  run: Run,
  { submission, ledger }: { submission: Submission; ledger: readonly LedgerChunk[] },
  wanted: Wanted,
): Promise<Replayed> {
  // One generation for all of its chunks; a redrive that is continued later takes another one.
  const target = { submission, generation: submission.generation + 1 };
  const reopened = new Map<number, Reopened>();
  let ended: Awaited<ReturnType<typeof reopenAll>>;
  try {
    ended = await reopenAll(run, target, ledger, wanted, reopened);
  } catch (error) {
    await sendAll(run, target, reopened);
    throw error;
  }
  const sent = await sendAll(run, target, reopened);
  return { ...ended, sent };
}

/** Adds what it reopened to `reopened`, by chunk. */
async function reopenAll(
  run: Run,
  target: Target,
  ledger: readonly LedgerChunk[],
  { request, firstRecordNo, max, only = () => true, skips }: Wanted,
  reopened: Map<number, Reopened>,
): Promise<{ selected: number; nextRecordNo?: number }> {
  const { deps, report } = run;
  const isHalfOver = halfOfTime(run);
  let selected = 0;
  for (const chunk of ledger) {
    if (chunk.chunk < chunkOf(firstRecordNo)) continue;
    if (isHalfOver() || selected >= max)
      return { selected, nextRecordNo: Math.max(firstRecordNo, recordNoAt(chunk.chunk, 0)) };
    const selection = { firstRecordNo, max: max - selected, only, skips };
    const found = await selectInChunk(deps, target.submission, chunk, request, selection);
    const { rows, nextRecordNo } = found;
    selected += rows.length;
    if (request.dryRun) for (const row of rows) report.replayed(row.reason ?? 'internal_error', row);
    else if (rows.length > 0) reopened.set(chunk.chunk, await reopenChunk(deps, target, chunk.chunk, found, run));
    if (nextRecordNo !== undefined) return { selected, nextRecordNo };
  }
  return { selected };
}

function halfOfTime({ budget, deps }: Run): () => boolean {
  const { reserveMs } = deps.settings;
  const untilMs = reserveMs + (budget.remainingMs() - reserveMs) / 2;
  return () => budget.remainingMs() < untilMs;
}

async function sendAll(run: Run, target: Target, reopened: ReadonlyMap<number, Reopened>): Promise<Set<number>> {
  const { deps, budget, report } = run;
  const sent = new Set<number>();
  for (const [chunk, records] of reopened) {
    if (budget.remainingMs() < deps.settings.reserveMs / 2) report.report.unsent += records.recordNos.length;
    else for (const recordNo of await sendReopened(deps, target, chunk, records, run)) sent.add(recordNo);
  }
  return sent;
}
