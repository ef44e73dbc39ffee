import { Duration } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { priceOf } from '../../config/prices.ts';
import { LANES } from '../../lambdas/domain/model.ts';
import {
  LANE_METRICS,
  METRIC_NAMESPACE,
  PROVIDER_METRICS,
  SERVICE_METRICS,
  type Emitter,
  type MetricDefinition,
} from '../../lambdas/runtime/metric-names.ts';

export interface PipelineMetricProps<E extends Emitter> {
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
export const pipelineMetric = <E extends Emitter>(
  { name }: MetricDefinition<E>,
  { stageName, by, of, period = Duration.minutes(1), ...options }: PipelineMetricProps<NoInfer<E>>,
): Metric =>
  new Metric({
    namespace: METRIC_NAMESPACE,
    metricName: name,
    dimensionsMap: { service: by, stage: stageName, ...of },
    period,
    ...options,
  });

/** One series of values: CloudWatch finds nothing under other dimensions, and charges for every set of them. */
export interface MetricSeries {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
}

/** Every series that the functions of a stage emit. */
export function metricSeries(stageName: string, providerNames: readonly string[]): MetricSeries[] {
  const series = (metrics: Readonly<Record<string, MetricDefinition>>, of: readonly Record<string, string>[]) =>
    Object.values(metrics).flatMap(({ name, by }) =>
      by.flatMap((service) =>
        of.map((dimension) => ({
          namespace: METRIC_NAMESPACE,
          name,
          dimensions: { service, stage: stageName, ...dimension },
        })),
      ),
    );
  const lanes = LANES.map((lane) => ({ lane }));
  const providers = providerNames.map((provider) => ({ provider }));
  return [...series(LANE_METRICS, lanes), ...series(PROVIDER_METRICS, providers), ...series(SERVICE_METRICS, [{}])];
}

/** The most that watching a stage may cost: about what its tables and functions cost for some million records. */
export const MONITORING_CAP_USD = 65;

export interface MonitoringCost {
  readonly series: number;
  readonly alarmMetrics: number;
  readonly usdPerMonth: number;
}

/**
 * What watching a stage costs a month when every metric is emitted all the time: an upper bound, since CloudWatch charges for the
 * hours in which a series has values. Logs and their queries are charged by bytes and not included.
 *
 * @param alarmMetrics - Metrics that alarms look at; an alarm on an expression is charged for each metric in it.
 */
export function monitoringCost(
  stageName: string,
  providerNames: readonly string[],
  alarmMetrics: number,
): MonitoringCost {
  const series = metricSeries(stageName, providerNames).length;
  const usd =
    priceOf('metric', series) +
    priceOf('alarmMetric', alarmMetrics) +
    priceOf('compositeAlarm', 1) +
    priceOf('dashboard', 1);
  return { series, alarmMetrics, usdPerMonth: Math.round(usd * 100) / 100 };
}
