import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { Lane as LaneName } from '../../lambdas/domain/model.ts';
import { LANE_METRICS, SERVICE_METRICS } from '../../lambdas/runtime/metric-names.ts';
import { addAlarm } from './alarms.ts';
import { MISCONFIGURATION_PERIOD, NEWER_MESSAGES_PERIOD, watchErrors, watchNewerMessages } from './error-alarms.ts';
import { pipelineMetric } from './metrics.ts';
import type { FunctionSettings } from './pipeline-function.ts';

export interface LaneAlarmsProps {
  readonly lane: LaneName;
  readonly queue: Queue;
  readonly settings: FunctionSettings;
  readonly contractAgeSeconds: number;
  /** Records that the lane can finish within its contract when it has all of the providers' pace, or that admission lets in, if that is less. */
  readonly clearableRecords: number;
}

/** Minutes without any outcome, while messages wait, after which a lane stands. Retries of a single record take less than one. */
const GRACE_MINUTES = 10;

const AT_LEAST = ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD;
const PER_MINUTE = { period: Duration.minutes(1), statistic: 'Maximum' };

/** The alarms about a lane as a whole; those of its queue and its function are theirs. */
export function watchLane(scope: Construct, props: LaneAlarmsProps): void {
  watchLedger(scope, props);
  watchProgress(scope, props);
  watchBacklog(scope, props);
  watchMessages(scope, props);
  const { settings, lane } = props;
  const metric = { stageName: settings.stageName, by: 'worker', of: { lane } } as const;
  watchErrors(scope, {
    alarms: settings.alarms,
    what: `Workers of the ${lane} lane`,
    errors: pipelineMetric(LANE_METRICS.workerErrors, { ...metric, statistic: 'Sum', period: Duration.minutes(5) }),
    dependencyFailures: pipelineMetric(LANE_METRICS.workerDependencyFailures, {
      ...metric,
      statistic: 'Sum',
      period: Duration.minutes(5),
    }),
    misconfigurations: pipelineMetric(LANE_METRICS.workerMisconfigurations, {
      ...metric,
      statistic: 'Sum',
      period: MISCONFIGURATION_PERIOD,
    }),
  });
}

/** The honest age: a record that waits is sent again, which makes its message young. */
function watchLedger(scope: Construct, { lane, settings, contractAgeSeconds }: LaneAlarmsProps): void {
  addAlarm(scope, 'OldestUnfinished', settings.alarms, {
    metric: pipelineMetric(LANE_METRICS.oldestUnfinished, {
      stageName: settings.stageName,
      by: 'reconciler',
      of: { lane },
      statistic: 'Maximum',
    }),
    threshold: contractAgeSeconds * 1_000,
    comparison: AT_LEAST,
    periods: 5,
    // Runs are a minute apart, give or take: now and then a minute has none.
    datapoints: 4,
    // Without the reconciler there is no figure, and its own alarm rings.
    missingData: TreatMissingData.NOT_BREACHING,
    severity: 'page',
    description: `The oldest submission of the ${lane} lane takes longer than promised: ask what it waits for with npm run where.`,
    runbookSection: 'work-waits-too-long',
  });
}

function watchProgress(scope: Construct, { lane, queue, settings }: LaneAlarmsProps): void {
  addAlarm(scope, 'NothingFinishes', settings.alarms, {
    metric: new MathExpression({
      // In flight does not count: one record that kills its workers is hidden for minutes, with nothing else to do in a quiet night.
      // A provider that is out explains the silence, and has alarms of its own; the reconciler's own silence explains nothing.
      expression: 'IF(visible + delayed > 0 AND FILL(finished, 0) == 0 AND FILL(troubled, 0) == 0, 1, 0)',
      usingMetrics: {
        visible: queue.metricApproximateNumberOfMessagesVisible(PER_MINUTE),
        delayed: queue.metricApproximateNumberOfMessagesDelayed(PER_MINUTE),
        finished: pipelineMetric(LANE_METRICS.recordAge, {
          stageName: settings.stageName,
          by: 'worker',
          of: { lane },
          statistic: 'SampleCount',
        }),
        troubled: pipelineMetric(SERVICE_METRICS.troubledProviders, {
          stageName: settings.stageName,
          by: 'reconciler',
          statistic: 'Maximum',
        }),
      },
      period: Duration.minutes(1),
      label: 'work waits and nothing finishes',
    }),
    threshold: 1,
    comparison: AT_LEAST,
    periods: GRACE_MINUTES,
    missingData: TreatMissingData.NOT_BREACHING,
    severity: 'page',
    description: `Messages wait in the ${lane} lane and no record finishes, although no provider is stopped: find out whether the workers run and what they wait for.`,
    runbookSection: 'nothing-finishes',
  });
}

function watchBacklog(scope: Construct, { lane, queue, settings, clearableRecords }: LaneAlarmsProps): void {
  addAlarm(scope, 'Backlog', settings.alarms, {
    metric: new MathExpression({
      expression: 'visible + inFlight + delayed',
      usingMetrics: {
        visible: queue.metricApproximateNumberOfMessagesVisible(PER_MINUTE),
        inFlight: queue.metricApproximateNumberOfMessagesNotVisible(PER_MINUTE),
        delayed: queue.metricApproximateNumberOfMessagesDelayed(PER_MINUTE),
      },
      period: Duration.minutes(1),
      label: 'messages',
    }),
    threshold: clearableRecords,
    comparison: ComparisonOperator.GREATER_THAN_THRESHOLD,
    periods: 5,
    missingData: TreatMissingData.NOT_BREACHING,
    severity: 'ticket',
    description: `The ${lane} lane holds more than the providers' rates can clear in the promised time: raise the rates or admit less.`,
    runbookSection: 'backlog-beyond-capacity',
  });
}

/** Messages that no record can be processed from. */
function watchMessages(scope: Construct, { lane, settings }: LaneAlarmsProps): void {
  const figure = (metric: (typeof LANE_METRICS)['messagesDeadLettered' | 'newerMessages'], period: Duration) =>
    pipelineMetric(metric, {
      stageName: settings.stageName,
      by: 'worker',
      of: { lane },
      statistic: 'Sum',
      period,
    });
  addAlarm(scope, 'MessagesSetApart', settings.alarms, {
    threshold: 1,
    severity: 'ticket',
    metric: figure(LANE_METRICS.messagesDeadLettered, Duration.minutes(5)),
    description: `The ${lane} lane received messages that cannot be read or whose submission does not know of them: look at their reason in the dead-letter queue.`,
    runbookSection: 'messages-set-apart',
  });
  watchNewerMessages(scope, {
    alarms: settings.alarms,
    what: `The ${lane} lane`,
    metric: figure(LANE_METRICS.newerMessages, NEWER_MESSAGES_PERIOD),
  });
}
