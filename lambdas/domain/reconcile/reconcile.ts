import pLimit from 'p-limit';
import { isPassingFailure } from '../errors.ts';
import { LANES, OPEN_STATES } from '../model.ts';
import { REASONS, REASON_CODES } from '../reasons.ts';
import { type BacklogSnapshot, lossThresholds, takeSnapshot } from './backlog.ts';
import { type CheckResult, checkSubmission } from './check-submission.ts';
import type { ReconcileDeps, LossThresholds } from './deps.ts';
import { recountOpenWork } from './open-work.ts';
import { redrive } from '../redrive/redrive.ts';
import { MAX_REDRIVES } from '../redrive/request.ts';
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
 * operation it finds nothing to do: every step of the pipeline hands over to the next by itself.
 *
 * @throws DependencyUnavailableError when not even the open submissions could be listed.
 */
export async function reconcile(deps: ReconcileDeps, budget: TimeBudget): Promise<ReconcileReport> {
  const snapshot = await takeSnapshot(deps);
  await deps.admission.saveBacklog(snapshot.backlog);
  const thresholds = lossThresholds(deps, snapshot);
  await attempt(deps, {}, async () => recountOpenWork(deps, snapshot.openWork));
  const due = await deps.submissions.listDue({ nowMs: deps.clock.now(), limit: deps.settings.submissionsPerRun });
  const isOver = (): boolean => budget.remainingMs() < deps.settings.reserveMs;
  const results = await pLimit(deps.settings.parallel).map(due, async ({ submissionId, tenantId, lane }) => {
    if (isOver()) return undefined;
    return attempt(deps, { submissionId, tenantId, ...(lane && { lane }) }, async () =>
      checkSubmission(deps, submissionId, thresholds, isOver),
    );
  });
  const done = results.filter((result) => result !== undefined);
  const replayed = await redriveAfterOutage(deps, thresholds, budget);
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
  const { backlog, oldestMs, openByState, providers, stalledFanOuts, outboxAgeMs } = snapshot;
  const gauge = (outcome: string, fields: EventFields): void =>
    telemetry.emit({ name: 'gauge', level: 'debug', outcome, ...fields });
  for (const lane of LANES) {
    gauge('open_records', { lane, count: backlog.openRecords[lane] });
    gauge('oldest_unfinished', { lane, ageMs: oldestMs[lane] });
  }
  for (const { name, isOpen, isBlocked } of providers) {
    gauge('breaker_open', { provider: name, count: Number(isOpen) });
    gauge('provider_blocked', { provider: name, count: Number(isBlocked) });
  }
  gauge('troubled_providers', { count: providers.filter(({ isOpen, isBlocked }) => isOpen || isBlocked).length });
  for (const state of OPEN_STATES) gauge(`open_${state}`, { count: openByState[state] });
  gauge('stalled_fan_outs', { count: stalledFanOuts });
  gauge('outbox_age', { ageMs: outboxAgeMs });
  gauge('conservation_difference', { count: results.reduce((sum, { difference }) => sum + difference, 0) });
  telemetry.emit({ name: 'reconciled', level: 'info', count: results.length });
}

const OUTAGE_REASONS = REASON_CODES.filter((code) => REASONS[code].outage);

/**
 * Replays what providers' outages dead-lettered, in the half hour after every provider works again. How often a record is replayed is
 * bounded, so a provider that comes and goes cannot keep it going for ever; one replay is left to operators.
 *
 * @returns how many records were replayed.
 */
async function redriveAfterOutage(
  { automaticRedrive, settings, clock, telemetry }: ReconcileDeps,
  { troubledAtMs }: LossThresholds,
  budget: TimeBudget,
): Promise<number> {
  const calmMs = clock.now() - troubledAtMs;
  if (!automaticRedrive || calmMs < settings.calmMs || calmMs > settings.redriveWithinMs) return 0;
  const request = {
    mode: 'dead_letter_queue',
    reason: OUTAGE_REASONS,
    dryRun: false,
    maxRedrives: MAX_REDRIVES - 1,
    limit: settings.redrivesPerRun,
  };
  try {
    return (await redrive(automaticRedrive, request, budget)).replayed;
  } catch (error) {
    telemetry.emit({ name: 'unexpected_error', level: isPassingFailure(error) ? 'warn' : 'error', error });
    return 0;
  }
}
