const MINUTE_MS = 60_000;
/** Single values kept per metric and minute, for percentiles; sums and extremes are exact beyond it. */
const MAX_VALUES = 10_000;

export type Dimensions = Readonly<Record<string, string>>;

/** What identifies a metric: CloudWatch adds up nothing over different dimensions. */
export interface MetricId {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Dimensions;
}

/** The values of one minute. */
export interface Datapoint {
  readonly minuteMs: number;
  sum: number;
  count: number;
  min: number;
  max: number;
  readonly values: number[];
}

interface Series {
  readonly id: MetricId;
  unit: string | undefined;
  readonly points: Map<number, Datapoint>;
}

/** Metrics in memory, in minutes, as CloudWatch keeps them. */
export class MetricStore {
  readonly #series = new Map<string, Series>();
  readonly #retentionMs: number;
  readonly #observers = new Set<(id: MetricId, minuteMs: number) => void>();

  /** @param retentionMs how long datapoints are kept; default a day and an hour */
  constructor(retentionMs = 25 * 60 * MINUTE_MS) {
    this.#retentionMs = retentionMs;
  }

  put(id: MetricId, value: number, atMs: number, unit?: string): void {
    const key = keyOf(id);
    let series = this.#series.get(key);
    if (series === undefined) this.#series.set(key, (series = { id, unit, points: new Map() }));
    series.unit ??= unit;
    const minuteMs = Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
    let point = series.points.get(minuteMs);
    if (point === undefined) {
      point = { minuteMs, sum: 0, count: 0, min: Infinity, max: -Infinity, values: [] };
      series.points.set(minuteMs, point);
      this.#forget(series, minuteMs - this.#retentionMs);
    }
    point.sum += value;
    point.count++;
    point.min = Math.min(point.min, value);
    point.max = Math.max(point.max, value);
    if (point.values.length < MAX_VALUES) point.values.push(value);
    for (const observer of this.#observers) observer(id, minuteMs);
  }

  /** Datapoints of one metric from `fromMs` up to, not including, `toMs`, in order of time. Empty where there are none. */
  points(id: MetricId, fromMs = 0, toMs = Infinity): Datapoint[] {
    const points = this.#series.get(keyOf(id))?.points;
    if (points === undefined) return [];
    // Alarms look at a few minutes of a day, every minute.
    if ((toMs - fromMs) / MINUTE_MS < points.size) return between(points, fromMs, toMs);
    return [...points.values()]
      .filter(({ minuteMs }) => minuteMs >= fromMs && minuteMs < toMs)
      .sort((a, b) => a.minuteMs - b.minuteMs);
  }

  /** Every metric that has ever had a value, with its unit. */
  list(): (MetricId & { readonly unit: string | undefined })[] {
    return [...this.#series.values()].map(({ id, unit }) => ({ ...id, unit }));
  }

  /** Told of every value as it comes. Call the returned function to stop observing. */
  observe(observer: (id: MetricId, minuteMs: number) => void): () => void {
    this.#observers.add(observer);
    return () => void this.#observers.delete(observer);
  }

  #forget(series: Series, beforeMs: number): void {
    // They came in the order of time, but for late ones, which go with those around them.
    for (const minuteMs of series.points.keys()) {
      if (minuteMs >= beforeMs) return;
      series.points.delete(minuteMs);
    }
  }
}

function between(points: ReadonlyMap<number, Datapoint>, fromMs: number, toMs: number): Datapoint[] {
  const found: Datapoint[] = [];
  for (let minuteMs = Math.ceil(fromMs / MINUTE_MS) * MINUTE_MS; minuteMs < toMs; minuteMs += MINUTE_MS) {
    const point = points.get(minuteMs);
    if (point !== undefined) found.push(point);
  }
  return found;
}

/** Alarms ask for the same metrics every minute. */
const keys = new WeakMap<MetricId, string>();

function keyOf(id: MetricId): string {
  const known = keys.get(id);
  if (known !== undefined) return known;
  const sorted = Object.entries(id.dimensions).sort(([a], [b]) => (a < b ? -1 : 1));
  const key = JSON.stringify([id.namespace, id.name, sorted]);
  keys.set(id, key);
  return key;
}
