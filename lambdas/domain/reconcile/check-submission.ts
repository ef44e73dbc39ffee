import { finishedOffsets, isFull } from '../ledger/ledger.ts';
import { type LedgerChunk, type Submission, isOpen, recordNoAt } from '../model.ts';
import { MESSAGE_VERSION } from '../queues/messages.ts';
import type { ReconcileDeps, LossThresholds } from './deps.ts';
import { allChunks, settleStopped } from '../ledger/settle-stopped.ts';
import { openRecords, settleDecided } from './open-records.ts';
import { isSilent, resendLost } from './resend.ts';
import { closeFullChunks, finalizeIfComplete, requestResults } from '../ledger/settlement.ts';
import { RUNS_ALONE } from '../submissions/deliveries.ts';
import { sendOne } from '../submissions/slices.ts';

/** What was done for one submission. */
export interface CheckResult {
  actions: number;
  /** Outcomes beyond the end of the file: must be 0. */
  difference: number;
}

const CHECK_EVERY_MS = 60_000;
const LONGEST_CHECK_MS = 15 * 60_000;

/**
 * Moves one submission on where it got stuck, and notes when to look at it next. Every action may be repeated: two runs at
 * once, or a run that died half way, do no harm. Ends early when `isOver`; what is left is found again by a later run.
 */
export async function checkSubmission(
  deps: ReconcileDeps,
  submissionId: string,
  thresholds: LossThresholds,
  isOver: () => boolean,
): Promise<CheckResult> {
  const found = await deps.submissions.getWithLedger(submissionId);
  if (found === undefined || !isOpen(found.submission.state)) return { actions: 0, difference: 0 };
  const submission = await expireIfDue(deps, found.submission);
  const ledger = found.ledger;
  // First, so that a run that dies in the middle is repeated at a sensible pace.
  await deps.submissions.scheduleCheck(submissionId, nextCheckMs(submission, deps.clock.now()));
  const actions = await advance(deps, submission, ledger, thresholds, isOver);
  return { actions, difference: differenceOf(submission, ledger) };
}

async function advance(
  deps: ReconcileDeps,
  submission: Submission,
  ledger: readonly LedgerChunk[],
  thresholds: LossThresholds,
  isOver: () => boolean,
): Promise<number> {
  if (submission.outboxPending) return relay(deps, submission);
  if (!submission.fanOut.done) return restartFanOut(deps, submission);
  if (submission.state === 'finalizing') return restartFinalizer(deps, submission);
  return settleRecords(deps, submission, ledger, thresholds, isOver);
}

async function expireIfDue(deps: ReconcileDeps, submission: Submission): Promise<Submission> {
  const { submissionId, tenantId, deadlineAtMs, stop, state } = submission;
  const nowMs = deps.clock.now();
  if (stop !== undefined || nowMs < deadlineAtMs || state === 'finalizing') return submission;
  deps.telemetry.emit({ name: 'submission_stopped', level: 'warn', submissionId, tenantId, outcome: 'expired' });
  return (await deps.submissions.requestStop(submissionId, { kind: 'expired', atMs: nowMs })) ?? submission;
}

async function relay(deps: ReconcileDeps, submission: Submission): Promise<number> {
  const { submissionId, tenantId, createdAtMs } = submission;
  const ageMs = deps.clock.now() - createdAtMs;
  if (ageMs < deps.settings.outboxAgeMs) return 0;
  await sendOne(deps.fanOutQueue, fanOutMessage(submission));
  await deps.submissions.markRelayed(submissionId);
  deps.telemetry.emit({ name: 'outbox_relayed', level: 'warn', submissionId, tenantId, ageMs });
  return 1;
}

const fanOutMessage = ({ submissionId, tenantId }: Submission) => ({ v: MESSAGE_VERSION, submissionId, tenantId });

async function restartFanOut(deps: ReconcileDeps, submission: Submission): Promise<number> {
  if (!isStalled(deps, submission, submission.fanOut.leaseUntilMs)) return 0;
  const { submissionId, tenantId, progressAtMs, fanOut } = submission;
  await sendOne(deps.fanOutQueue, fanOutMessage(submission), 0, afterLease(fanOut));
  const ageMs = deps.clock.now() - progressAtMs;
  deps.telemetry.emit({ name: 'fanout_restarted', level: 'warn', submissionId, tenantId, ageMs });
  return 1;
}

async function restartFinalizer(deps: ReconcileDeps, submission: Submission): Promise<number> {
  if (!isStalled(deps, submission, submission.finalize?.leaseUntilMs)) return 0;
  const { submissionId, tenantId, progressAtMs } = submission;
  await requestResults(deps, submission, afterLease(submission.finalize));
  const ageMs = deps.clock.now() - progressAtMs;
  deps.telemetry.emit({ name: 'finalize_restarted', level: 'warn', submissionId, tenantId, ageMs });
  return 1;
}

/** A lease that was not given up ended with its invocation: the slice runs alone, since it may end the next one, too. */
const afterLease = (lease: { leaseUntilMs?: number } | undefined) =>
  lease?.leaseUntilMs === undefined ? {} : RUNS_ALONE;

function isStalled({ clock, settings }: ReconcileDeps, { progressAtMs }: Submission, leaseUntilMs = 0): boolean {
  return clock.now() - Math.max(progressAtMs, leaseUntilMs) >= settings.stalledMs;
}

async function settleRecords(
  deps: ReconcileDeps,
  submission: Submission,
  ledger: readonly LedgerChunk[],
  thresholds: LossThresholds,
  isOver: () => boolean,
): Promise<number> {
  const { settings } = deps;
  if (submission.stop !== undefined) return settleStopped(deps, submission, ledger, isOver);
  const chunks = allChunks(submission, ledger);
  const unclosed = chunks.filter((chunk) => !submission.closedChunks.has(chunk.chunk));
  await closeFullChunks(deps, submission.submissionId, unclosed);
  const unfinished = unclosed.filter((chunk) => !isFull(chunk));
  if (unfinished.length === 0) {
    await finalizeIfComplete(deps, submission);
    return 0;
  }
  const isLate = isSilent(submission, thresholds, deps.clock.now());
  const limit = isLate ? settings.recordsWhenSilent : settings.recordsPerSubmission;
  let actions = 0;
  for await (const { ledger: chunk, records } of openRecords(deps, submission, unfinished, limit)) {
    if (isOver()) break;
    const { settled, stillOpen } = await settleDecided(deps, submission, records);
    actions += settled;
    if (isLate) actions += await resendLost(deps, submission, chunk, stillOpen, thresholds);
  }
  return actions;
}

/** Often while things move, ever more seldom while they do not; never later than the deadline. */
function nextCheckMs({ progressAtMs, deadlineAtMs, stop }: Submission, nowMs: number): number {
  const silentMs = nowMs - progressAtMs;
  const next = nowMs + Math.min(Math.max(CHECK_EVERY_MS, silentMs / 4), LONGEST_CHECK_MS);
  return stop === undefined ? Math.min(next, Math.max(deadlineAtMs, nowMs + CHECK_EVERY_MS)) : nowMs + CHECK_EVERY_MS;
}

/** Outcomes beyond the end of the file. */
function differenceOf({ fanOut }: Submission, ledger: readonly LedgerChunk[]): number {
  if (!fanOut.done) return 0;
  const beyond = (chunk: LedgerChunk): number =>
    finishedOffsets(chunk).filter((offset) => recordNoAt(chunk.chunk, offset) > fanOut.records).length;
  return ledger.reduce((sum, chunk) => sum + beyond(chunk), 0);
}
