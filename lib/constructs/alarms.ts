import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';

/** Where alarms go and what they point at. */
export interface AlarmTarget {
  readonly topic: ITopic;
  /** URL or path of the runbook. */
  readonly runbookUrl: string;
  /** Alarms of severity `page`, as constructs add them: what the one alarm of the stage is made of. */
  readonly pages: cloudwatch.IAlarm[];
  /** How many metrics all alarms look at, which is what is charged. */
  watchedMetrics: number;
}

/** Every construct that can fail asks for this: a target, or the reason why it is not watched. */
export type Alarms = AlarmTarget | { readonly unwatchedBecause: string };

export interface AlarmProps {
  readonly metric: cloudwatch.IMetric;
  readonly threshold: number;
  readonly comparison: cloudwatch.ComparisonOperator;
  /** Periods that are looked at. */
  readonly periods: number;
  /** How many of them must be bad. Default: all. */
  readonly datapoints?: number;
  readonly missingData: cloudwatch.TreatMissingData;
  /** `page`: customers feel it now. `ticket`: it can wait for the morning. */
  readonly severity: 'page' | 'ticket';
  /** What has happened, and in one sentence what a person should do. */
  readonly description: string;
  /** Anchor of the section in the runbook. */
  readonly runbookSection: string;
}

export const isWatched = (alarms: Alarms): alarms is AlarmTarget => 'topic' in alarms;

/** An alarm on an expression is charged for every metric in it. */
const metricsIn = (metric: cloudwatch.IMetric): number =>
  Object.keys(metric.toMetricConfig().mathExpression?.usingMetrics ?? { itself: metric }).length;

/** Creates an alarm on the topic, named by its place in the tree; nothing for a construct that is not watched. */
export function addAlarm(scope: Construct, id: string, alarms: Alarms, props: AlarmProps): void {
  if (!isWatched(alarms)) return;
  const action = new SnsAction(alarms.topic);
  const alarm = new cloudwatch.Alarm(scope, id, {
    alarmName: `${scope.node.path}/${id}`,
    alarmDescription: `[${props.severity}] ${props.description} ${alarms.runbookUrl}#${props.runbookSection}`,
    metric: props.metric,
    threshold: props.threshold,
    comparisonOperator: props.comparison,
    evaluationPeriods: props.periods,
    datapointsToAlarm: props.datapoints ?? props.periods,
    treatMissingData: props.missingData,
  });
  alarm.addAlarmAction(action);
  alarm.addOkAction(action);
  alarms.watchedMetrics += metricsIn(props.metric);
  if (props.severity === 'page') alarms.pages.push(alarm);
}
