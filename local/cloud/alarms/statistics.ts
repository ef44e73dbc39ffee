import { LocalCloudError } from '../errors.ts';
import type { Datapoint, MetricId, MetricStore } from '../metrics/store.ts';
import type { Series } from './math/values.ts';

export interface Statistic {
  /** As templates name it. */
  readonly name: string;
  /** Makes one value of the datapoints of a period. */
  readonly of: (points: readonly Datapoint[]) => number;
}

const sum = (points: readonly Datapoint[]): number => points.reduce((total, point) => total + point.sum, 0);
const samples = (points: readonly Datapoint[]): number => points.reduce((total, { count }) => total + count, 0);

const STATISTICS: Readonly<Record<string, Statistic['of']>> = {
  Sum: sum,
  SampleCount: samples,
  Average: (points) => sum(points) / samples(points),
  Minimum: (points) => Math.min(...points.map(({ min }) => min)),
  Maximum: (points) => Math.max(...points.map(({ max }) => max)),
};

/**
 * A statistic by its name in a template: `Sum`, `Average`, `Minimum`, `Maximum`, `SampleCount` or a percentile such as `p99`.
 *
 * @throws LocalCloudError for any other
 */
export function parseStatistic(name: string): Statistic {
  const known = Object.hasOwn(STATISTICS, name) ? STATISTICS[name] : undefined;
  if (known !== undefined) return { name, of: known };
  const percent = Number(/^p(\d{1,2}(?:\.\d+)?|100)$/.exec(name)?.[1] ?? NaN);
  if (Number.isNaN(percent)) {
    throw new LocalCloudError(`the statistic ${name} is not known; use ${Object.keys(STATISTICS).join(', ')} or pNN.`);
  }
  return {
    name,
    of: (points) =>
      percentile(
        points.flatMap(({ values }) => values),
        percent,
      ),
  };
}

/** The smallest value that so many percent of the values do not exceed. */
function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = Math.max(1, Math.ceil((percent / 100) * sorted.length));
  return sorted[rank - 1] ?? NaN;
}

export interface Periods {
  /** End of the last period, ms since the epoch, at a full minute. */
  readonly endMs: number;
  readonly periodSeconds: number;
  readonly count: number;
}

/** Values of consecutive periods, the oldest first; undefined for those in which nothing was reported. */
export function seriesOf(
  store: MetricStore,
  metric: MetricId,
  statistic: Statistic,
  { endMs, periodSeconds, count }: Periods,
): Series {
  const periodMs = periodSeconds * 1000;
  const startMs = endMs - count * periodMs;
  const reported = store.points(metric, startMs, endMs);
  if (reported.length === 0) return Array.from({ length: count }, () => undefined);
  const periods: Datapoint[][] = Array.from({ length: count }, () => []);
  for (const point of reported) {
    periods[Math.floor((point.minuteMs - startMs) / periodMs)]?.push(point);
  }
  return periods.map((points) => (points.length === 0 ? undefined : statistic.of(points)));
}
