import { Duration, Stack } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { isWatched } from './alarms.ts';
import type { Api } from './api.ts';
import { Dashboard } from './dashboard/dashboard.ts';
import type { Shown } from './dashboard/parts.ts';
import { monitoringCost } from './monitoring-cost.ts';
import { PipelineFunction } from './pipeline-function.ts';
import { SavedQueries } from './saved-queries.ts';

export interface MonitoringProps extends Pick<Shown, 'stage' | 'providers' | 'alarms' | 'queues' | 'tables'> {
  readonly api: Api;
}

/** What people look at: the dashboard and the saved queries. To be made after everything that they show. */
export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, { api, ...props }: MonitoringProps) {
    super(scope, id);
    const { stage, providers, alarms } = props;
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
    new Dashboard(this, 'Page', {
      ...props,
      functions,
      accessLog: api.accessLog,
      api: {
        count: deploymentStage.metricCount(sum),
        serverErrors: deploymentStage.metricServerError({ period: Duration.minutes(1), statistic: 'Sum' }),
        latency: (statistic) =>
          deploymentStage.metricLatency({ period: Duration.minutes(5), statistic, label: statistic }),
      },
      monitoring: monitoringCost(
        stage.name,
        providers.map(({ name }) => name),
        isWatched(alarms) ? alarms.watchedMetrics : 0,
      ),
    });
  }
}
