import type { Transition } from './alarms.ts';
import type { AlarmDefinition, MetricAlarm, Query } from './definitions.ts';

export interface Notification {
  readonly subject: string;
  readonly message: string;
}

/** https://docs.aws.amazon.com/sns/latest/api/API_Publish.html */
const MAX_SUBJECT = 100;

/**
 * What CloudWatch publishes to a topic about a transition, in its field names; only the region is told by its code, and not by
 * its name. https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Notify_Users_Alarm_Changes.html
 */
export function notificationOf(
  { alarm, atMs, from, to, reason, because }: Transition,
  { accountId, region }: { readonly accountId: string; readonly region: string },
): Notification {
  const stateChange = new Date(atMs).toISOString().replace('Z', '+0000');
  const message = {
    AlarmName: alarm.name,
    AlarmDescription: alarm.description,
    AWSAccountId: accountId,
    NewStateValue: to,
    NewStateReason: reason,
    StateChangeTime: stateChange,
    Region: region,
    AlarmArn: alarm.arn,
    OldStateValue: from,
    OKActions: alarm.actions.OK,
    AlarmActions: alarm.actions.ALARM,
    InsufficientDataActions: alarm.actions.INSUFFICIENT_DATA,
    ...(alarm.kind === 'metric'
      ? { Trigger: triggerOf(alarm) }
      : {
          AlarmRule: alarm.ruleText,
          TriggeringChildren: because.map(({ arn }) => ({
            Arn: arn,
            State: { Value: 'ALARM', Timestamp: stateChange },
          })),
        }),
  };
  return { subject: subjectOf(alarm, to, region), message: JSON.stringify(message) };
}

/** SNS takes ASCII without control characters, and not too much of it. */
const subjectOf = ({ name }: AlarmDefinition, to: string, region: string): string =>
  `${to}: "${name}" in ${region}`.replaceAll(/[^\x20-\x7E]/g, '?').slice(0, MAX_SUBJECT);

function triggerOf(alarm: MetricAlarm): object {
  const { watched, queries, periodSeconds, evaluationPeriods, datapointsToAlarm, comparison, threshold } = alarm;
  const rules = {
    Period: periodSeconds,
    EvaluationPeriods: evaluationPeriods,
    DatapointsToAlarm: datapointsToAlarm,
    ComparisonOperator: comparison,
    Threshold: threshold,
    TreatMissingData: alarm.missingData,
  };
  if (watched.kind === 'metric' && queries.length === 1) return { ...metricOf(watched), ...rules };
  return { Metrics: queries.map((query) => described(query, watched)), ...rules };
}

const metricOf = ({ metric, statistic }: Extract<Query, { kind: 'metric' }>): object => ({
  MetricName: metric.name,
  Namespace: metric.namespace,
  StatisticType: statistic.name.startsWith('p') ? 'ExtendedStatistic' : 'Statistic',
  Statistic: statistic.name,
  Dimensions: Object.entries(metric.dimensions).map(([name, value]) => ({ name, value })),
});

const described = (query: Query, watched: Query): object => ({
  Id: query.id,
  ReturnData: query === watched,
  ...(query.kind === 'math' ? { Expression: query.text } : { MetricStat: { Metric: metricOf(query) } }),
});
