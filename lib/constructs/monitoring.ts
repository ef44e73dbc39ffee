import { Duration, Stack } from 'aws-cdk-lib';
import { Dashboard } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { isWatched } from './alarms.ts';
import type { Api } from './api.ts';
import { costs } from './dashboard/costs.ts';
import { backlog, failures, slo } from './dashboard/pipeline.ts';
import { providers } from './dashboard/providers.ts';
import type { DashboardProps } from './dashboard/widgets.ts';
import { monitoringCost } from './metrics.ts';
import { PipelineFunction } from './pipeline-function.ts';
import { SavedQueries } from './saved-queries.ts';

export interface MonitoringProps extends Pick<DashboardProps, 'stage' | 'providers' | 'alarms' | 'queues' | 'tables'> {
  readonly api: Api;
}

/** The dashboard and the saved queries. To be made after everything that they show. */
export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, { api, ...props }: MonitoringProps) {
    super(scope, id);
    const { stage, alarms } = props;
    const functions = Stack.of(this)
      .node.findAll()
      .filter((construct) => construct instanceof PipelineFunction);
    new SavedQueries(this, 'Queries', {
      stageName: stage.name,
      functionLogs: functions.map(({ logGroup }) => logGroup),
      accessLog: api.accessLog,
    });
    const { deploymentStage } = api.restApi;
    const sum = { period: Duration.hours(1), statistic: 'Sum' };
    const shown = {
      ...props,
      functions,
      accessLog: api.accessLog,
      api: {
        count: deploymentStage.metricCount(sum),
        serverErrors: deploymentStage.metricServerError({ period: Duration.minutes(1), statistic: 'Sum' }),
        latency: (statistic: string) =>
          deploymentStage.metricLatency({ period: Duration.minutes(5), statistic, label: statistic }),
      },
    };
    const cost = monitoringCost(
      stage.name,
      props.providers.map(({ name }) => name),
      isWatched(alarms) ? alarms.watchedMetrics : 0,
    );
    // One page, read from the top.
    new Dashboard(new Construct(this, 'Page'), 'Dashboard', {
      dashboardName: `sluice-${stage.name}`,
      defaultInterval: Duration.hours(12),
      widgets: [...slo(shown), ...backlog(shown), ...failures(shown), ...providers(shown), ...costs(shown, cost)],
    });
  }
}
