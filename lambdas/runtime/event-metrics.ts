import { isPassingFailure, misconfigurationIn, unverifiedInputIn } from '../domain/errors.ts';
import type { Lane } from '../domain/model.ts';
import type { DomainEvent } from '../domain/telemetry.ts';
import {
  LANE_METRICS,
  PROVIDER_METRICS,
  SERVICE_METRICS,
  type MetricDefinition,
  type MetricUnit,
} from './metric-names.ts';

/** One value of one metric. */
export interface MetricPoint {
  name: string;
  unit: MetricUnit;
  value: number;
  /** Dimensions beside service and stage: at most one, and only of few values. */
  dimensions: Readonly<Record<string, string>>;
}

/**
 * The points that an event adds to the metrics. Pure: what is counted is in this file and nowhere else.
 *
 * @param workerOf - The lane of the worker that tells it; absent for every other function.
 */
export function pointsOf(event: DomainEvent, workerOf?: Lane): MetricPoint[] {
  const points = ownPointsOf(event, workerOf);
  const metric = waitsForAPerson(event.error, workerOf);
  if (metric === undefined) return points;
  // Whatever met it: by this figure an alarm says who waits. It is no failure that passes, too.
  const dimensions = dimensionsOf(event.lane ?? workerOf, undefined)(metric.name);
  return [
    ...points.filter((point) => !FAILURE_METRICS.has(point.name)),
    { name: metric.name, unit: metric.unit, value: 1, dimensions },
  ];
}

/** The metric of an error that waits until a person acts. */
function waitsForAPerson(error: unknown, workerOf: Lane | undefined): MetricDefinition | undefined {
  if (unverifiedInputIn(error)) return SERVICE_METRICS.unverifiedInputs;
  if (misconfigurationIn(error) === undefined) return undefined;
  return workerOf === undefined ? SERVICE_METRICS.misconfigurations : LANE_METRICS.workerMisconfigurations;
}

function ownPointsOf(event: DomainEvent, workerOf: Lane | undefined): MetricPoint[] {
  const { name, lane, provider, count = 1, durationMs, ageMs } = event;
  const dimensions = dimensionsOf(lane ?? workerOf, provider);
  const point = ({ name: metric, unit }: MetricDefinition, value: number): MetricPoint => ({
    name: metric,
    unit,
    value,
    dimensions: dimensions(metric),
  });
  const timed = (metric: MetricDefinition, value: number | undefined): MetricPoint[] =>
    value === undefined ? [] : [point(metric, value)];

  switch (name) {
    case 'record_finished':
      return [point(finishedMetric(event), count), ...timed(LANE_METRICS.recordAge, ageMs)];
    case 'records_stopped':
      return [
        point(event.outcome === 'cancelled' ? LANE_METRICS.recordsCancelled : LANE_METRICS.recordsExpired, count),
      ];
    case 'record_deferred':
      return [point(deferralMetric(event.reason), count)];
    case 'provider_call':
      return [point(callMetric(event.outcome), count), ...timed(PROVIDER_METRICS.latency, durationMs)];
    case 'answers_reused':
      return [point(PROVIDER_METRICS.answersReused, count)];
    case 'pacer_wait':
      return timed(PROVIDER_METRICS.pacerWait, durationMs);
    case 'submission_accepted':
      return event.outcome === undefined ? [point(SERVICE_METRICS.submissionsAccepted, 1)] : [];
    case 'submission_finished':
      return [point(endMetric(event.outcome), 1), ...timed(SERVICE_METRICS.submissionDuration, durationMs)];
    case 'gauge': {
      const metric = GAUGES[event.outcome ?? ''];
      return metric === undefined ? [] : [point(metric, ageMs ?? count)];
    }
    // A slice that ended early, and another one that follows: by a call to AWS that failed, or by a lease that was lost.
    case 'prepare_continued':
    case 'fanout_continued':
    case 'finalize_restarted':
      return isPassingFailure(event.error) ? [point(SERVICE_METRICS.dependencyFailures, 1)] : [];
    case 'message_handed_back':
      if (event.level !== 'error') return [];
      return [point(workerOf === undefined ? SERVICE_METRICS.newerMessages : LANE_METRICS.newerMessages, count)];
    case 'webhook_ended':
      return event.outcome === 'given_up' ? [point(SERVICE_METRICS.webhooksGivenUp, 1)] : [];
    case 'unexpected_error':
      return [point(errorMetric(event, workerOf), 1)];
    default: {
      const metric = COUNTED[name];
      return metric === undefined ? [] : [point(metric, ONCE.has(name) ? 1 : count)];
    }
  }
}

const FAILURE_METRICS: ReadonlySet<string> = new Set([
  SERVICE_METRICS.dependencyFailures.name,
  SERVICE_METRICS.unexpectedErrors.name,
  LANE_METRICS.workerDependencyFailures.name,
  LANE_METRICS.workerErrors.name,
]);

const COUNTED: Partial<Record<DomainEvent['name'], MetricDefinition>> = {
  record_attempt_failed: LANE_METRICS.attemptsFailed,
  record_discarded: LANE_METRICS.messagesDiscarded,
  record_resent: LANE_METRICS.recordsResent,
  message_dead_lettered: LANE_METRICS.messagesDeadLettered,
  isolated_run_started: LANE_METRICS.isolatedRuns,
  credential_refused: PROVIDER_METRICS.credentialsRefused,
  breaker_opened: PROVIDER_METRICS.breakerOpened,
  slow_answer: SERVICE_METRICS.slowAnswers,
  submission_rejected: SERVICE_METRICS.submissionsRejected,
  submission_reopened: SERVICE_METRICS.submissionsReopened,
  fanout_finished: SERVICE_METRICS.recordsFannedOut,
  fanout_restarted: SERVICE_METRICS.fanOutsRestarted,
  outbox_relayed: SERVICE_METRICS.outboxRelayed,
  ledger_repaired: SERVICE_METRICS.ledgerRepaired,
  conservation_broken: SERVICE_METRICS.conservationDifference,
  redriven: SERVICE_METRICS.recordsRedriven,
  reconciled: SERVICE_METRICS.reconcilerRuns,
};

/** Events whose count says something else than how often they happened. */
const ONCE: ReadonlySet<DomainEvent['name']> = new Set(['isolated_run_started', 'submission_reopened', 'reconciled']);

const namesOf = (metrics: Readonly<Record<string, MetricDefinition>>): ReadonlySet<string> =>
  new Set(Object.values(metrics).map(({ name }) => name));
const LANE_METRIC_NAMES = namesOf(LANE_METRICS);
const PROVIDER_METRIC_NAMES = namesOf(PROVIDER_METRICS);

/** The one dimension that a metric has, from what the event says: a metric always has the same ones, and of few values. */
const dimensionsOf =
  (lane: Lane = 'bulk', provider = 'unknown') =>
  (name: string): Record<string, string> => {
    if (LANE_METRIC_NAMES.has(name)) return { lane };
    return PROVIDER_METRIC_NAMES.has(name) ? { provider } : {};
  };

function finishedMetric({ outcome, reason }: DomainEvent): MetricDefinition {
  if (outcome === 'succeeded') return LANE_METRICS.recordsSucceeded;
  if (reason === 'worker_crashed') return LANE_METRICS.recordsCrashed;
  return outcome === 'dead_lettered' ? LANE_METRICS.recordsDeadLettered : LANE_METRICS.recordsFailed;
}

function deferralMetric(reason: string | undefined): MetricDefinition {
  if (reason === 'pacer_full') return LANE_METRICS.deferralsForPace;
  const isPlatform = reason === 'dependency_unavailable' || reason === 'out_of_time';
  return isPlatform ? LANE_METRICS.deferralsForPlatform : LANE_METRICS.deferralsForProvider;
}

/** By the outcome that `provider_call` names: the kind of the answer, or the reason of a transient failure. */
const CALLS: Readonly<Record<string, MetricDefinition>> = {
  found: PROVIDER_METRICS.callsAnswered,
  not_found: PROVIDER_METRICS.callsAnswered,
  permanent: PROVIDER_METRICS.callsRejected,
  throttled: PROVIDER_METRICS.callsThrottled,
  auth: PROVIDER_METRICS.callsUnauthorized,
  provider_timeout: PROVIDER_METRICS.callsTimedOut,
  provider_bad_response: PROVIDER_METRICS.callsUnusable,
};
const callMetric = (outcome = ''): MetricDefinition => CALLS[outcome] ?? PROVIDER_METRICS.callsFailed;

const ENDS: Readonly<Record<string, MetricDefinition>> = {
  complete: SERVICE_METRICS.submissionsComplete,
  partially_failed: SERVICE_METRICS.submissionsPartiallyFailed,
  cancelled: SERVICE_METRICS.submissionsCancelled,
  expired: SERVICE_METRICS.submissionsExpired,
};
const endMetric = (state = ''): MetricDefinition => ENDS[state] ?? SERVICE_METRICS.submissionsFailed;

/** Warnings are about what passes; errors are defects. */
function errorMetric({ level }: DomainEvent, workerOf: Lane | undefined): MetricDefinition {
  if (workerOf !== undefined) {
    return level === 'error' ? LANE_METRICS.workerErrors : LANE_METRICS.workerDependencyFailures;
  }
  return level === 'error' ? SERVICE_METRICS.unexpectedErrors : SERVICE_METRICS.dependencyFailures;
}

/** Figures that are measured, by the name that the domain gives them in `outcome`. */
const GAUGES: Readonly<Record<string, MetricDefinition>> = {
  open_records: LANE_METRICS.openRecords,
  oldest_unfinished: LANE_METRICS.oldestUnfinished,
  dead_letters_age: LANE_METRICS.deadLettersAge,
  dead_letters_age_prepare: SERVICE_METRICS.prepareDeadLettersAge,
  dead_letters_age_fanOut: SERVICE_METRICS.fanOutDeadLettersAge,
  dead_letters_age_webhooks: SERVICE_METRICS.webhookDeadLettersAge,
  dead_letters_age_finalize: SERVICE_METRICS.finalizationDeadLettersAge,
  breaker_open: PROVIDER_METRICS.breakerOpen,
  provider_blocked: PROVIDER_METRICS.blocked,
  granted_rate: PROVIDER_METRICS.grantedRate,
  canary_distrusted: PROVIDER_METRICS.canaryDistrusted,
  troubled_providers: SERVICE_METRICS.troubledProviders,
  open_accepted: SERVICE_METRICS.openAccepted,
  open_processing: SERVICE_METRICS.openProcessing,
  open_finalizing: SERVICE_METRICS.openFinalizing,
  open_cancelling: SERVICE_METRICS.openCancelling,
  stalled_fan_outs: SERVICE_METRICS.stalledFanOuts,
  stalled_results: SERVICE_METRICS.stalledResults,
  outbox_age: SERVICE_METRICS.outboxAge,
  conservation_difference: SERVICE_METRICS.conservationDifference,
};
