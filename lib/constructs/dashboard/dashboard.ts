import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Duration } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import type { MonitoringCost } from '../monitoring-cost.ts';
import { backlog } from './backlog.ts';
import { costs } from './costs.ts';
import { failures } from './failures.ts';
import type { Shown } from './parts.ts';
import { promises } from './promises.ts';
import { providers } from './providers.ts';

export interface DashboardProps extends Shown {
  readonly monitoring: MonitoringCost;
}

/** One page, read from the top: promises, backlog, failures, providers, costs. */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    new cloudwatch.Dashboard(this, 'Dashboard', {
      dashboardName: `sluice-${props.stage.name}`,
      defaultInterval: Duration.hours(12),
      widgets: [
        ...promises(props),
        ...backlog(props),
        ...failures(props),
        ...providers(props),
        ...costs(props, props.monitoring),
      ],
    });
  }
}
