import { LogQueryVisualizationType, LogQueryWidget, type IMetric, type IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import { LANES } from '../../../lambdas/domain/model.ts';
import {
  LANE_METRICS,
  SERVICE_METRICS,
  type Emitter,
  type MetricDefinition,
} from '../../../lambdas/runtime/metric-names.ts';
import { FAILURES_BY_REASON } from '../saved-queries.ts';
import { graph, heading, LANE_LABELS, metricsOf, PER_MINUTE, type Shown } from './parts.ts';

const SUM = { ...PER_MINUTE, statistic: 'Sum' };

/** What is failing, and why? */
export function failures({ stage, queues, functions, api }: Shown): IWidget[][] {
  const own = metricsOf(stage.name);
  const perLane = (...metrics: readonly (readonly [MetricDefinition, string, Emitter?])[]): IMetric[] =>
    LANES.flatMap((lane) =>
      metrics.map(([metric, label, by = 'worker']) =>
        own(metric, { by, of: { lane }, statistic: 'Sum', label: `${label}, ${LANE_LABELS[lane]}` }),
      ),
    );
  return [
    [
      heading(
        '# What is failing, and why?\nRecords by their outcome, what they wait for, and what functions meet. Reasons, one by one, are in the table.',
      ),
    ],
    [
      graph('Outcomes of records', {
        left: perLane(
          [LANE_METRICS.recordsSucceeded, 'succeeded'],
          [LANE_METRICS.recordsFailed, 'refused as they are'],
          [LANE_METRICS.recordsDeadLettered, 'attempts used up'],
          [LANE_METRICS.recordsCrashed, 'killed their workers', 'reconciler'],
        ),
        stacked: true,
      }),
      graph('Failed attempts, and what records wait for', {
        left: perLane(
          [LANE_METRICS.attemptsFailed, 'attempt failed'],
          [LANE_METRICS.deferralsForPace, 'waits for its turn'],
          [LANE_METRICS.deferralsForProvider, 'waits for a provider'],
          [LANE_METRICS.deferralsForPlatform, 'waits for AWS or time'],
        ),
      }),
      graph('Dead letters', {
        left: Object.entries(queues).map(([label, { dlq }]) =>
          dlq.metricApproximateNumberOfMessagesVisible({ ...PER_MINUTE, statistic: 'Maximum', label }),
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
          ...perLane([LANE_METRICS.workerErrors, 'defects'], [LANE_METRICS.workerDependencyFailures, 'calls to AWS']),
          ...SERVICE_METRICS.unexpectedErrors.by.map((by) =>
            own(SERVICE_METRICS.unexpectedErrors, { by, statistic: 'Sum', label: `defects, ${by}` }),
          ),
          ...SERVICE_METRICS.dependencyFailures.by.map((by) =>
            own(SERVICE_METRICS.dependencyFailures, { by, statistic: 'Sum', label: `calls to AWS, ${by}` }),
          ),
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
