import { LANES } from '../../lambdas/domain/model.ts';
import {
  LANE_METRICS,
  METRIC_NAMESPACE,
  PROVIDER_METRICS,
  SERVICE_METRICS,
  type MetricDefinition,
} from '../../lambdas/runtime/metric-names.ts';

/** One series of values: CloudWatch finds nothing under other dimensions, and charges for every set of them. */
export interface MetricSeries {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
}

/** Every series that the functions of a stage emit. */
export function ownSeries(stageName: string, providerNames: readonly string[]): MetricSeries[] {
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
