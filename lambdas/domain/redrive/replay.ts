import { mapBounded } from '../concurrency.ts';
import { encodeBody, type RecordMessage } from '../messages.ts';
import { offsetOf, type RecordRow, type Submission } from '../model.ts';
import type { QueueSender, SubmissionStore } from '../ports.ts';
import { messageAgain, rebuildMessages, type RebuiltRecord } from '../source.ts';
import { MAX_QUEUE_DELAY_MS } from '../time.ts';
import type { RedriveDeps } from './deps.ts';
import type { ReportBuilder } from './report.ts';
import { isHalfReopened } from './select.ts';
import type { Pace } from './pace.ts';

/*
 * The order of a replay, and what a crash behind each step costs:
 *   1. the submission is reopened with a higher generation and the chunk is taken out of the closed ones: nothing else is
 *      changed, so the reconciler closes it again and the results are written once more;
 *   2. rows are reopened: the ledger still calls them failed; the finalizer finds the open rows and corrects it, or a repeated
 *      redrive takes them up;
 *   3. their offsets leave the ledger's failure sets: they are pending without a message, which the reconciler notices;
 *   4. the submission is looked at once more: a worker that had seen the chunk full before step 3 may have closed it, and the
 *      finalizer may have read the rows before step 2;
 *   5. messages are sent.
 * Messages and workers of the older generation change nothing from step 2 on: a row of a higher generation stands above them.
 */

const PARALLEL_WRITES = 25;

/**
 * Replays records of one chunk under a new `generation`, and answers how many. A record whose input cannot be read any more is left as it is.
 *
 * @throws DependencyUnavailableError, ShortReadError: what was reopened is sent by the reconciler, or by the next redrive.
 */
export async function replayChunk(
  deps: RedriveDeps,
  { submission, generation }: { submission: Submission; generation: number },
  chunk: number,
  rows: readonly RecordRow[],
  { report, pace }: { report: ReportBuilder; pace: Pace },
): Promise<number> {
  const inputs = await rebuildMessages(
    deps,
    submission,
    chunk,
    rows.map(({ recordNo }) => recordNo),
    deps.limits,
  );
  const readable = rows.filter((row) => isReadable(inputs.get(row.recordNo), row));
  report.skipped('source_gone', rows.length - readable.length);
  if (readable.length === 0) return 0;

  const nowMs = deps.clock.now();
  const { submissionId } = submission;
  const deadlineAtMs = deadlineOf(deps, submission, nowMs);
  const opening = { chunks: [chunk], generation, nowMs, deadlineAtMs };
  const reopened = await deps.submissions.reopen(submissionId, opening);
  const waits = new Map(readable.map(({ recordNo }) => [recordNo, pace.next()]));
  const waitOf = ({ recordNo }: { recordNo: number }): number => waits.get(recordNo) ?? 0;
  const open = await mapBounded(readable, PARALLEL_WRITES, async (row) =>
    reopenRow(deps, row, reopened.generation, waitOf(row)),
  );
  const taken = open.filter((row) => row !== undefined);
  if (taken.length === 0) return 0;
  await deps.ledger.reopen(
    submissionId,
    chunk,
    taken.map(({ recordNo }) => offsetOf(recordNo)),
  );
  await keepOpen(deps, submissionId, opening);
  for (const row of readable) {
    if (taken.some(({ recordNo }) => recordNo === row.recordNo)) report.replayed(row.reason ?? 'internal_error', row);
  }
  const messages = taken.flatMap((row) => messageAgain(submission, row, inputs.get(row.recordNo)));
  report.report.unsent += await sendDelayed(deps, deps.lanes[submission.lane ?? 'bulk'], messages, waitOf);
  return taken.length;
}

/** Half of the margin is left for the end: what expires while it is open would vanish without an outcome. */
function deadlineOf({ settings }: RedriveDeps, { expiresAtSeconds }: Submission, nowMs: number): number {
  return Math.min(nowMs + settings.deadlineMs, expiresAtSeconds * 1000 - settings.expiryMarginMs / 2);
}

/** Opens the submission again where it was closed on the strength of what the ledger said before. */
async function keepOpen(
  { submissions }: RedriveDeps,
  submissionId: string,
  opening: Parameters<SubmissionStore['reopen']>[1],
): Promise<void> {
  const now = await submissions.get(submissionId);
  const isWorking = now?.state === 'processing' || now?.state === 'cancelling';
  if (now === undefined || (isWorking && !opening.chunks.some((chunk) => now.closedChunks.has(chunk)))) return;
  await submissions.reopen(submissionId, opening);
}

/** A record that was read as one before must be readable as one now; a row that was malformed stays malformed. */
function isReadable(input: RebuiltRecord | undefined, { reason }: RecordRow): boolean {
  if (input === undefined) return false;
  return input.content.kind === 'record' || reason === 'malformed_row' || reason === 'record_too_large';
}

/**
 * The row of the new generation as stored, or undefined when another one stands above it. It announces the `waitMs` of its
 * message, lest the reconciler take a slow replay for a lost one.
 */
async function reopenRow(
  { records, clock }: RedriveDeps,
  row: RecordRow,
  generation: number,
  waitMs: number,
): Promise<RecordRow | undefined> {
  if (isHalfReopened(row) && row.generation >= generation) return row;
  const {
    detail: _detail,
    waitingOn: _on,
    waitingUntilMs: _until,
    aloneReceives: _alone,
    resends: _resends,
    ...kept
  } = row;
  const nowMs = clock.now();
  const reopened: RecordRow = {
    ...kept,
    state: 'retrying',
    reason: 'redriven',
    generation,
    redrives: isHalfReopened(row) ? row.redrives : row.redrives + 1,
    attempts: 0,
    firstEnqueuedAtMs: nowMs,
    updatedAtMs: nowMs,
    ...(waitMs > 0 && { waitingUntilMs: nowMs + waitMs }),
  };
  const { applied, stored } = await records.put(reopened, row);
  return applied ? stored : undefined;
}

/** Sends messages, each to become visible after its wait in milliseconds; answers how many were not taken. */
export async function sendDelayed(
  { clock, telemetry }: RedriveDeps,
  queue: QueueSender,
  messages: readonly RecordMessage[],
  waitOf: (message: RecordMessage) => number,
): Promise<number> {
  const outgoing = messages.map((message) => {
    const waitMs = waitOf(message);
    const untilMs = Math.max(Math.ceil(clock.now() + waitMs), message.notBeforeMs ?? 0);
    const hops = waitMs > MAX_QUEUE_DELAY_MS ? { notBeforeMs: untilMs } : {};
    const delayMs = Math.min(waitMs, MAX_QUEUE_DELAY_MS);
    return { body: encodeBody({ ...message, ...hops }), group: message.tenantId, delayMs };
  });
  const failures = await queue.send(outgoing);
  const first = messages[0];
  if (first) {
    const { submissionId, tenantId, lane, generation } = first;
    const count = messages.length - failures.length;
    telemetry.emit({ name: 'redriven', level: 'info', submissionId, tenantId, lane, generation, count });
  }
  return failures.length;
}
