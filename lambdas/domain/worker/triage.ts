import { isPassingFailure } from '../errors.ts';
import { FAN_OUT_DEFAULTS } from '../fan-out/deps.ts';
import { MAX_ATTEMPTS } from '../limits.ts';
import { isTerminal, type RecordRow, type Submission } from '../model.ts';
import type { RecordMessage } from '../queues/messages.ts';
import { receivesOf, type Item } from './deliveries.ts';
import type { WorkerDeps } from './process-batch.ts';
import { defer, returnUnread, type Job, type Resolution, type Resolved } from './resolution.ts';
import type { SchemaChecks } from '../submissions/schemas.ts';
import { isStopped } from '../submissions/stop.ts';

export interface Triage {
  /** Records that need no work: what is stored about them decides. */
  resolved: Resolved[];
  jobs: Job[];
}

type TriageDeps = Pick<WorkerDeps, 'records' | 'submissions' | 'schemas' | 'apis' | 'clock' | 'random' | 'telemetry'>;

/** Waits that end within this time count as over: clocks differ, and a queue's delay is whole seconds. */
const SLACK_MS = 1_000;

/**
 * Reads what is stored about a batch's records (one read for the rows, one per submission) and resolves those that need no work.
 * Heads are read for every batch: after a cancellation no worker starts another batch of calls.
 */
export async function triage(deps: TriageDeps, items: readonly Item[]): Promise<Triage> {
  const rows = await attempt(deps, async () => readRows(deps, items));
  const result: Triage = { resolved: [], jobs: [] };
  const bySubmission = Map.groupBy(items, ({ message }) => message.submissionId);
  await Promise.all(
    [...bySubmission].map(async ([submissionId, group]) => {
      const head = await attempt(deps, async () => readHead(deps, submissionId));
      for (const item of group) {
        const known = rows !== undefined && head !== undefined;
        const decision = known ? decide(deps, item, rows.get(keyOf(item.message)), head) : returnUnread(item, deps);
        if ('kind' in decision) result.resolved.push({ item, resolution: decision });
        else result.jobs.push(decision);
      }
    }),
  );
  return result;
}

interface Head {
  submission: Submission | undefined;
  checks: SchemaChecks;
}

async function readHead({ submissions, schemas }: TriageDeps, submissionId: string): Promise<Head> {
  const submission = await submissions.get(submissionId);
  return { submission, checks: await schemas.checksOf(submission?.terms ?? {}) };
}

const keyOf = ({ submissionId, recordNo }: { submissionId: string; recordNo: number }): string =>
  `${submissionId}#${recordNo}`;

async function readRows({ records }: TriageDeps, items: readonly Item[]): Promise<Map<string, RecordRow>> {
  const keys = items.map(({ message: { submissionId, recordNo } }) => ({ submissionId, recordNo }));
  const rows = keys.length === 0 ? [] : await records.getMany(keys);
  return new Map(rows.map((row) => [keyOf(row), row]));
}

/** A read that fails, for whatever reason, returns its records to the lane and no others. */
async function attempt<T>({ telemetry }: TriageDeps, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    telemetry.emit({ name: 'unexpected_error', level: isPassingFailure(error) ? 'warn' : 'error', error });
    return undefined;
  }
}

function decide(
  deps: TriageDeps,
  item: Item,
  row: RecordRow | undefined,
  { submission, checks }: Head,
): Resolution | Job {
  const { message } = item;
  const nowMs = deps.clock.now();
  if (message.expiresAtSeconds * 1000 <= nowMs) return { kind: 'discard', because: 'expired' };
  if (submission === undefined) {
    return { kind: 'reject', reason: 'submission_missing', detail: 'There is no submission with this id.' };
  }
  const mismatch = mismatchOf(message, submission);
  if (mismatch !== undefined) return { kind: 'reject', reason: 'foreign_message', detail: mismatch };
  if (row !== undefined && isSettled(row, message.generation)) return discardSettled(item, row);
  const job = { ...toJob(item, row), asked: submission.terms.providers, checks };
  // The ledger ends what is left of a stopped submission, chunk by chunk.
  if (isStopped(submission, message.generation)) return { kind: 'discard', because: 'stopped' };
  if (row !== undefined && isSuperseded(item, row, nowMs)) return { kind: 'discard', because: 'superseded' };
  const { message: next } = job;
  const waitMs = (next.notBeforeMs ?? 0) - nowMs;
  // Nothing is written for it: there may be no such record.
  if (waitMs <= SLACK_MS && isAheadOfFanOut(message, submission)) return returnUnread(item, deps);
  if (waitMs <= SLACK_MS) return removedProvider(deps, submission, job) ?? job;
  return { kind: 'return', reason: row?.reason ?? 'out_of_time', message: next, waitMs, carry: next };
}

/** Until a provider that was removed is looked for again. */
const REMOVED_WAIT_MS = 120_000;

/** A record whose answer of a provider is missing that this process does not know waits: another version may know it. */
function removedProvider({ apis, ...deps }: TriageDeps, { terms }: Submission, job: Job): Resolution | undefined {
  const isKnown = (name: string): boolean => apis.some(({ config }) => config.name === name);
  const waitingOn = terms.providers?.find((name) => !isKnown(name) && !Object.hasOwn(job.answers, name));
  if (waitingOn === undefined) return undefined;
  return defer(job, deps, { reason: 'provider_removed', waitingOn, untilMs: deps.clock.now() + REMOVED_WAIT_MS });
}

/** Records that fan-out sends at most before it stores its next checkpoint. */
const MAX_AHEAD = 2 * FAN_OUT_DEFAULTS.checkpointRecords;

/** Why a message cannot be one of this submission, if so. */
function mismatchOf(
  { tenantId, recordNo, generation }: RecordMessage,
  { tenantId: owner, generation: newest, fanOut }: Submission,
): string | undefined {
  if (tenantId !== owner) return 'The submission belongs to another tenant.';
  if (generation > newest) return `Generation ${generation} does not exist; the newest is ${newest}.`;
  return fanOut.done && recordNo > fanOut.records ? `The file has only ${fanOut.records} records.` : undefined;
}

/** True for a record that fan-out cannot have sent yet: it waits until the end of the file is known. */
const isAheadOfFanOut = ({ recordNo }: RecordMessage, { fanOut }: Submission): boolean =>
  !fanOut.done && recordNo > fanOut.records + MAX_AHEAD;

/**
 * True for a message that a later one has superseded: the row has a wait that this message does not know of. Without this check,
 * copies of a waiting record would never die out. A message that was received before is not superseded: its worker may have ended
 * after it wrote the row and before it sent the next message.
 */
const isSuperseded = (item: Item, row: RecordRow, nowMs: number): boolean =>
  receivesOf(item) === 1 &&
  item.message.redelivered !== true &&
  row.generation === item.message.generation &&
  (row.waitingUntilMs ?? 0) > Math.max(item.message.notBeforeMs ?? 0, nowMs + SLACK_MS);

/** True when the record has its outcome, or belongs to a newer generation than this message. */
const isSettled = (row: RecordRow, generation: number): boolean =>
  row.state === 'succeeded' || row.generation > generation || (row.generation === generation && isTerminal(row.state));

function discardSettled(item: Item, stored: RecordRow): Resolution {
  const { attempt, generation } = item.message;
  // The worker that wrote this row did not acknowledge the message: it may not have sent the dead letter either.
  const deadLetterAgain =
    stored.state === 'dead_lettered' &&
    stored.generation === generation &&
    (attempt >= MAX_ATTEMPTS || stored.reason === 'provider_not_ready') &&
    receivesOf(item) > 1;
  return { kind: 'discard', because: stored.generation > generation ? 'stale' : 'settled', stored, deadLetterAgain };
}

/**
 * Updates the message with what the row says: an attempt that the row counts is not made again, and a wait on the row is kept,
 * since the worker that wrote it ended before it sent the next message. A message that was received before is marked as
 * `redelivered` when it is sent again, because its first worker may still be running.
 */
function toJob(item: Item, row: RecordRow | undefined): Omit<Job, 'checks'> {
  const { redelivered: _earlier, ...rest } = item.message;
  const redelivered = receivesOf(item) > 1 ? ({ redelivered: true } as const) : {};
  const answers = { ...row?.answers, ...rest.answers };
  if (row === undefined) return { item, message: { ...rest, ...redelivered }, answers };
  const isSame = row.generation === rest.generation;
  const attempt = Math.max(rest.attempt, isSame ? row.attempts + 1 : 1);
  const notBeforeMs = Math.max(rest.notBeforeMs ?? 0, isSame ? (row.waitingUntilMs ?? 0) : 0);
  const wait = notBeforeMs > 0 ? { notBeforeMs } : {};
  const notReadySinceMs = rest.notReadySinceMs ?? (isSame ? row.notReadySinceMs : undefined);
  const since = notReadySinceMs === undefined ? {} : { notReadySinceMs };
  return { item, message: { ...rest, attempt, ...wait, ...since, ...redelivered }, row, answers };
}
