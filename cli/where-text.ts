import { outcomeAt, tally } from '../lambdas/domain/ledger/ledger.ts';
import {
  chunkOf,
  isOpen,
  offsetOf,
  type LedgerChunk,
  type RecordRow,
  type Submission,
} from '../lambdas/domain/model.ts';
import { isReasonCode, reasonOf as explain } from '../lambdas/domain/reasons.ts';

/** Records without an outcome that were looked at, and the rows of those that have one. */
export interface Waiting {
  looked: number;
  rows: readonly RecordRow[];
}

interface Found {
  submission: Submission;
  ledger: readonly LedgerChunk[];
}

const time = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
const field = (name: string, value: string): string => `  ${name.padEnd(11)} ${value}`;

/** `3 min ago`, `in 2 h` */
function relative(ms: number, nowMs: number): string {
  const seconds = Math.round(Math.abs(ms - nowMs) / 1000);
  const [amount, unit] =
    seconds < 120
      ? [seconds, 's']
      : seconds < 7_200
        ? [Math.round(seconds / 60), 'min']
        : seconds < 172_800
          ? [Math.round(seconds / 3_600), 'h']
          : [Math.round(seconds / 86_400), 'days'];
  return ms > nowMs ? `in ${amount} ${unit}` : `${amount} ${unit} ago`;
}
const moment = (ms: number, nowMs: number): string => `${time(ms)}, ${relative(ms, nowMs)}`;

/** One screen about a submission: state, counts, failures by reason, and what waits for whom. */
export function describeSubmission({ submission, ledger }: Found, waiting: Waiting, nowMs: number): string[] {
  const { submissionId, tenantId, state, lane, source, format, fileName, reference, rejection, stop } = submission;
  const { counts, failures } = tally(submission, ledger);
  const { total, succeeded, failed, cancelled, pending } = counts;
  const file = `${fileName ?? source.key} (${format}, ${source.sizeBytes} bytes)`;
  return [
    `${submissionId}: ${state}`,
    ...(rejection ? [field('rejected', `${rejection.code}: ${rejection.detail}`)] : []),
    ...(stop ? [field('stopped', `${stop.kind} ${moment(stop.atMs, nowMs)}`)] : []),
    field('tenant', tenantId),
    field('file', reference === undefined ? file : `${file}, reference "${reference}"`),
    field('lane', lane ?? 'not decided yet'),
    field('created', moment(submission.createdAtMs, nowMs)),
    field('moved', moment(submission.progressAtMs, nowMs)),
    ...(isOpen(state) ? [field('stands at', stageOf(submission, nowMs))] : []),
    ...(isOpen(state) ? [field('deadline', moment(submission.deadlineAtMs, nowMs))] : []),
    field('expires', moment(submission.expiresAtSeconds * 1000, nowMs)),
    field('results', submission.resultsVersion === 0 ? 'none yet' : `version ${submission.resultsVersion}`),
    '',
    `Records: ${total ?? 'still counting'}; ${succeeded} succeeded, ${failed} failed, ${cancelled} cancelled, ${pending} pending`,
    ...reasonLines(Object.entries(failures)),
    ...(isOpen(state) ? waitingLines(waiting, pending, nowMs) : []),
    ...(failed > 0 ? ['', `What a replay would do: npm run redrive -- --submission ${submissionId}`] : []),
  ];
}

/** One line about a submission that a search has found. */
export function describeFound({
  submissionId,
  state,
  fileName,
  source,
  reference,
  fanOut,
  createdAtMs,
}: Submission): string {
  const file = `${fileName ?? source.key}${reference === undefined ? '' : `, reference "${reference}"`}`;
  return `  ${submissionId}  ${time(createdAtMs)}  ${state}, ${fanOut.records} records${fanOut.done ? '' : ' so far'}: ${file}`;
}

/** Which part of the pipeline has to move next. */
function stageOf({ outboxPending, fanOut, state, finalize, source }: Submission, nowMs: number): string {
  if (outboxPending) return 'accepted; its fan-out message is not known to be sent, the reconciler sends it';
  if (!fanOut.done) {
    const percent = source.sizeBytes === 0 ? 100 : Math.floor((fanOut.byteOffset / source.sizeBytes) * 100);
    return `fan-out: ${percent} % of the file read${leaseOf(fanOut.leaseUntilMs, nowMs)}`;
  }
  if (state !== 'finalizing') return 'the workers: the file is read, records wait for their outcomes';
  return `finalization: part ${finalize?.nextPart ?? 1} is next${leaseOf(finalize?.leaseUntilMs, nowMs)}`;
}

const leaseOf = (untilMs: number | undefined, nowMs: number): string =>
  untilMs !== undefined && untilMs > nowMs ? `, a slice works on it until ${time(untilMs)}` : ', no slice works on it';

const inWords = (code: string): string => (isReasonCode(code) ? explain(code).operator : '');

const reasonLines = (failures: readonly [string, number][]): string[] =>
  failures
    .toSorted(([, a], [, b]) => b - a)
    .map(([reason, count]) => `  ${String(count).padStart(7)}  ${reason.padEnd(22)}  ${inWords(reason)}`);

function waitingLines({ looked, rows }: Waiting, pending: number, nowMs: number): string[] {
  if (looked === 0) return [];
  const groups = new Map<string, RecordRow[]>();
  for (const row of rows) {
    const key = [row.state, row.reason, row.waitingOn].join();
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  const untold = looked - rows.length;
  const part = looked < pending ? ` (the first ${looked} of ${pending})` : '';
  return [
    '',
    `Waiting${part}:`,
    ...[...groups.values()].toSorted((a, b) => b.length - a.length).flatMap((group) => groupLine(group, nowMs)),
    ...(untold > 0 ? [`  ${String(untold).padStart(7)}  in the queue, or being worked on for the first time`] : []),
  ];
}

function groupLine(group: readonly RecordRow[], nowMs: number): string[] {
  const [row] = group;
  if (row === undefined) return [];
  const untilMs = Math.max(...group.map(({ waitingUntilMs }) => waitingUntilMs ?? 0));
  return [`  ${String(group.length).padStart(7)}  ${row.state}${waitOf(row, untilMs, nowMs)}: ${reasonOf(row)}`];
}

const waitOf = ({ waitingOn }: RecordRow, untilMs: number, nowMs: number): string =>
  (waitingOn === undefined ? '' : ` on ${waitingOn}`) + (untilMs > nowMs ? ` until ${time(untilMs)}` : '');

const reasonOf = ({ reason }: RecordRow): string =>
  reason === undefined ? 'no reason' : `${reason}. ${inWords(reason)}`;

/** What is known about one record, in words. */
export function describeRecord(
  { submission, ledger }: Found,
  recordNo: number,
  row: RecordRow | undefined,
  nowMs: number,
): string[] {
  const title = `Record ${recordNo} of ${submission.submissionId}`;
  if (row === undefined) return [`${title}: ${withoutRow({ submission, ledger }, recordNo)}`];
  const { state, detail, attempts, generation, redrives, resends, recordId, waitingUntilMs = 0 } = row;
  const answers = Object.entries(row.answers).map(([name, { kind }]) => `${name} ${kind.replaceAll('_', ' ')}`);
  const replays = row.reason !== undefined && !isWaiting(row) && state !== 'succeeded';
  return [
    `${title}: ${state}${isWaiting(row) ? waitOf(row, waitingUntilMs, nowMs) : ''}`,
    ...(row.reason === undefined ? [] : [field('reason', reasonOf(row))]),
    ...(detail === undefined ? [] : [field('detail', detail)]),
    ...(recordId === undefined ? [] : [field('record id', recordId)]),
    field(
      'attempts',
      `${attempts}; replayed ${redrives} times (generation ${generation}), message lost ${resends ?? 0} times`,
    ),
    field('answers', answers.length === 0 ? 'none yet' : answers.join(', ')),
    field('first sent', moment(row.firstEnqueuedAtMs, nowMs)),
    field('changed', moment(row.updatedAtMs, nowMs)),
    ...(replays ? [field('replay', replayOf(row))] : []),
  ];
}

const isWaiting = ({ state }: RecordRow): boolean => state === 'retrying' || state === 'deferred';

const replayOf = ({ reason, submissionId }: RecordRow): string =>
  reason !== undefined && explain(reason).replayHelps
    ? `can help once the cause is gone: npm run redrive -- --submission ${submissionId} --reason ${reason}`
    : 'cannot help: the file has to be corrected';

/** No row: nothing has happened to it yet, or it does not exist. */
function withoutRow({ submission, ledger }: Found, recordNo: number): string {
  const { fanOut } = submission;
  if (recordNo > fanOut.records) {
    return fanOut.done
      ? `there is none; the file has ${fanOut.records} records.`
      : `not read yet; fan-out has reached record ${fanOut.records}.`;
  }
  const chunk = ledger.find((each) => each.chunk === chunkOf(recordNo));
  const outcome = chunk === undefined ? 'pending' : outcomeAt(chunk, offsetOf(recordNo));
  return outcome === 'pending'
    ? 'pending. It is in the queue, or being worked on for the first time.'
    : `${outcome} by the ledger, but its row is gone: that must not be, tell the developers.`;
}
