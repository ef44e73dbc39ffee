import { LocalCloudError } from '../../errors.ts';
import { FUNCTIONS } from './functions.ts';
import { combine, negate } from './operators.ts';
import type { MathNode } from './parse.ts';
import type { MathScope, MathValue, Series } from './values.ts';

/**
 * The time series that an expression of metric math comes to.
 *
 * @throws LocalCloudError naming a function, id or type of value that is not known here
 */
export function evaluateMath(node: MathNode, scope: MathScope): Series {
  const value = valueOf(node, scope);
  if (value.kind === 'series') return value.points;
  throw new LocalCloudError(`An alarm watches one time series, but its expression gives a ${value.kind}.`);
}

function valueOf(node: MathNode, scope: MathScope): MathValue {
  switch (node.kind) {
    case 'number':
      return { kind: 'number', value: node.value };
    case 'text':
      throw new LocalCloudError(`The text ${JSON.stringify(node.value)} is no value of metric math.`);
    case 'name':
      return { kind: 'series', points: scope.query(node.name) };
    case 'list':
      return { kind: 'list', items: node.items.flatMap((item) => seriesIn(valueOf(item, scope))) };
    case 'negation':
      return negate(valueOf(node.operand, scope));
    case 'operation':
      return combine(node.operator, valueOf(node.left, scope), valueOf(node.right, scope));
    default:
      return call(node, scope);
  }
}

function seriesIn(value: MathValue): Series[] {
  if (value.kind === 'series') return [value.points];
  if (value.kind === 'list') return [...value.items];
  throw new LocalCloudError('A list of metric math holds time series only, not numbers.');
}

function call({ name, args }: Extract<MathNode, { kind: 'call' }>, scope: MathScope): MathValue {
  if (!Object.hasOwn(FUNCTIONS, name)) {
    const known = Object.keys(FUNCTIONS).join(', ');
    throw new LocalCloudError(`The local cloud does not know ${name} of metric math; it knows ${known}.`);
  }
  const value = FUNCTIONS[name]?.({ args, scope, valueOf: (node) => valueOf(node, scope) });
  if (value !== undefined) return value;
  throw new LocalCloudError(`${name} of metric math cannot be used with these ${args.length} arguments here.`);
}
