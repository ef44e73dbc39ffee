import { LocalCloudError } from '../../errors.ts';
import type { MathNode } from './parse.ts';
import { finite, isPresent, type MathScope, type MathValue, type Series } from './values.ts';

interface Call {
  readonly args: readonly MathNode[];
  readonly scope: MathScope;
  readonly valueOf: (node: MathNode) => MathValue;
}

/** Undefined when the arguments do not fit. */
type MathFunction = (call: Call) => MathValue | undefined;

const series = (points: Series): MathValue => ({ kind: 'series', points });

/** Of one time series a number, of several a time series. */
const aggregate =
  (add: (values: readonly number[], of: number) => number): MathFunction =>
  ({ args, valueOf }) => {
    const [value, other] = args.map(valueOf);
    if (value === undefined || other !== undefined || value.kind === 'number') return undefined;
    if (value.kind === 'series') {
      return { kind: 'number', value: add(value.points.filter(isPresent), value.points.length) };
    }
    const { items } = value;
    return series(
      (items[0] ?? []).map((_, at) => {
        const present = items.map((points) => points[at]).filter(isPresent);
        return present.length === 0 ? undefined : add(present, items.length);
      }),
    );
  };

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The same for every time series it is given. */
const each =
  (change: (points: Series, scope: MathScope) => Series): MathFunction =>
  ({ args, scope, valueOf }) => {
    const [value, other] = args.map(valueOf);
    if (value === undefined || other !== undefined || value.kind === 'number') return undefined;
    if (value.kind === 'series') return series(change(value.points, scope));
    return { kind: 'list', items: value.items.map((points) => change(points, scope)) };
  };

const everyPoint = (change: (value: number) => number): MathFunction =>
  each((points) => points.map((value) => (value === undefined ? undefined : finite(change(value)))));

/** Each value minus the one before it, where there is one. */
const differences = (points: Series, perPeriod: (gap: number) => number): Series => {
  let last = -1;
  return points.map((value, at) => {
    if (value === undefined) return undefined;
    const before = last < 0 ? undefined : points[last];
    const gap = at - last;
    last = at;
    return before === undefined ? undefined : (value - before) / perPeriod(gap);
  });
};

/**
 * The functions of metric math that alarms may use,
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html#metric-math-syntax-functions-list
 */
export const FUNCTIONS: Readonly<Record<string, MathFunction>> = {
  ABS: everyPoint(Math.abs),
  CEIL: everyPoint(Math.ceil),
  FLOOR: everyPoint(Math.floor),
  SUM: aggregate((values) => sum(values)),
  // A missing value counts as 0.
  AVG: aggregate((values, of) => sum(values) / of),
  MIN: aggregate((values) => Math.min(...values)),
  MAX: aggregate((values) => Math.max(...values)),
  DIFF: each((points) => differences(points, () => 1)),
  RATE: each((points, { periodSeconds }) => differences(points, (gap) => gap * periodSeconds)),
  FILL: fill,
  IF: conditional,
  METRICS: ({ args, scope }) => {
    const [part, other] = args;
    if (other !== undefined || (part !== undefined && part.kind !== 'text')) return undefined;
    const ids = scope.metricIds.filter((id) => part === undefined || id.includes(part.value));
    return { kind: 'list', items: ids.map((id) => scope.query(id)) };
  },
  PERIOD: ({ args, scope }) => {
    const [metric] = args;
    if (metric?.kind !== 'name' || !scope.metricIds.includes(metric.name)) return undefined;
    return { kind: 'number', value: scope.periodSeconds };
  },
  TIME_SERIES: ({ args, scope, valueOf }) => {
    const [value] = args.map(valueOf);
    if (value?.kind !== 'number') return undefined;
    return series(Array.from({ length: scope.length }, () => value.value));
  },
};

/** Fills the gaps, also of a metric without a single value in the range. */
function fill({ args, valueOf }: Call): MathValue | undefined {
  const [target, filler] = args;
  if (target === undefined || filler === undefined || args.length > 2) return undefined;
  const filled = gapFiller(filler, valueOf);
  const value = valueOf(target);
  if (value.kind === 'series') return series(filled(value.points));
  return value.kind === 'list' ? { kind: 'list', items: value.items.map(filled) } : undefined;
}

function gapFiller(filler: MathNode, valueOf: Call['valueOf']): (points: Series) => Series {
  if (filler.kind === 'name' && filler.name === 'REPEAT') return repeated;
  if (filler.kind === 'name' && filler.name === 'LINEAR') {
    throw new LocalCloudError(
      'The local cloud does not know FILL(…, LINEAR) of metric math; it knows numbers and REPEAT.',
    );
  }
  const value = valueOf(filler);
  if (value.kind === 'list') throw new LocalCloudError('FILL of metric math fills with one value, not with a list.');
  return (points) => points.map((point, at) => point ?? (value.kind === 'number' ? value.value : value.points[at]));
}

function repeated(points: Series): Series {
  let last: number | undefined;
  return points.map((point) => (last = point ?? last));
}

/**
 * Where the condition has no value, or leads to a missing value of the third argument, there is none; a missing value of the
 * second argument counts as 0, https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html#using-IF-expressions
 */
function conditional({ args, valueOf }: Call): MathValue | undefined {
  const [condition, whenTrue, whenFalse] = args.map(valueOf);
  if (condition === undefined || whenTrue === undefined || args.length > 3) return undefined;
  if ([condition, whenTrue, whenFalse].some((value) => value?.kind === 'list')) return undefined;
  if (condition.kind === 'number') {
    const chosen = condition.value === 0 ? whenFalse : whenTrue;
    return chosen?.kind === 'series' ? chosen : undefined;
  }
  if (condition.kind !== 'series') return undefined;
  return series(
    condition.points.map((holds, at) => {
      if (holds === undefined) return undefined;
      return holds === 0 ? pointOf(whenFalse, at) : (pointOf(whenTrue, at) ?? 0);
    }),
  );
}

function pointOf(value: MathValue | undefined, at: number): number | undefined {
  if (value?.kind === 'number') return value.value;
  return value?.kind === 'series' ? value.points[at] : undefined;
}
