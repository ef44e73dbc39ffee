import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';

/** Where alarms go and what they point at. */
export interface AlarmTarget {
  readonly topic: ITopic;
  /** URL or path of the runbook. */
  readonly runbookUrl: string;
  /** Alarms of severity `page`, as constructs add them: what the one alarm of the stage is made of. */
  readonly pages: cloudwatch.IAlarm[];
  /** Number of metrics in all alarms: AWS charges for each. */
  watchedMetrics: number;
}

/** Required by every construct that can fail: a target, or the reason why it is not watched. */
export type Alarms = AlarmTarget | { readonly unwatchedBecause: string };

export interface AlarmProps {
  readonly metric: cloudwatch.IMetric;
  readonly threshold: number;
  /** Default: at or above the threshold. */
  readonly comparison?: cloudwatch.ComparisonOperator;
  /** Periods that are looked at. Default 1. */
  readonly periods?: number;
  /** How many of them must be bad. Default: all. */
  readonly datapoints?: number;
  /** Default: not breaching, since nothing is emitted while nothing happens. */
  readonly missingData?: cloudwatch.TreatMissingData;
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
  const { comparison, periods = 1, missingData } = props;
  const alarm = new cloudwatch.Alarm(scope, id, {
    alarmName: `${scope.node.path}/${id}`,
    alarmDescription: `[${props.severity}] ${props.description} ${alarms.runbookUrl}#${props.runbookSection}`,
    metric: props.metric,
    threshold: props.threshold,
    comparisonOperator: comparison ?? cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    evaluationPeriods: periods,
    datapointsToAlarm: props.datapoints ?? periods,
    treatMissingData: missingData ?? cloudwatch.TreatMissingData.NOT_BREACHING,
  });
  notify(alarm, alarms);
  alarms.watchedMetrics += metricsIn(props.metric);
  if (props.severity === 'page') alarms.pages.push(alarm);
}

function notify(alarm: cloudwatch.AlarmBase, { topic }: AlarmTarget): void {
  const action = new SnsAction(topic);
  alarm.addAlarmAction(action);
  alarm.addOkAction(action);
}

/**
 * One alarm for the pager: it rings as long as any alarm of severity `page` does, and once for all that ring together. To be
 * made after everything that has alarms.
 */
export class PageAlarm extends Construct {
  constructor(scope: Construct, id: string, { alarms }: { readonly alarms: Alarms }) {
    super(scope, id);
    if (!isWatched(alarms)) return;
    const { AlarmRule, AlarmState } = cloudwatch;
    const alarm = new cloudwatch.CompositeAlarm(this, 'Alarm', {
      compositeAlarmName: this.node.path,
      alarmDescription:
        '[page] Customers are affected: see which alarms ring, and start with the one that names the cause most closely. ' +
        `${alarms.runbookUrl}#which-alarm-first`,
      alarmRule: AlarmRule.anyOf(...alarms.pages.map((page) => AlarmRule.fromAlarm(page, AlarmState.ALARM))),
    });
    notify(alarm, alarms);
  }
}
