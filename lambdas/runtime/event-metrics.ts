import type { DomainEvent } from '../domain/ports.ts';
import { LANE_METRICS, PROVIDER_METRICS, SERVICE_METRICS, type MetricUnit } from './metric-names.ts';

/** One value of one metric. */
export interface MetricPoint {
  name: string;
  unit: MetricUnit;
  value: number;
  /** Dimensions beside service and stage: at most one, and only of few values. */
  dimensions: Readonly<Record<string, string>>;
}

type Metric = Pick<MetricPoint, 'name' | 'unit'>;

/** The points that an event adds to the metrics. Pure: what is counted is in this table and nowhere else. */
export function pointsOf(event: DomainEvent): MetricPoint[] {
  const { name, lane, provider, count = 1, durationMs, ageMs } = event;
  const dimensions = dimensionsOf(lane, provider);
  const point = (metric: Metric, value: number): MetricPoint => ({ ...metric, value, dimensions: dimensions(metric) });
  const timed = (metric: Metric, value: number | undefined): MetricPoint[] =>
    value === undefined ? [] : [point(metric, value)];

  switch (name) {
    case 'record_finished':
      return [point(finishedMetric(event.outcome), count), ...timed(LANE_METRICS.recordAge, ageMs)];
    case 'provider_call':
      return [point(callMetric(event.outcome), count), ...timed(PROVIDER_METRICS.latency, durationMs)];
    case 'pacer_wait':
      return timed(PROVIDER_METRICS.pacerWait, durationMs);
    case 'submission_finished':
      return [point(SERVICE_METRICS.submissionsFinished, 1), ...timed(SERVICE_METRICS.submissionDuration, durationMs)];
    case 'gauge': {
      const metric = GAUGES[event.outcome ?? ''];
      return metric === undefined ? [] : [point(metric, ageMs ?? count)];
    }
    case 'suspect_started':
      return [point(LANE_METRICS.suspectsStarted, 1)];
    case 'callback_failed':
      return event.level === 'info' ? [] : [point(SERVICE_METRICS.callbacksFailed, 1)];
    default: {
      const metric = COUNTED[name];
      return metric === undefined ? [] : [point(metric, count)];
    }
  }
}

const COUNTED: Partial<Record<DomainEvent['name'], Metric>> = {
  record_attempt_failed: LANE_METRICS.attemptsFailed,
  record_deferred: LANE_METRICS.recordsDeferred,
  record_discarded: LANE_METRICS.messagesDiscarded,
  record_resent: LANE_METRICS.recordsResent,
  message_parked: LANE_METRICS.messagesParked,
  credential_refused: PROVIDER_METRICS.credentialsRefused,
  breaker_opened: PROVIDER_METRICS.breakerOpened,
  breaker_closed: PROVIDER_METRICS.breakerClosed,
  submission_accepted: SERVICE_METRICS.submissionsAccepted,
  submission_rejected: SERVICE_METRICS.submissionsRejected,
  submission_reopened: SERVICE_METRICS.submissionsReopened,
  fanout_finished: SERVICE_METRICS.recordsFannedOut,
  fanout_restarted: SERVICE_METRICS.fanOutsRestarted,
  outbox_relayed: SERVICE_METRICS.outboxRelayed,
  ledger_repaired: SERVICE_METRICS.ledgerRepaired,
  redriven: SERVICE_METRICS.recordsRedriven,
  unexpected_error: SERVICE_METRICS.unexpectedErrors,
};

const LANE_METRIC_NAMES: ReadonlySet<string> = new Set(Object.values(LANE_METRICS).map((metric) => metric.name));
const PROVIDER_METRIC_NAMES: ReadonlySet<string> = new Set(Object.values(PROVIDER_METRICS).map(({ name }) => name));

/** The one dimension that a metric has, from what the event says: a metric always has the same ones. */
const dimensionsOf =
  (lane: string | undefined, provider: string | undefined) =>
  ({ name }: Metric): Record<string, string> => {
    if (LANE_METRIC_NAMES.has(name)) return { lane: lane ?? 'unknown' };
    return PROVIDER_METRIC_NAMES.has(name) ? { provider: provider ?? 'unknown' } : {};
  };

function finishedMetric(outcome: string | undefined): Metric {
  if (outcome === 'succeeded') return LANE_METRICS.recordsSucceeded;
  if (outcome === 'cancelled') return LANE_METRICS.recordsCancelled;
  return outcome === 'dead_lettered' ? LANE_METRICS.recordsDeadLettered : LANE_METRICS.recordsFailed;
}

function callMetric(outcome: string | undefined): Metric {
  if (outcome === 'throttled') return PROVIDER_METRICS.callsThrottled;
  const isAnswer = outcome === 'found' || outcome === 'not_found' || outcome === 'permanent';
  return isAnswer ? PROVIDER_METRICS.callsAnswered : PROVIDER_METRICS.callsFailed;
}

/** Figures that are measured, by the name that the domain gives them in `outcome`. */
const GAUGES: Readonly<Record<string, Metric>> = {
  open_records: LANE_METRICS.openRecords,
  oldest_unfinished: LANE_METRICS.oldestUnfinished,
  open_submissions: SERVICE_METRICS.openSubmissions,
  stalled_fan_outs: SERVICE_METRICS.stalledFanOuts,
  outbox_age: SERVICE_METRICS.outboxAge,
  conservation_difference: SERVICE_METRICS.conservationDifference,
};
