import pLimit from 'p-limit';
import { DependencyUnavailableError } from '../errors.ts';
import { type RecordRow, type Submission, offsetOf } from '../model.ts';
import { type RecordMessage, encodeBody } from '../queues/messages.ts';
import { reportUnsent } from '../queues/not-sent.ts';
import type { QueueSender } from '../queues/ports.ts';
import type { Pace, RedriveDeps, RedriveSettings, ReportBuilder } from './run.ts';
import { isHalfReopened, type Selection } from './select.ts';
import { type RebuiltRecord, messageAgain, rebuildMessages } from '../source/source.ts';
import { MAX_QUEUE_DELAY_MS } from '../time.ts';

/*
 * The order of a replay, and what a crash behind each step costs:
 *   1. the submission is reopened with a higher generation and the chunk is taken out of the closed ones: nothing else is
 *      changed, so the reconciler closes it again and the results are written once more;
 *   2. rows are reopened: the ledger still calls them failed; the finalizer finds the open rows and corrects it, or a repeated
 *      redrive takes them up;
 *   3. their offsets leave the ledger's failure sets: they are pending without a message, which the reconciler notices;
 *   4. the submission is looked at once more: a worker that had seen the chunk full before step 3 may have closed it, and the
 *      finalizer may have read the rows before step 2. It is reopened with a generation of its own then: the results that this
 *      finalizer may still be writing are of another version than those of the replay;
 *   5. messages are sent, once steps 1 to 4 are done for every chunk of the submission that is replayed.
 * Messages and workers of the older generation change nothing from step 2 on: a row of a higher generation stands above them.
 */

const PARALLEL_WRITES = 25;

/** A submission that is replayed. Its generation rises when others raise it. */
export interface Target {
  submission: Submission;
  generation: number;
}

/** Records of one chunk that a redrive has reopened, and the generation that it gave them: in a higher one they are another's. */
export interface Reopened {
  recordNos: readonly number[];
  generation: number;
}

/**
 * Reopens records of one chunk. A record whose input cannot be read any more is left as it is.
 *
 * @throws DependencyUnavailableError, ShortReadError: what was reopened is sent by the reconciler, or by the next redrive.
 */
export async function reopenChunk(
  deps: RedriveDeps,
  target: Target,
  chunk: number,
  { rows, stored }: Selection,
  { report, pace }: { report: ReportBuilder; pace: Pace },
): Promise<Reopened> {
  const { submission } = target;
  const { submissionId } = submission;
  const recordNos = rows.map(({ recordNo }) => recordNo);
  const inputs = await rebuildMessages(deps, submission, chunk, recordNos);
  const readable = rows.filter((row) => isReadable(inputs.get(row.recordNo), row));
  report.skipped('source_gone', rows.length - readable.length);
  if (readable.length === 0) return { recordNos: [], generation: target.generation };

  await reopenSubmission(deps, target, chunk);
  const { generation } = target;
  const waits = new Map(readable.map((row) => [row, pace.next()]));
  const open = await pLimit(PARALLEL_WRITES).map(readable, async (row) =>
    (await reopenRow(deps, row, stored.get(row.recordNo), generation, waits.get(row) ?? 0)) ? [row] : [],
  );
  const taken = open.flat();
  if (taken.length === 0) return { recordNos: [], generation };
  await deps.ledger.reopen(
    submissionId,
    chunk,
    taken.map(({ recordNo }) => offsetOf(recordNo)),
  );
  await keepOpen(deps, target, chunk);
  for (const row of taken) report.replayed(row.reason ?? 'internal_error', row);
  return { recordNos: taken.map(({ recordNo }) => recordNo), generation };
}

/**
 * Sends the records of one chunk that were reopened, each when its row says; answers the numbers of those that the lane took. What
 * somebody else has sent, or reopened, meanwhile is left to it.
 */
export async function sendReopened(
  deps: RedriveDeps,
  { submission }: Target,
  chunk: number,
  { recordNos, generation }: Reopened,
  { report }: { report: ReportBuilder },
): Promise<number[]> {
  if (recordNos.length === 0) return [];
  const { submissionId, lane = 'bulk' } = submission;
  const [rows, inputs] = await Promise.all([
    deps.records.getMany(recordNos.map((recordNo) => ({ submissionId, recordNo }))),
    rebuildMessages(deps, submission, chunk, recordNos),
  ]);
  const messages = rows
    .filter((row) => isHalfReopened(row) && row.generation === generation)
    .toSorted((a, b) => a.recordNo - b.recordNo)
    .flatMap((row) => messageAgain(submission, row, inputs.get(row.recordNo)));
  if (messages.length === 0) return [];
  const nowMs = deps.clock.now();
  const unsent = await sendDelayed(deps, deps.lanes[lane], messages, ({ notBeforeMs = 0 }) =>
    Math.max(0, notBeforeMs - nowMs),
  );
  report.report.unsent += unsent.size;
  return messages.flatMap(({ recordNo }, index) => (unsent.has(index) ? [] : recordNo));
}

/** Tries of a reopening that others may overtake. */
const MAX_ROUNDS = 5;

/** Takes the chunk out of the closed ones. A redrive that runs at the same time may have raised the generation: then above that one. */
async function reopenSubmission(
  { submissions, settings, clock }: RedriveDeps,
  target: Target,
  chunk: number,
): Promise<void> {
  const { submissionId } = target.submission;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const nowMs = clock.now();
    const deadlineAtMs = deadlineOf(settings, target.submission, nowMs);
    const { generation } = target;
    const stored = await submissions.reopen(submissionId, { chunks: [chunk], generation, nowMs, deadlineAtMs });
    if (stored.generation <= generation) return;
    target.generation = stored.generation;
  }
  throw new DependencyUnavailableError(`${submissionId} was reopened by others ${MAX_ROUNDS} times meanwhile.`);
}

/** Half of the margin is left for the end: what expires while it is open would vanish without an outcome. */
function deadlineOf(settings: RedriveSettings, { expiresAtSeconds }: Submission, nowMs: number): number {
  return Math.min(nowMs + settings.deadlineMs, expiresAtSeconds * 1000 - settings.expiryMarginMs / 2);
}

/** Opens the submission again where it was closed on the strength of what the ledger said before. */
async function keepOpen(deps: RedriveDeps, target: Target, chunk: number): Promise<void> {
  const now = await deps.submissions.get(target.submission.submissionId);
  const isWorking = now?.state === 'processing' || now?.state === 'cancelling';
  if (now === undefined || (isWorking && !now.closedChunks.has(chunk))) return;
  target.generation = Math.max(target.generation, now.generation) + 1;
  await reopenSubmission(deps, target, chunk);
}

/** A record that was read as one before must be readable as one now; a row that was malformed stays malformed. */
function isReadable(input: RebuiltRecord | undefined, { reason }: RecordRow): boolean {
  if (input === undefined) return false;
  return (
    input.content.kind !== 'defect' ||
    ['malformed_row', 'record_too_large', 'duplicate_record_id'].includes(reason ?? '')
  );
}

/**
 * True when the row is of the new generation now; false when another one stands above it, or somebody else has just written it: then the
 * record is theirs to send, and where they die before that it is found like any that a redrive has left half reopened. The row announces the `waitMs` of its
 * message, lest the reconciler take a slow replay for a lost one.
 */
async function reopenRow(
  { records, clock }: RedriveDeps,
  row: RecordRow,
  stored: RecordRow | undefined,
  generation: number,
  waitMs: number,
): Promise<boolean> {
  // A redrive that began at the same time has reopened it since this one read the submission.
  if (isHalfReopened(row) && row.generation >= generation) return false;
  const { detail: _detail, waitingOn: _on, waitingUntilMs: _until, isolatedReceives, resends: _resends, ...kept } = row;
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
    // A record that crashed its workers runs alone again, but has to be proven anew.
    ...((isolatedReceives !== undefined || row.reason === 'worker_crashed') && { isolatedReceives: 0 }),
    ...(waitMs > 0 && { waitingUntilMs: nowMs + waitMs }),
  };
  const { applied } = await records.put(reopened, stored, { ifUnchanged: true });
  return applied;
}

/** Sends messages, each to become visible after its wait in milliseconds; answers the indexes of those that were not taken. */
export async function sendDelayed(
  { clock, telemetry }: Pick<RedriveDeps, 'clock' | 'telemetry'>,
  queue: QueueSender,
  messages: readonly RecordMessage[],
  waitOf: (message: RecordMessage) => number,
): Promise<ReadonlySet<number>> {
  const outgoing = messages.map((message) => {
    const waitMs = waitOf(message);
    const untilMs = Math.max(Math.ceil(clock.now() + waitMs), message.notBeforeMs ?? 0);
    const hops = waitMs > MAX_QUEUE_DELAY_MS ? { notBeforeMs: untilMs } : {};
    const delayMs = Math.min(waitMs, MAX_QUEUE_DELAY_MS);
    return { body: encodeBody({ ...message, ...hops }), group: message.tenantId, delayMs };
  });
  const failures = await queue.send(outgoing);
  reportUnsent(telemetry, failures);
  const first = messages[0];
  if (first) {
    const { submissionId, tenantId, lane, generation } = first;
    const count = messages.length - failures.length;
    telemetry.emit({ name: 'redriven', level: 'info', submissionId, tenantId, lane, generation, count });
  }
  return new Set(failures.map(({ index }) => index));
}
