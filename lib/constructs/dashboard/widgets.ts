import { Duration } from 'aws-cdk-lib';
import { GraphWidget, TextWidget, type GraphWidgetProps, type IMetric, type IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Stage } from '../../../config/stage.ts';
import { LANES, type Lane } from '../../../lambdas/domain/model.ts';
import type { ProviderConfig } from '../../../lambdas/domain/providers/config.ts';
import type { Emitter, MetricDefinition } from '../../../lambdas/runtime/metric-names.ts';
import type { Alarms } from '../alarms.ts';
import { pipelineMetric, type PipelineMetricProps } from '../metrics.ts';
import type { PipelineFunction } from '../pipeline-function.ts';
import type { QueueWithDlq } from '../queue-with-dlq.ts';

/** Everything that the dashboard shows something of. */
export interface DashboardProps {
  readonly stage: Stage;
  readonly providers: readonly ProviderConfig[];
  readonly alarms: Alarms;
  readonly queues: Readonly<
    Record<'small lane' | 'bulk lane' | 'fan-out' | 'prepare' | 'finalization' | 'webhooks', QueueWithDlq>
  >;
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

export const heading = (markdown: string): IWidget[] => [new TextWidget({ markdown, width: COLUMNS, height: 2 })];

export const LANE_LABELS: Readonly<Record<Lane, string>> = { small: 'small lane', bulk: 'bulk lane' };

export const PER_MINUTE = { period: Duration.minutes(1) };

type Labelled<E extends Emitter> = readonly [metric: MetricDefinition<E>, label: string];
type Of = PipelineMetricProps<Emitter>['of'];

/** Metrics that one function of the stage emits, by the same statistic; `of` one lane or provider where they have that dimension. */
export const metricsOf =
  (stageName: string) =>
  <E extends Emitter>(by: NoInfer<E>, statistic: string, metrics: readonly Labelled<E>[], of?: Of): IMetric[] =>
    metrics.map(([metric, label]) =>
      pipelineMetric<E>(metric, { stageName, by, statistic, label, ...(of === undefined ? {} : { of }) }),
    );

/** As {@link metricsOf}, of each lane. */
export const laneMetricsOf =
  (stageName: string) =>
  <E extends Emitter>(by: NoInfer<E>, statistic: string, metrics: readonly Labelled<E>[]): IMetric[] =>
    LANES.flatMap((lane) => {
      const labelled = metrics.map(([metric, label]): Labelled<E> => {
        return [metric, label === '' ? LANE_LABELS[lane] : `${label}, ${LANE_LABELS[lane]}`];
      });
      return metricsOf(stageName)<E>(by, statistic, labelled, { lane });
    });
