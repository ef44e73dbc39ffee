import { Duration } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { METRIC_NAMESPACE, type Emitter, type MetricDefinition } from '../../lambdas/runtime/metric-names.ts';

export interface OwnMetricProps<E extends Emitter> {
  readonly stageName: string;
  /** The function whose series it is, one of those that emit the metric. */
  readonly by: E;
  /** The dimension beside service and stage, for metrics of lanes and of providers. */
  readonly of?: { readonly lane: string } | { readonly provider: string };
  readonly statistic: string;
  /** Default: a minute. */
  readonly period?: Duration;
  readonly label?: string;
}

/** A metric of lambdas/runtime/metric-names.ts as one function emits it, with exactly its dimensions. */
export const ownMetric = <E extends Emitter>(
  { name }: MetricDefinition<E>,
  { stageName, by, of, period = Duration.minutes(1), ...options }: OwnMetricProps<NoInfer<E>>,
): Metric =>
  new Metric({
    namespace: METRIC_NAMESPACE,
    metricName: name,
    dimensionsMap: { service: by, stage: stageName, ...of },
    period,
    ...options,
  });
