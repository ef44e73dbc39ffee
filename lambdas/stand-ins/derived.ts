import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { JsonTemplate, ProviderConfig } from '../domain/providers/config.ts';

/* What a stand-in needs to know of a provider is in its configuration: which requests it gets, and what its answers look like. */

/** A request below a provider's base URL. */
export interface StandInRequest {
  path: string;
  /** Without the question mark. */
  query: string;
  body: string;
}

export type RequestShape = Pick<ProviderConfig, 'path' | 'query' | 'body' | 'lookup'>;
export type AnswerShape = Pick<ProviderConfig, 'responseSchema' | 'output' | 'answers'>;

const PLACEHOLDER = /\{([^{}]*)\}/g;

/** Values of the lookup fields in a request, in their order; undefined for a request that the configuration does not make. */
export function lookupOf(
  { path, query = {}, body, lookup }: RequestShape,
  request: StandInRequest,
): string[] | undefined {
  const found = new Map<string, string>();
  const given = new URLSearchParams(request.query);
  const matches =
    takes(path, request.path, found, decode) &&
    Object.entries(query).every(([name, template]) => takes(template, given.get(name) ?? '', found)) &&
    (body === undefined || takesJson(body, parseJson(request.body), found));
  return matches ? lookup.map((field) => found.get(field) ?? '') : undefined;
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** Whether a text is one that a template makes; notes the values of its placeholders. */
function takes(
  template: string,
  text: string,
  found: Map<string, string>,
  decoded = (part: string): string => part,
): boolean {
  const fields: string[] = [];
  // A value in a path ends with its segment.
  const value = template.startsWith('/') ? '([^/]+)' : '(.*?)';
  const pattern = template.split(PLACEHOLDER).map((part, index) => {
    if (index % 2 === 0) return escaped(part);
    fields.push(part);
    return value;
  });
  const match = new RegExp(`^${pattern.join('')}$`, 's').exec(text);
  for (const [index, field] of fields.entries()) found.set(field, decoded(match?.[index + 1] ?? ''));
  return match !== null;
}

function takesJson(template: JsonTemplate, value: unknown, found: Map<string, string>): boolean {
  if (typeof template === 'string') return typeof value === 'string' && takes(template, value, found);
  if (typeof template !== 'object' || template === null) return template === value;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(template).every(([key, part]: [string, JsonTemplate]) =>
    takesJson(part, Reflect.get(value, key), found),
  );
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // Not percent-encoding at all: the provider looks for the text as it came.
    return part;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Keys that begin so are known to nobody. */
const UNKNOWN = /^unknown/i;

/** An answer about a key, always the same for the same key. */
export function derivedAnswer(shape: AnswerShape, parts: readonly string[]): { status: number; body: unknown } {
  const { responseSchema, output, answers: { foundAt } = {} } = shape;
  const data = sampleOf(responseSchema, parts.join('/'));
  const raw: unknown =
    output === undefined
      ? data
      : Object.entries(output).reduce<unknown>(
          (body, [name, pointer]) => put(body, pointer.split('/').slice(1), Reflect.get(Object(data), name)),
          undefined,
        );
  if (!parts.some((part) => UNKNOWN.test(part))) {
    const isComplete = foundAt === undefined || at(raw, foundAt) !== undefined;
    return { status: 200, body: isComplete ? raw : put(raw, foundAt.split('/').slice(1), 'found') };
  }
  if (foundAt !== undefined) return { status: 200, body: put({}, foundAt.split('/').slice(1), null) };
  return { status: 404, body: { error: { code: 'not_found', message: 'Nothing is known about it.' } } };
}

const at = (value: unknown, pointer: string): unknown =>
  pointer
    .split('/')
    .slice(1)
    .reduce<unknown>(
      (inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined),
      value,
    );

/** The body with a value at a place; numbers in the place are positions of a list. */
function put(body: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
  if (/^\d+$/.test(name)) {
    const list: unknown[] = Array.isArray(body) ? body.slice() : [];
    list[Number(name)] = put(list[Number(name)], rest, value);
    return list;
  }
  const inner: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  return { ...Object(body ?? {}), [name]: put(inner, rest, value) };
}

const schemaForm = v.looseObject({
  type: v.optional(v.union([v.string(), v.array(v.string())])),
  enum: v.optional(v.array(v.unknown())),
  const: v.optional(v.unknown()),
  properties: v.optional(v.record(v.string(), v.unknown())),
  items: v.optional(v.unknown()),
  minLength: v.optional(v.number()),
  maxLength: v.optional(v.number()),
  minimum: v.optional(v.number()),
  maximum: v.optional(v.number()),
});

/** A value that a JSON Schema describes, as far as types, enumerations and bounds say it. */
function sampleOf(schema: unknown, seed: string): unknown {
  const form = v.safeParse(schemaForm, schema);
  if (!form.success) return 'sample';
  const {
    type,
    enum: choices,
    const: only,
    properties,
    items,
    minLength = 1,
    maxLength = 200,
    minimum,
    maximum,
  } = form.output;
  if (only !== undefined) return only;
  if (choices !== undefined && choices.length > 0) return choices[number(seed) % choices.length];
  const [kind = properties === undefined ? 'string' : 'object'] = [type ?? []].flat().filter((name) => name !== 'null');
  switch (kind) {
    case 'object':
      return Object.fromEntries(
        Object.entries(properties ?? {}).map(([name, inner]) => [name, sampleOf(inner, `${seed}/${name}`)]),
      );
    case 'array':
      return [sampleOf(items, `${seed}/0`)];
    case 'boolean':
      return number(seed) % 2 === 0;
    case 'integer':
    case 'number': {
      const low = minimum ?? Math.min(0, maximum ?? 0);
      return low + (number(seed) % Math.max(1, Math.floor((maximum ?? low + 1_000) - low)));
    }
    default:
      return `sample ${hash(seed)}`.padEnd(minLength, 'x').slice(0, maxLength);
  }
}

const hash = (seed: string): string => createHash('sha256').update(seed).digest('hex').slice(0, 8);
const number = (seed: string): number => Number.parseInt(hash(seed), 16);
