import pLimit from 'p-limit';
import { isPassingFailure } from '../errors.ts';
import { LANES, OPEN_STATES } from '../model.ts';
import { type BacklogSnapshot, lossThresholds, takeSnapshot } from './backlog.ts';
import { type CheckResult, checkSubmission } from './check-submission.ts';
import { measureDeadLetters, redriveAfterOutage } from './dead-letters.ts';
import type { ReconcileDeps } from './deps.ts';
import { recountOpenWork } from './open-work.ts';
import type { EventFields } from '../telemetry.ts';
import type { TimeBudget } from '../time.ts';

export interface ReconcileReport {
  /** Open submissions that were due and looked after. */
  submissions: number;
  /** Submissions that were due, but failed or found no time: due again in the next run. */
  postponed: number;
  /** Messages repeated and records settled. */
  actions: number;
}

/**
 * One run of the backstop: what got stuck or lost moves on, and the figures that alarms and admission go by are taken. In normal
 * operation it finds nothing to do: every step of the pipeline hands over to the next by itself. A dependency that is unavailable ends the
 * run early and is no error: the next run is a minute away, and `NotRunning` rings when none of them gets through.
 */
export async function reconcile(deps: ReconcileDeps, budget: TimeBudget): Promise<ReconcileReport> {
  try {
    return await reconcileOnce(deps, budget);
  } catch (error) {
    if (!isPassingFailure(error)) throw error;
    deps.telemetry.emit({ name: 'unexpected_error', level: 'warn', error });
    return { submissions: 0, postponed: 0, actions: 0 };
  }
}

async function reconcileOnce(deps: ReconcileDeps, budget: TimeBudget): Promise<ReconcileReport> {
  const snapshot = await takeSnapshot(deps);
  await deps.admission.saveBacklog(snapshot.backlog);
  const thresholds = lossThresholds(deps, snapshot);
  await attempt(deps, {}, async () => recountOpenWork(deps, snapshot.openWork));
  const deadLetters = await attempt(deps, {}, async () => measureDeadLetters(deps));
  const due = await deps.submissions.listDue({ nowMs: deps.clock.now(), limit: deps.settings.submissionsPerRun });
  const isOver = (): boolean => budget.remainingMs() < deps.settings.reserveMs;
  const results = await pLimit(deps.settings.parallel).map(due, async ({ submissionId, tenantId, lane }) => {
    if (isOver()) return undefined;
    return attempt(deps, { submissionId, tenantId, ...(lane && { lane }) }, async () =>
      checkSubmission(deps, submissionId, thresholds, isOver),
    );
  });
  const done = results.filter((result) => result !== undefined);
  const replayed = await redriveAfterOutage(deps, thresholds, deadLetters, budget);
  const actions = done.reduce((sum, result) => sum + result.actions, replayed);
  report(deps, snapshot, done);
  return { submissions: done.length, postponed: due.length - done.length, actions };
}

/** One troubled submission never stops the others. */
async function attempt<T>(
  { telemetry }: ReconcileDeps,
  about: EventFields,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    telemetry.emit({
      name: 'unexpected_error',
      level: isPassingFailure(error) ? 'warn' : 'error',
      ...about,
      error,
    });
    return undefined;
  }
}

function report({ telemetry }: ReconcileDeps, snapshot: BacklogSnapshot, results: readonly CheckResult[]): void {
  const { backlog, oldestMs, openByState, providers, stalledFanOuts, stalledResults, outboxAgeMs } = snapshot;
  const gauge = (outcome: string, fields: EventFields): void =>
    telemetry.emit({ name: 'gauge', level: 'debug', outcome, ...fields });
  for (const lane of LANES) {
    gauge('open_records', { lane, count: backlog.openRecords[lane] });
    gauge('oldest_unfinished', { lane, ageMs: oldestMs[lane] });
  }
  for (const { name, isOpen, isBlocked, grantedPerSecond, isCanaryDistrusted } of providers) {
    gauge('breaker_open', { provider: name, count: Number(isOpen) });
    gauge('provider_blocked', { provider: name, count: Number(isBlocked) });
    gauge('granted_rate', { provider: name, count: grantedPerSecond });
    gauge('canary_distrusted', { provider: name, count: Number(isCanaryDistrusted) });
  }
  gauge('troubled_providers', { count: providers.filter(({ isOpen, isBlocked }) => isOpen || isBlocked).length });
  for (const state of OPEN_STATES) gauge(`open_${state}`, { count: openByState[state] });
  gauge('stalled_fan_outs', { count: stalledFanOuts });
  gauge('stalled_results', { count: stalledResults });
  gauge('outbox_age', { ageMs: outboxAgeMs });
  gauge('conservation_difference', { count: results.reduce((sum, { difference }) => sum + difference, 0) });
  telemetry.emit({ name: 'reconciled', level: 'info', count: results.length });
}
