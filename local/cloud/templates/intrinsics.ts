import type { Json, JsonObject } from '../contract.ts';
import { LocalCloudError } from '../errors.ts';

/** What the names in a template mean at the place that is being evaluated. */
export interface Scope {
  /** Stack, logical id and property, for error messages. */
  readonly place: string;
  /** A resource's `Ref`, a parameter or a pseudo parameter; undefined when there is no such name. */
  ref(name: string): Json | undefined;
  getAtt(logicalId: string, attribute: string): Json;
  importValue(name: string): Json;
  condition(name: string): boolean;
  mapping(map: string, first: string, second: string): Json;
}

/** What `AWS::NoValue` evaluates to: the property it stands for is left out. */
const NO_VALUE = Symbol('AWS::NoValue');
type Evaluated = Json | typeof NO_VALUE;

/**
 * Evaluates every intrinsic function in a template value.
 *
 * @throws LocalCloudError for an intrinsic that is not known, or whose arguments are not what they must be
 */
export function evaluate(value: Json, scope: Scope): Json {
  const result = evaluateAny(value, scope);
  return result === NO_VALUE ? null : result;
}

/** Evaluates a condition of a template's `Conditions` section. */
export function evaluateCondition(value: Json, scope: Scope): boolean {
  const call = intrinsicOf(value);
  if (call === undefined) return fail(scope, `${JSON.stringify(value)} is not a condition`);
  const [name, argument] = call;
  if (name === 'Condition') return scope.condition(asText(argument, scope, name));
  const items = asList(argument, scope, name);
  switch (name) {
    case 'Fn::Equals':
      return JSON.stringify(evaluate(items[0] ?? null, scope)) === JSON.stringify(evaluate(items[1] ?? null, scope));
    case 'Fn::Not':
      return !evaluateCondition(items[0] ?? null, scope);
    case 'Fn::And':
      return items.every((item) => evaluateCondition(item, scope));
    case 'Fn::Or':
      return items.some((item) => evaluateCondition(item, scope));
    default:
      return fail(scope, `${name} is not a condition function`);
  }
}

function evaluateAny(value: Json, scope: Scope): Evaluated {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    return value.map((item) => evaluateAny(item, scope)).filter((item) => item !== NO_VALUE);
  }
  const call = intrinsicOf(value);
  if (call !== undefined) return evaluateCall(call[0], call[1], scope);
  const result: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    const evaluated = evaluateAny(item, scope);
    if (evaluated !== NO_VALUE) result[key] = evaluated;
  }
  return result;
}

function evaluateCall(name: string, argument: Json, scope: Scope): Evaluated {
  switch (name) {
    case 'Ref':
      return evaluateRef(asText(argument, scope, name), scope);
    case 'Fn::GetAtt':
      return evaluateGetAtt(argument, scope);
    case 'Fn::ImportValue':
      return scope.importValue(asText(evaluate(argument, scope), scope, name));
    case 'Fn::Join':
      return evaluateJoin(argument, scope);
    case 'Fn::Sub':
      return evaluateSub(argument, scope);
    case 'Fn::Select':
      return evaluateSelect(argument, scope);
    case 'Fn::Split': {
      const [separator, source] = asList(argument, scope, name);
      return asText(evaluate(source ?? null, scope), scope, name).split(asText(separator ?? null, scope, name));
    }
    case 'Fn::If': {
      const [condition, whenTrue, whenFalse] = asList(argument, scope, name);
      const chosen = scope.condition(asText(condition ?? null, scope, name)) ? whenTrue : whenFalse;
      return evaluateAny(chosen ?? null, scope);
    }
    case 'Fn::FindInMap': {
      const [map, first, second] = asList(argument, scope, name).map((item) =>
        asText(evaluate(item, scope), scope, name),
      );
      return scope.mapping(map ?? '', first ?? '', second ?? '');
    }
    case 'Fn::Base64':
      return Buffer.from(asText(evaluate(argument, scope), scope, name)).toString('base64');
    case 'Fn::ToJsonString':
      return JSON.stringify(evaluate(argument, scope));
    default:
      return fail(scope, `${name} is not an intrinsic function that the local cloud evaluates`);
  }
}

function evaluateRef(name: string, scope: Scope): Evaluated {
  if (name === 'AWS::NoValue') return NO_VALUE;
  return scope.ref(name) ?? fail(scope, `Ref names ${name}, which the template does not declare`);
}

function evaluateGetAtt(argument: Json, scope: Scope): Json {
  const parts = typeof argument === 'string' ? argument.split(/\.(.*)/s) : asList(argument, scope, 'Fn::GetAtt');
  return scope.getAtt(asText(parts[0] ?? null, scope, 'Fn::GetAtt'), asText(parts[1] ?? null, scope, 'Fn::GetAtt'));
}

function evaluateJoin(argument: Json, scope: Scope): string {
  const [separator, items] = asList(argument, scope, 'Fn::Join');
  return asList(evaluate(items ?? null, scope), scope, 'Fn::Join')
    .map((item) => asText(item, scope, 'Fn::Join'))
    .join(asText(separator ?? null, scope, 'Fn::Join'));
}

function evaluateSub(argument: Json, scope: Scope): string {
  const [pattern, variables] = Array.isArray(argument) ? argument : [argument];
  const local = variables === undefined ? {} : evaluate(variables, scope);
  return asText(pattern ?? null, scope, 'Fn::Sub').replaceAll(/\$\{([^}]+)\}/g, (whole, name: string) => {
    if (name.startsWith('!')) return `\${${name.slice(1)}}`;
    const own = typeof local === 'object' && local !== null && !Array.isArray(local) ? local[name] : undefined;
    if (own !== undefined) return asText(own, scope, whole);
    return asText(name.includes('.') ? evaluateGetAtt(name, scope) : (scope.ref(name) ?? null), scope, whole);
  });
}

function evaluateSelect(argument: Json, scope: Scope): Json {
  const [index, items] = asList(argument, scope, 'Fn::Select');
  const list = asList(evaluate(items ?? null, scope), scope, 'Fn::Select');
  return (
    list[Number(evaluate(index ?? null, scope))] ?? fail(scope, `Fn::Select finds no item ${JSON.stringify(index)}`)
  );
}

function intrinsicOf(value: Json): [name: string, argument: Json] | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  const [name, argument] = entries[0] ?? ['', null];
  const isIntrinsic = entries.length === 1 && (name === 'Ref' || name === 'Condition' || name.startsWith('Fn::'));
  // A policy statement's `Condition` is an object; a reference to a condition is a name.
  if (name === 'Condition' && typeof argument !== 'string') return undefined;
  return isIntrinsic ? [name, argument] : undefined;
}

function asText(value: Json, scope: Scope, name: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return fail(scope, `${name} needs text where it has ${JSON.stringify(value)}`);
}

function asList(value: Json, scope: Scope, name: string): Json[] {
  return Array.isArray(value) ? value : fail(scope, `${name} needs a list where it has ${JSON.stringify(value)}`);
}

function fail(scope: Scope, problem: string): never {
  throw new LocalCloudError(`${scope.place}: ${problem}.`);
}
