import {
  AlarmStatusWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  MathExpression,
  SingleValueWidget,
  type IWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { LANES } from '../../../lambdas/domain/model.ts';
import { LANE_METRICS, SERVICE_METRICS } from '../../../lambdas/runtime/metric-names.ts';
import { isWatched } from '../alarms.ts';
import type { QueueWithDlq } from '../queue-with-dlq.ts';
import { FAILURES_BY_REASON } from '../saved-queries.ts';
import { graph, heading, LANE_LABELS, laneMetricsOf, metricsOf, PER_MINUTE, type DashboardProps } from './widgets.ts';

const SUM = { ...PER_MINUTE, statistic: 'Sum' };
const MAXIMUM = { ...PER_MINUTE, statistic: 'Maximum' };

/** Service levels: what pages, how old open work is, whether every record is accounted for. */
export function slo({ stage, alarms }: DashboardProps): IWidget[][] {
  const metrics = metricsOf(stage.name);
  const perLane = laneMetricsOf(stage.name);
  const contract = stage.contractAgeSeconds;
  return [
    heading(
      '# Are the promises kept?\nAlarms that page, the age of what is open against the contract, and whether every record is accounted for.',
    ),
    isWatched(alarms)
      ? [new AlarmStatusWidget({ title: 'Alarms that page', alarms: [...alarms.pages], width: 24, height: 4 })]
      : [],
    [
      graph('Longest wait of an open submission (ms)', {
        left: perLane('reconciler', 'Maximum', [[LANE_METRICS.oldestUnfinished, '']]),
        leftAnnotations: LANES.map((lane) => ({
          value: contract[lane] * 1_000,
          label: `contract, ${LANE_LABELS[lane]}`,
        })),
      }),
      graph('Age of records at their outcome (ms)', {
        left: ['p50', 'p99'].flatMap((p) => perLane('worker', p, [[LANE_METRICS.recordAge, p]])),
      }),
      graph('Submissions that ended', {
        left: metrics('finalizer', 'Sum', [
          [SERVICE_METRICS.submissionsComplete, 'complete'],
          [SERVICE_METRICS.submissionsPartiallyFailed, 'partially failed'],
          [SERVICE_METRICS.submissionsFailed, 'failed'],
          [SERVICE_METRICS.submissionsCancelled, 'cancelled'],
          [SERVICE_METRICS.submissionsExpired, 'expired'],
        ]),
        stacked: true,
      }),
    ],
    [
      new SingleValueWidget({
        title: 'Now',
        width: 24,
        height: 3,
        metrics: [
          ...metrics('reconciler', 'Maximum', [
            [SERVICE_METRICS.conservationDifference, 'outcomes too many (must be 0)'],
          ]),
          ...metrics('reconciler', 'Sum', [[SERVICE_METRICS.reconcilerRuns, 'runs of the reconciler']]),
          ...metrics('finalizer', 'p99', [[SERVICE_METRICS.submissionDuration, 'submission, p99 (ms)']]),
        ],
      }),
    ],
  ];
}

export function backlog({ stage, queues }: DashboardProps): IWidget[][] {
  const metrics = metricsOf(stage.name);
  const perLane = laneMetricsOf(stage.name);
  const each = Object.entries(queues);
  return [
    heading(
      '# Where is the backlog?\nRecords without an outcome, submissions by state, and the four queues with everything that is in them.',
    ),
    [
      graph('Records without an outcome', {
        left: perLane('reconciler', 'Maximum', [[LANE_METRICS.openRecords, '']]),
        stacked: true,
      }),
      graph('Open submissions', {
        left: metrics('reconciler', 'Maximum', [
          [SERVICE_METRICS.openAccepted, 'accepted, to be read'],
          [SERVICE_METRICS.openProcessing, 'processing'],
          [SERVICE_METRICS.openFinalizing, 'finalizing'],
          [SERVICE_METRICS.openCancelling, 'cancelling'],
        ]),
        stacked: true,
      }),
      graph('Accepted and rejected files, records read', {
        left: [
          ...metrics('submit', 'Sum', [[SERVICE_METRICS.submissionsAccepted, 'files accepted']]),
          ...metrics('fan-out', 'Sum', [[SERVICE_METRICS.submissionsRejected, 'files rejected']]),
        ],
        right: metrics('fan-out', 'Sum', [[SERVICE_METRICS.recordsFannedOut, 'records read (right)']]),
      }),
    ],
    [
      graph('Messages: visible, in flight and delayed', {
        left: each.map(([name, queue], index) => messages(name, queue, index)),
      }),
      graph('Oldest message (s)', {
        left: each.map(([label, { queue }]) => queue.metricApproximateAgeOfOldestMessage({ ...MAXIMUM, label })),
      }),
      graph('What needs repair', {
        left: [
          ...metrics('reconciler', 'Maximum', [[SERVICE_METRICS.stalledFanOuts, 'stalled fan-outs']]),
          ...metrics('reconciler', 'Sum', [[SERVICE_METRICS.fanOutsRestarted, 'fan-outs started again']]),
          ...perLane('reconciler', 'Sum', [[LANE_METRICS.recordsResent, 'records sent again']]),
        ],
        right: metrics('reconciler', 'Maximum', [[SERVICE_METRICS.outboxAge, 'outbox age, ms (right)']]),
      }),
    ],
  ];
}

/** Ids of metrics are those of the whole graph, so each queue has its own. */
const messages = (label: string, { queue }: QueueWithDlq, index: number): MathExpression =>
  new MathExpression({
    expression: `visible${index} + inFlight${index} + delayed${index}`,
    usingMetrics: {
      [`visible${index}`]: queue.metricApproximateNumberOfMessagesVisible(MAXIMUM),
      [`inFlight${index}`]: queue.metricApproximateNumberOfMessagesNotVisible(MAXIMUM),
      [`delayed${index}`]: queue.metricApproximateNumberOfMessagesDelayed(MAXIMUM),
    },
    ...PER_MINUTE,
    label,
  });

export function failures({ stage, queues, functions, api }: DashboardProps): IWidget[][] {
  const metrics = metricsOf(stage.name);
  const perLane = laneMetricsOf(stage.name);
  const { unexpectedErrors, dependencyFailures } = SERVICE_METRICS;
  return [
    heading(
      '# What is failing, and why?\nRecords by their outcome, what they wait for, and what functions meet. Reasons, one by one, are in the table.',
    ),
    [
      graph('Outcomes of records', {
        left: [
          ...perLane('worker', 'Sum', [
            [LANE_METRICS.recordsSucceeded, 'succeeded'],
            [LANE_METRICS.recordsFailed, 'refused as they are'],
            [LANE_METRICS.recordsDeadLettered, 'attempts used up'],
          ]),
          ...perLane('reconciler', 'Sum', [[LANE_METRICS.recordsCrashed, 'killed their workers']]),
        ],
        stacked: true,
      }),
      graph('Failed attempts, and what records wait for', {
        left: perLane('worker', 'Sum', [
          [LANE_METRICS.attemptsFailed, 'attempt failed'],
          [LANE_METRICS.deferralsForPace, 'waits for a slot'],
          [LANE_METRICS.deferralsForProvider, 'waits for a provider'],
          [LANE_METRICS.deferralsForPlatform, 'waits for AWS or time'],
        ]),
      }),
      graph('Dead letters', {
        left: Object.entries(queues).map(([label, { dlq }]) =>
          dlq.metricApproximateNumberOfMessagesVisible({ ...MAXIMUM, label }),
        ),
      }),
    ],
    [
      graph('Failed and throttled invocations', {
        left: functions.map(({ fn, label }) => fn.metricErrors({ ...SUM, label })),
        right: functions.map(({ fn, label }) => fn.metricThrottles({ ...SUM, label: `${label} throttled (right)` })),
      }),
      graph('Defects, and calls to AWS that failed', {
        left: [
          ...perLane('worker', 'Sum', [
            [LANE_METRICS.workerErrors, 'defects'],
            [LANE_METRICS.workerDependencyFailures, 'calls to AWS'],
          ]),
          ...unexpectedErrors.by.flatMap((by) => metrics(by, 'Sum', [[unexpectedErrors, `defects, ${by}`]])),
          ...dependencyFailures.by.flatMap((by) => metrics(by, 'Sum', [[dependencyFailures, `calls to AWS, ${by}`]])),
        ],
      }),
      graph('API: server errors, and latency (ms)', {
        left: [api.serverErrors],
        right: [api.latency('p50'), api.latency('p99')],
      }),
    ],
    [
      new LogQueryWidget({
        title: FAILURES_BY_REASON.name,
        view: LogQueryVisualizationType.TABLE,
        width: 24,
        height: 6,
        logGroupNames: functions.map(({ logGroup }) => logGroup.logGroupName),
        queryString: FAILURES_BY_REASON.query,
      }),
    ],
  ];
}
