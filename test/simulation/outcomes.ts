import { readManifest } from '../../lambdas/domain/finalize/manifest.ts';
import { outcomeAt, tally } from '../../lambdas/domain/ledger/ledger.ts';
import { stoppedRow } from '../../lambdas/domain/ledger/stopped-row.ts';
import { eventIdOf } from '../../lambdas/domain/webhooks/announce.ts';
import { chunkOf, isOpen, isTerminal, offsetOf, type RecordRow, type Submission } from '../../lambdas/domain/model.ts';
import type { MemoryWorld } from '../support/memory/index.ts';
import { recordName } from './files.ts';
import type { Journal } from './journal.ts';
import { knownReason } from './newer-version.ts';
import type { Plan, RecordKind, SubmissionPlan } from './plan.ts';
import { submissionIdOf } from './submit.ts';

/** What must become of a record of each kind, as state and reason. */
const MUST_END: Readonly<Record<RecordKind, string>> = {
  good: 'succeeded',
  unknown: 'succeeded',
  keyless: 'succeeded',
  invalid: 'failed invalid_record',
  malformed: 'failed malformed_row',
  rejected: 'failed provider_rejected',
  sick: 'dead_lettered attempts_exhausted',
  forbidden: 'dead_lettered attempts_exhausted',
  oversize: 'failed record_too_large',
  poison: 'dead_lettered worker_crashed',
};

/** Kinds of which no record is valid: a file that has only those is refused. */
const NEVER_VALID: ReadonlySet<RecordKind> = new Set(['invalid', 'malformed', 'oversize']);

/** Names of the records that nothing but a cancellation may keep from succeeding. */
export const recordsThatMustSucceed = ({ submissions }: Plan): Set<string> =>
  new Set(
    submissions.flatMap(({ index, kinds }) =>
      kinds.flatMap((kind, at) => (MUST_END[kind] === 'succeeded' ? [recordName(index, at + 1)] : [])),
    ),
  );

/** Of rows that cannot be published as they were sent. */
const UNREADABLE: ReadonlySet<unknown> = new Set(['malformed_row', 'record_too_large']);

/** Deaths of its workers after which even a good record may be taken for their cause: it was there every single time. */
const DEATHS_OF_ISOLATION = 5;

const endOf = (row: RecordRow | undefined): string =>
  row === undefined ? 'pending' : [row.state, row.reason && knownReason(row.reason)].filter(Boolean).join(' ');

/** Holds everything that is stored when the world is quiet against the files that were submitted. */
export async function checkOutcomes(world: MemoryWorld, plan: Plan, journal: Journal): Promise<void> {
  const stored = new Map(world.inspect.submissions().map((submission) => [submission.submissionId, submission]));
  for (const submissionPlan of plan.submissions) {
    const submissionId = submissionIdOf(submissionPlan);
    const submission = stored.get(submissionId);
    if (submission === undefined) journal.broken('nothing is lost', `${submissionId} is gone`, [submissionId]);
    else {
      await checkSubmission(world, submissionPlan, submission, journal);
      checkAnnouncement(world, plan, submission, journal);
    }
  }
}

/** The end of every submission was announced and arrived. Where a queue was emptied, the message that was to announce it may be lost. */
function checkAnnouncement(
  { webhooks }: MemoryWorld,
  { mishaps }: Plan,
  { submissionId, generation }: Submission,
  journal: Journal,
): void {
  if (mishaps.some((mishap) => mishap.kind === 'purge')) return;
  const eventId = eventIdOf(submissionId, generation);
  const [delivery] = webhooks.deliveries().filter((one) => one.eventId === eventId);
  if (delivery?.state === 'delivered') return;
  const what = `${eventId} is ${delivery?.state ?? 'not announced'}`;
  journal.broken('every end is announced', what, [submissionId]);
}

async function checkSubmission(
  world: MemoryWorld,
  plan: SubmissionPlan,
  submission: Submission,
  journal: Journal,
): Promise<void> {
  const { submissionId, state } = submission;
  const wrong = (invariant: string, message: string): void =>
    journal.broken(invariant, `${submissionId}: ${message}`, [submissionId]);
  if (isOpen(state)) return wrong('every submission ends', `it is still ${state}`);
  const rows = endsOf(world, submission);
  if (plan.file === 'unreadable' || plan.file === 'header_only') {
    const isRight = rows.size === 0 && (state === 'rejected' || state === 'complete' || state === 'cancelled');
    return isRight ? undefined : wrong('files without records', `it ended ${state} with ${rows.size} rows`);
  }
  if (submission.rejection?.code === 'NO_VALID_RECORDS') {
    const mayBeValid = plan.kinds.some((kind) => !NEVER_VALID.has(kind));
    return mayBeValid ? wrong('good records succeed', 'it was rejected, and has valid records') : undefined;
  }
  if (state === 'expired') return wrong('every submission ends', 'it passed its deadline');
  checkCounts(world, submission, rows, wrong);
  const cancelled = submission.stop?.kind === 'cancelled' || state === 'cancelled' || plan.cancelAfterMs !== undefined;
  if (!cancelled && submission.fanOut.records !== plan.kinds.length) {
    wrong('nothing is lost', `${submission.fanOut.records} records of ${plan.kinds.length} were found`);
  }
  for (let recordNo = 1; recordNo <= submission.fanOut.records; recordNo++) {
    checkRecord(plan, recordNo, rows.get(recordNo), cancelled, journal);
  }
  await checkResults(world, submission, rows, wrong);
}

/** What became of each record: by its row, or by the ledger where its submission was stopped before anybody finished it. */
function endsOf(world: MemoryWorld, submission: Submission): Map<number, RecordRow> {
  const { submissionId, fanOut } = submission;
  const ends = new Map(world.inspect.records(submissionId).map((row) => [row.recordNo, row]));
  const chunks = new Map(world.inspect.ledger(submissionId).map((chunk) => [chunk.chunk, chunk]));
  for (let recordNo = 1; recordNo <= fanOut.records; recordNo++) {
    const chunk = chunks.get(chunkOf(recordNo));
    const end = stoppedRow(submission, chunk, offsetOf(recordNo), ends.get(recordNo));
    if (end !== undefined) ends.set(recordNo, end);
  }
  return ends;
}

function checkRecord(
  { index, kinds }: SubmissionPlan,
  recordNo: number,
  row: RecordRow | undefined,
  mayBeCancelled: boolean,
  journal: Journal,
): void {
  const kind = kinds[recordNo - 1];
  const record = recordName(index, recordNo);
  const end = endOf(row);
  if (kind === undefined || !row || !isTerminal(row.state)) {
    return journal.broken('one outcome', `${record} is ${end}`, [record]);
  }
  const missing = Object.entries(row.answers).find(([, answer]) => answer.kind === 'not_found');
  if (missing !== undefined && kind !== 'unknown') {
    journal.broken('good records are found', `${record} (${kind}) was not found by ${missing[0]}`, [record]);
  }
  if (end === MUST_END[kind] || (mayBeCancelled && row.state === 'cancelled')) return;
  if (row.reason === 'worker_crashed' && journal.deathsOf(record) >= DEATHS_OF_ISOLATION) return;
  const invariant = MUST_END[kind] === 'succeeded' ? 'good records succeed' : 'the right outcome';
  journal.broken(invariant, `${record} (${kind}) ended ${end}: ${row.detail ?? 'no detail'}`, [record]);
}

/** accepted = succeeded + failed + cancelled, by rows and by ledger alike. */
function checkCounts(
  world: MemoryWorld,
  submission: Submission,
  rows: ReadonlyMap<number, RecordRow>,
  wrong: (invariant: string, message: string) => void,
): void {
  const ledger = world.inspect.ledger(submission.submissionId);
  const { counts } = tally(submission, ledger);
  const { total, succeeded, failed, cancelled, pending } = counts;
  if (pending !== 0 || total !== succeeded + failed + cancelled) wrong('conservation', JSON.stringify(counts));
  const chunks = new Map(ledger.map((chunk) => [chunk.chunk, chunk]));
  for (const row of rows.values()) {
    const chunk = chunks.get(chunkOf(row.recordNo));
    const counted = chunk && outcomeAt(chunk, offsetOf(row.recordNo));
    const expected = row.state === 'dead_lettered' ? 'failed' : row.state;
    if (counted !== expected)
      wrong('ledger = rows', `record ${row.recordNo} is ${row.state}, the ledger counts it ${counted}`);
  }
  const { finalCounts } = submission;
  if (finalCounts === undefined || finalCounts.succeeded !== succeeded || finalCounts.failed !== failed) {
    wrong('results = rows', `the submission says ${JSON.stringify(finalCounts)}, the ledger ${JSON.stringify(counts)}`);
  }
}

/** Every record is in the results once, as what its row says. */
async function checkResults(
  world: MemoryWorld,
  submission: Submission,
  rows: ReadonlyMap<number, RecordRow>,
  wrong: (invariant: string, message: string) => void,
): Promise<void> {
  const manifest = await readManifest(world.objects, submission);
  if (manifest === undefined) return wrong('results = rows', 'there are no results');
  const seen = new Set<number>();
  for (const { kind, format, key, records } of manifest.files) {
    if (format !== 'ndjson') continue;
    const lines = world.objects.text(key).split('\n').filter(Boolean);
    if (lines.length !== records) wrong('results = rows', `${key} has ${lines.length} lines, not ${records}`);
    for (const line of lines) {
      const { recordNo, state = 'succeeded', reason, record } = JSON.parse(line);
      const isRead = record !== undefined && Object.keys(record).length > 0;
      if (!isRead && !UNREADABLE.has(reason) && state !== 'cancelled') {
        wrong('no result without input', `record ${recordNo} is published as ${state}, without what was sent`);
      }
      const row = rows.get(recordNo);
      if (seen.has(recordNo)) wrong('results = rows', `record ${recordNo} is there twice`);
      seen.add(recordNo);
      const agrees =
        row?.state === state && row?.reason === reason && (kind === 'succeeded') === (state === 'succeeded');
      if (!agrees) wrong('results = rows', `record ${recordNo} is ${endOf(row)}, the results say ${state} ${reason}`);
    }
  }
  if (seen.size !== submission.fanOut.records) {
    wrong('results = rows', `the results hold ${seen.size} of ${submission.fanOut.records} records`);
  }
}
