import { LANES, type Lane, type RecordRow, type Submission, isTerminal } from '../model.ts';
import { type RecordMessage, parseRecordMessage } from '../queues/messages.ts';
import { reportUnsent } from '../queues/not-sent.ts';
import type { Delivery } from '../queues/ports.ts';
import { replaySubmission } from './replay-submission.ts';
import { sendDelayed } from './replay.ts';
import { MAX_REDRIVES } from './request.ts';
import { isOver, type RedriveReport, type Run, type Skip } from './run.ts';
import { rowFits, submissionFits, whyNot } from './select.ts';

const RECEIVE_MAX = 10;
/** An empty answer proves nothing: so many in a row end the drain. */
const EMPTY_RECEIVES = 3;

/**
 * Drains the dead-letter queues of the lanes: what workers gave up, what SQS moved there after crashes, and what cannot be read. A
 * message is deleted only after what it stands for was sent, or when there is nothing left to do for it. What stays can be received
 * again at the end. Where the run stops early it stays hidden for `visibilityMs`, so that the next run begins with what this one has
 * not seen; a dry run hides nothing, so that the next one counts the same.
 */
export async function drainDeadLetters(run: Run): Promise<RedriveReport> {
  for (const lane of lanesOf(run)) await drainLane(run, lane, () => isOver(run), drainOne);
  run.report.report.stoppedEarly = isOver(run);
  return run.report.finish();
}

/** Deletes the dead letters of records that this run has replayed by their rows. Those that it does not reach are left to a drain. */
export async function clearReplayed(run: Run): Promise<void> {
  if (run.drained.size === 0) return;
  const isLate = (): boolean => run.budget.remainingMs() < run.deps.settings.reserveMs / 2;
  const wasReplayed: Handle = async (_run, _lane, delivery) => isDrained(run, delivery, read(delivery.body));
  for (const lane of lanesOf(run)) await drainLane(run, lane, isLate, wasReplayed);
}

/** Answers whether the message may be deleted. */
type Handle = (run: Run, lane: Lane, delivery: Delivery) => Promise<boolean>;

const lanesOf = ({ request }: Run): readonly Lane[] => (request.lane === undefined ? LANES : [request.lane]);

async function drainLane(run: Run, lane: Lane, isEnd: () => boolean, handle: Handle): Promise<void> {
  const { deps } = run;
  const queue = deps.deadLetters[lane];
  const seen = new Set<string>();
  const left: Delivery[] = [];
  for (let empty = 0; empty < EMPTY_RECEIVES && !isEnd();) {
    const max = handle === drainOne ? Math.min(RECEIVE_MAX, run.request.limit - run.examined) : RECEIVE_MAX;
    const deliveries = await queue.receive(max, deps.settings.visibilityMs);
    const fresh = deliveries.filter(({ messageId }) => !seen.has(messageId));
    empty = fresh.length === 0 ? empty + 1 : 0;
    for (const { messageId } of fresh) seen.add(messageId);
    // What was dead-lettered since this run began was perhaps just replayed by it: one run replays nothing twice.
    const [young, old] = [fresh.filter((each) => isYoung(run, each)), fresh.filter((each) => !isYoung(run, each))];
    left.push(...young, ...(await drainBatch(run, lane, old, handle)));
  }
  if (left.length > 0 && (run.request.dryRun || !isEnd())) await queue.release(left);
}

const isYoung = ({ startedAtMs }: Run, { sentAtMs }: Delivery): boolean => sentAtMs > startedAtMs;

/** Deletes what is done, also when the next one fails; answers what is left. */
async function drainBatch(run: Run, lane: Lane, deliveries: readonly Delivery[], handle: Handle): Promise<Delivery[]> {
  const done: Delivery[] = [];
  const left: Delivery[] = [];
  try {
    for (const delivery of deliveries) {
      const isDone = (await handle(run, lane, delivery)) && !run.request.dryRun;
      (isDone ? done : left).push(delivery);
    }
    return left;
  } finally {
    if (done.length > 0) {
      const failed = await run.deps.deadLetters[lane].acknowledge(done);
      run.report.report.deadLettersDeleted += done.length - failed.length;
    }
  }
}

/** True when the message may be deleted. */
async function drainOne(run: Run, lane: Lane, delivery: Delivery): Promise<boolean> {
  const message = read(delivery.body);
  if (isDrained(run, delivery, message)) return true;
  run.examined += 1;
  run.report.looked(lane, delivery, message);
  if (message === undefined) return drainUnreadable(run, lane, delivery);
  const { submissionId, recordNo } = message;
  const { request, deps } = run;
  if (request.submissionId !== undefined && request.submissionId !== submissionId) return false;
  const submission = await deps.submissions.get(submissionId);
  const { reason } = delivery.attributes;
  // A worker rejected it: it stays for an operator, unless its submission has been restored.
  if (reason === 'foreign_message' || (reason === 'submission_missing' && submission === undefined)) return false;
  const [row] = submission === undefined ? [] : await deps.records.getMany([{ submissionId, recordNo }]);
  if (submission === undefined || isSettled(row, message)) return skip(run, 'settled', true);
  const fits = submissionFits(deps, submission, request);
  if (fits !== true) return typeof fits === 'string' ? skip(run, fits, false) : false;
  return row !== undefined && isTerminal(row.state) ? drainFailed(run, submission, row) : drainOpen(run, message, row);
}

/** True for a dead letter of a record that this run has replayed. What is not of its submission is no dead letter of it. */
const isDrained = ({ drained }: Run, { attributes }: Delivery, message: RecordMessage | undefined): boolean =>
  attributes['reason'] !== 'foreign_message' &&
  message !== undefined &&
  drained.get(message.submissionId)?.has(message.recordNo) === true;

function read(body: string): RecordMessage | undefined {
  try {
    return parseRecordMessage(body);
  } catch {
    // What it is cannot be told; it is counted as unreadable.
    return undefined;
  }
}

const isSettled = (row: RecordRow | undefined, { generation }: RecordMessage): boolean =>
  row !== undefined && (row.state === 'succeeded' || row.state === 'cancelled' || row.generation > generation);

function skip({ report }: Run, why: Skip, mayDelete: boolean): boolean {
  report.skipped(why);
  return mayDelete;
}

/**
 * A record that was given up: it is replayed like any other failed one, and with the others of its submission, however many: a part of
 * them would end the submission once, and the next part once more. The limit is for beginning with another submission.
 */
async function drainFailed(run: Run, submission: Submission, row: RecordRow): Promise<boolean> {
  const { deps, request, report } = run;
  if (!rowFits(row, request)) return false;
  const why = whyNot(row, request);
  if (why !== undefined) return skip(run, why, false);
  if (request.dryRun) {
    report.replayed(row.reason ?? 'internal_error', row);
    return false;
  }
  const { submissionId } = submission;
  const mayBegin = !run.drained.has(submissionId) && report.report.replayed < request.limit;
  const found = mayBegin ? await deps.submissions.getWithLedger(submissionId) : undefined;
  if (found === undefined) return false;
  // With everything else of this submission that this redrive would come to; what it leaves is left to the next one.
  const { sent } = await replaySubmission(run, found, {
    request: { ...request, finishedBefore: Math.min(request.finishedBefore ?? Infinity, run.startedAtMs) },
    firstRecordNo: 1,
    max: Infinity,
    only: ({ recordNo, state, reason }) =>
      recordNo === row.recordNo || state === 'dead_lettered' || reason === 'deadline_passed',
    skips: { skipped: () => undefined },
  });
  run.drained.set(submissionId, sent);
  return sent.has(row.recordNo);
}

/** A record that is still open: its worker died and SQS moved the message here. The message itself is sent again. */
async function drainOpen(run: Run, message: RecordMessage, row: RecordRow | undefined): Promise<boolean> {
  const { deps, request, report } = run;
  if (request.reason !== undefined && !request.reason.includes('worker_crashed')) return false;
  if (message.redrives >= request.maxRedrives) return skip(run, 'exhausted', false);
  report.replayed('worker_crashed', row ?? { answers: message.answers ?? {} });
  if (request.dryRun) return false;
  // A message that does not know of the wait on the row would be taken for a copy that was left behind.
  const notBeforeMs = Math.ceil(Math.max(message.notBeforeMs ?? 0, row?.waitingUntilMs ?? 0));
  const again = { ...message, redrives: message.redrives + 1, notBeforeMs };
  const unsent = await sendDelayed(deps, deps.lanes[message.lane], [again], () => run.pace.next());
  report.report.unsent += unsent.size;
  return unsent.size === 0;
}

/** Moves a message that nobody can read out of the queue into an object of its own: it is received no more, and an operator can look. */
async function setApart(run: Run, lane: Lane, delivery: Delivery): Promise<boolean> {
  const { deps, request, report } = run;
  report.report.setApart += 1;
  if (request.dryRun) return false;
  const { messageId, sentAtMs, attributes, body } = delivery;
  const key = setApartKey(lane, delivery);
  const content = JSON.stringify({ lane, messageId, sentAt: new Date(sentAtMs).toISOString(), attributes, body });
  await deps.objects.put(key, Buffer.from(content), 'application/json');
  deps.telemetry.emit({ name: 'message_set_apart', level: 'warn', lane, reason: 'unreadable_message', detail: key });
  return true;
}

const setApartKey = (lane: Lane, { messageId, sentAtMs }: Delivery): string =>
  `set-apart/${lane}/${new Date(sentAtMs).toISOString().slice(0, 10)}/${messageId}.json`;

/** What is no number was not counted by us, and is not counted on. */
function redrivesIn({ redrives = '0' }: Delivery['attributes']): number {
  return /^\d+$/.test(redrives) ? Number(redrives) : MAX_REDRIVES;
}

/** A body that no worker can read: perhaps a newer version can. Three times, then it is set apart, also by redrives that select by reason. */
async function drainUnreadable(run: Run, lane: Lane, delivery: Delivery): Promise<boolean> {
  const { deps, request, report } = run;
  const { body, attributes } = delivery;
  const { submissionId, tenantId, reason, provider } = request;
  if ([submissionId, tenantId, provider].some((selector) => selector !== undefined)) return false;
  const redrives = redrivesIn(attributes);
  if (redrives >= MAX_REDRIVES) return setApart(run, lane, delivery);
  if (reason !== undefined) return false;
  report.replayed('unreadable_message');
  if (request.dryRun) return false;
  const { reason: _reason, ...kept } = attributes;
  const group = attributes['tenantId'] ?? 'unreadable';
  const failures = await deps.lanes[lane].send([
    { body, group, attributes: { ...kept, redrives: String(redrives + 1) } },
  ]);
  reportUnsent(deps.telemetry, failures, { lane });
  report.report.unsent += failures.length;
  return failures.length === 0;
}
