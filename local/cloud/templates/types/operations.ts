import { HARMLESS, type ResourceModel, withoutArn, words } from './model.ts';

/** Logs, alarms and dashboards. */
export const operationsTypes: Readonly<Record<string, ResourceModel>> = {
  'AWS::Logs::LogGroup': {
    understood: ['LogGroupName', 'RetentionInDays'],
    harmless: {
      DataProtectionPolicy: 'logs stay in memory here',
      DeletionProtectionEnabled: HARMLESS.deletion,
      KmsKeyId: HARMLESS.encryption,
      LogGroupClass: 'only changes the price and what can be queried',
      Tags: HARMLESS.tags,
    },
    identify: (naming) => {
      const name = naming.name('LogGroupName', 512);
      const arn = naming.arn('logs', `log-group:${name}:*`);
      return { physicalId: name, arn, attributes: { Arn: arn } };
    },
  },
  'AWS::Logs::MetricFilter': withoutArn(
    ['FilterName', 'FilterPattern', 'LogGroupName', 'MetricTransformations'],
    (naming) => naming.name('FilterName', 512),
  ),
  'AWS::Logs::QueryDefinition': withoutArn([], (naming) => naming.uuid(), {
    LogGroupNames: 'saved queries are for the console',
    Name: 'saved queries are for the console',
    Parameters: 'saved queries are for the console',
    QueryLanguage: 'saved queries are for the console',
    QueryString: 'saved queries are for the console',
  }),
  'AWS::CloudWatch::Alarm': {
    understood: words(`
        ActionsEnabled AlarmActions AlarmDescription AlarmName ComparisonOperator DatapointsToAlarm
        Dimensions EvaluateLowSampleCountPercentile EvaluationPeriods ExtendedStatistic
        InsufficientDataActions MetricName Metrics Namespace OKActions Period Statistic Threshold
        ThresholdMetricId TreatMissingData Unit`),
    harmless: { Tags: HARMLESS.tags },
    identify: (naming) => {
      const name = naming.name('AlarmName', 255);
      const arn = naming.arn('cloudwatch', `alarm:${name}`);
      return { physicalId: name, arn, attributes: { Arn: arn } };
    },
  },
  'AWS::CloudWatch::CompositeAlarm': {
    understood: words(`
        ActionsEnabled ActionsSuppressor ActionsSuppressorExtensionPeriod ActionsSuppressorWaitPeriod
        AlarmActions AlarmDescription AlarmName AlarmRule InsufficientDataActions OKActions`),
    harmless: { Tags: HARMLESS.tags },
    identify: (naming) => {
      const name = naming.name('AlarmName', 255);
      const arn = naming.arn('cloudwatch', `alarm:${name}`);
      return { physicalId: name, arn, attributes: { Arn: arn } };
    },
  },
  'AWS::CloudWatch::Dashboard': {
    understood: ['DashboardBody', 'DashboardName'],
    harmless: { Tags: HARMLESS.tags },
    identify: (naming) => {
      const name = naming.name('DashboardName', 255);
      const arn = naming.globalArn('cloudwatch', `dashboard/${name}`);
      return { physicalId: name, arn, attributes: {} };
    },
  },
};
