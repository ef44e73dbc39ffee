import { Duration } from 'aws-cdk-lib';
import { GraphWidget, TextWidget, type GraphWidgetProps, type IMetric, type IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Stage } from '../../../config/stage.ts';
import type { Lane as LaneName } from '../../../lambdas/domain/model.ts';
import type { ProviderConfig } from '../../../lambdas/domain/providers/config.ts';
import type { Emitter, MetricDefinition } from '../../../lambdas/runtime/metric-names.ts';
import type { Alarms } from '../alarms.ts';
import { ownMetric, type OwnMetricProps } from '../own-metric.ts';
import type { PipelineFunction } from '../pipeline-function.ts';
import type { QueueWithDlq } from '../queue-with-dlq.ts';

/** Everything that a dashboard shows something of. */
export interface Shown {
  readonly stage: Stage;
  readonly providers: readonly ProviderConfig[];
  readonly alarms: Alarms;
  readonly queues: Readonly<Record<'small lane' | 'bulk lane' | 'fan-out' | 'finalization', QueueWithDlq>>;
  readonly functions: readonly PipelineFunction[];
  readonly api: { readonly count: IMetric; readonly serverErrors: IMetric; readonly latency: (p: string) => IMetric };
  readonly tables: readonly ITable[];
  readonly accessLog: ILogGroup;
}

/** Columns of a dashboard. */
const COLUMNS = 24;
const HEIGHT = 6;

export const graph = (title: string, props: GraphWidgetProps, columns = 1 / 3): IWidget =>
  new GraphWidget({
    title,
    width: COLUMNS * columns,
    height: HEIGHT,
    leftYAxis: { min: 0, showUnits: false },
    rightYAxis: { min: 0, showUnits: false },
    ...props,
  });

export const heading = (markdown: string, height = 2): IWidget => new TextWidget({ markdown, width: COLUMNS, height });

/** Metrics of the stage's functions. */
export const metricsOf =
  (stageName: string) =>
  <E extends Emitter>(definition: MetricDefinition<E>, props: Omit<OwnMetricProps<NoInfer<E>>, 'stageName'>): IMetric =>
    ownMetric(definition, { stageName, ...props });

export const LANE_LABELS: Readonly<Record<LaneName, string>> = { small: 'small lane', bulk: 'bulk lane' };

export const PER_MINUTE = { period: Duration.minutes(1) };
