import { LocalCloudError } from '../../errors.ts';
import type { Operator } from './parse.ts';
import { finite, type MathValue, type Series } from './values.ts';

const truth = (holds: boolean): number => (holds ? 1 : 0);

const OPERATIONS: Readonly<Record<Operator, (left: number, right: number) => number>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '^': (left, right) => left ** right,
  '<': (left, right) => truth(left < right),
  '<=': (left, right) => truth(left <= right),
  '>': (left, right) => truth(left > right),
  '>=': (left, right) => truth(left >= right),
  '==': (left, right) => truth(left === right),
  '!=': (left, right) => truth(left !== right),
  AND: (left, right) => truth(left !== 0 && right !== 0),
  OR: (left, right) => truth(left !== 0 || right !== 0),
};

/**
 * Two values joined by an operator. Between two time series a value that only one of them lacks counts as 0; between a time
 * series and a number the result has the gaps of the time series.
 *
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html#metric-math-syntax-operators
 */
export function combine(operator: Operator, left: MathValue, right: MathValue): MathValue {
  if (left.kind === 'number' && right.kind === 'number') {
    return { kind: 'number', value: OPERATIONS[operator](left.value, right.value) };
  }
  if (left.kind === 'list') {
    return { kind: 'list', items: left.items.map((points, at) => joined(operator, seriesOf(points), pick(right, at))) };
  }
  if (right.kind === 'list') {
    return { kind: 'list', items: right.items.map((points) => joined(operator, left, seriesOf(points))) };
  }
  return { kind: 'series', points: joined(operator, left, right) };
}

export function negate(value: MathValue): MathValue {
  return combine('-', { kind: 'number', value: 0 }, value);
}

const seriesOf = (points: Series): MathValue => ({ kind: 'series', points });

function pick(value: MathValue, at: number): MathValue {
  if (value.kind !== 'list') return value;
  const points = value.items[at];
  if (points !== undefined) return seriesOf(points);
  throw new LocalCloudError('Two lists of time series are combined that are not equally long.');
}

function joined(operator: Operator, left: MathValue, right: MathValue): Series {
  const apply = (one: number | undefined, other: number | undefined): number | undefined =>
    one === undefined && other === undefined ? undefined : finite(OPERATIONS[operator](one ?? 0, other ?? 0));
  if (left.kind === 'series' && right.kind === 'series') {
    return left.points.map((value, at) => apply(value, right.points[at]));
  }
  if (left.kind === 'series' && right.kind === 'number') {
    return left.points.map((value) => (value === undefined ? undefined : apply(value, right.value)));
  }
  if (left.kind === 'number' && right.kind === 'series') {
    return right.points.map((value) => (value === undefined ? undefined : apply(left.value, value)));
  }
  throw new LocalCloudError(`${operator} of metric math cannot join a ${left.kind} and a ${right.kind}.`);
}
