import { isOpen, type ClosedState, type Counts, type Submission } from '../model.ts';
import { announceEnd } from '../webhooks/announce.ts';
import type { FinalizeDeps, Finalizing } from './deps.ts';
import { writeManifest, type Manifest, type PartManifest } from './manifest.ts';

interface Totals extends Pick<Manifest, 'counts' | 'files'> {
  failures: Record<string, number>;
}

function total(parts: readonly PartManifest[]): Totals {
  const counts = { total: 0, succeeded: 0, failed: 0, cancelled: 0 };
  const failures: Record<string, number> = {};
  for (const part of parts) {
    counts.total += part.counts.total;
    counts.succeeded += part.counts.succeeded;
    counts.failed += part.counts.failed;
    counts.cancelled += part.counts.cancelled;
    for (const [reason, count = 0] of Object.entries(part.failures)) {
      failures[reason] = (failures[reason] ?? 0) + count;
    }
  }
  return { counts, failures, files: parts.flatMap((part) => part.files) };
}

/**
 * The state that a submission ends in. A stop order decides it: the submission was open when it came. Otherwise its records do;
 * one without records is complete, and a record that stayed cancelled through a replay counts as not succeeded.
 */
function endState(
  stop: Submission['stop'],
  { succeeded, total: records }: Pick<Counts, 'succeeded' | 'total'>,
): ClosedState {
  if (stop) return stop.kind;
  if (succeeded === records) return 'complete';
  return succeeded === 0 ? 'failed' : 'partially_failed';
}

/** Publishes the results and closes the submission. */
export async function finishResults(
  { deps, submission, lease, version }: Finalizing,
  parts: readonly PartManifest[],
): Promise<void> {
  const { submissionId, stop, fileName, reference, expectedRecords, source, prepared } = submission;
  const totals = total(parts);
  const state = endState(stop, totals.counts);
  await writeManifest(deps.objects, submission, {
    v: 1,
    submissionId,
    version,
    state,
    createdAt: new Date(deps.clock.now()).toISOString(),
    ...(fileName !== undefined && { fileName }),
    ...(reference !== undefined && { reference }),
    source,
    ...(prepared && { prepared: { ...prepared.source, from: { ...prepared.from } } }),
    ...(expectedRecords !== undefined && {
      expectedRecords,
      matchesExpected: expectedRecords === totals.counts.total,
    }),
    ...totals,
  });
  const counts = { ...totals.counts, pending: 0, failures: totals.failures };
  const finished = await deps.submissions.finish(submissionId, lease.owner, {
    state,
    resultsVersion: version,
    counts,
    nowMs: deps.clock.now(),
  });
  deps.telemetry.emit({
    name: 'submission_finished',
    level: 'info',
    submissionId,
    tenantId: submission.tenantId,
    ...(submission.lane && { lane: submission.lane }),
    outcome: state,
    generation: submission.generation,
    count: counts.total,
    durationMs: deps.clock.now() - submission.createdAtMs,
  });
  await afterFinish(deps, finished);
}

const RESULTS_LOST = {
  code: 'RESULTS_LOST',
  detail:
    'What was sent, or what came of it, was lost on our side and cannot be restored, so no results can be written. Submit the file again.',
};

/** Ends a submission whose results cannot be verified, as an operator has ordered: nothing is published. Results of before stay. */
export async function finishWithoutResults({ deps, submission, lease }: Finalizing): Promise<void> {
  const { submissionId, tenantId, lane, generation, fanOut, createdAtMs } = submission;
  const nowMs = deps.clock.now();
  const finished = await deps.submissions.finishWithoutResults(submissionId, lease.owner, RESULTS_LOST, nowMs);
  deps.telemetry.emit({
    name: 'submission_finished',
    level: 'warn',
    submissionId,
    tenantId,
    ...(lane && { lane }),
    outcome: finished.state,
    reason: RESULTS_LOST.code,
    generation,
    count: fanOut.records,
    durationMs: nowMs - createdAtMs,
  });
  await afterFinish(deps, finished);
}

/** What follows the end of a submission. Repeated when the invocation that ended it died before this. */
export async function afterFinish(deps: FinalizeDeps, submission: Submission): Promise<void> {
  if (isOpen(submission.state)) return;
  await deps.admission.clearOpenWork(submission.tenantId, submission.submissionId);
  await announceEnd(deps, submission);
}
