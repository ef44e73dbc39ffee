import * as v from 'valibot';
import { ProblemError, invalidPart, type RequestIssue } from './problems.ts';
import { MAX_REQUEST_BYTES } from './schemas.ts';

type Place = 'pointer' | 'parameter';
type StrictSchema = v.StrictObjectSchema<v.ObjectEntries, v.ErrorMessage<v.StrictObjectIssue> | undefined>;

/** Deeper than any request is; parsers and serializers that recurse are not tried on more. */
const MAX_DEPTH = 8;
const MAX_ISSUES = 20;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a JSON object and holds it against `schema`; an empty body is an empty object.
 *
 * @throws ProblemError `invalid_json`, `body_too_large`, or `invalid_request` that names every wrong member.
 */
export function parseBody<S extends StrictSchema>(schema: S, body: Uint8Array): v.InferOutput<S> {
  if (body.byteLength > MAX_REQUEST_BYTES) {
    throw new ProblemError('body_too_large', `A JSON request has at most ${MAX_REQUEST_BYTES} bytes.`);
  }
  return check(schema, body.byteLength === 0 ? {} : parseJson(body), 'pointer');
}

/**
 * Holds the parameters of a query against `schema`.
 *
 * @throws ProblemError `invalid_request` that names every wrong parameter.
 */
export const parseQuery = <S extends StrictSchema>(
  schema: S,
  query: Readonly<Record<string, string>>,
): v.InferOutput<S> => check(schema, query, 'parameter');

function parseJson(body: Uint8Array): unknown {
  if (depthOf(body) > MAX_DEPTH) {
    throw new ProblemError('invalid_json', `The body is nested deeper than ${MAX_DEPTH} levels.`);
  }
  try {
    return JSON.parse(decoder.decode(body));
  } catch (cause) {
    throw new ProblemError('invalid_json', 'The body is not valid JSON in UTF-8.', { cause });
  }
}

function depthOf(body: Uint8Array): number {
  let depth = 0;
  let deepest = 0;
  let inText = false;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] ?? 0;
    if (inText) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inText = false;
    } else if (byte === QUOTE) inText = true;
    else if (OPENING.has(byte)) deepest = Math.max(deepest, ++depth);
    else if (CLOSING.has(byte)) depth--;
  }
  return deepest;
}

function check<S extends StrictSchema>(schema: S, value: unknown, place: Place): v.InferOutput<S> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ProblemError('invalid_json', 'The body must be a JSON object.');
  }
  const unknown = unknownMembers(schema, value, place);
  const parsed = v.safeParse(schema, value);
  const wrong = parsed.success
    ? []
    : parsed.issues
        .flatMap(alternatives)
        .filter(isNotAboutUnknown)
        .map((issue) => describe(issue, place));
  const issues = [...unknown, ...wrong].slice(0, MAX_ISSUES);
  const [first] = issues;
  if (first !== undefined) throw refusal(issues, first);
  if (!parsed.success) throw invalidPart({ detail: 'The request is not valid.' });
  return parsed.output;
}

const refusal = (issues: readonly RequestIssue[], first: RequestIssue): ProblemError =>
  new ProblemError('invalid_request', issues.length === 1 ? first.detail : `${issues.length} parts of it are wrong.`, {
    errors: issues,
  });

/** Found here and not by the schema, which overlooks names that every object inherits. */
function unknownMembers(schema: StrictSchema, value: object, place: Place): RequestIssue[] {
  const allowed = Object.keys(schema.entries);
  return Object.keys(value)
    .filter((name) => !Object.hasOwn(schema.entries, name))
    .map((name) => ({
      ...at(place, shorten(name)),
      detail: `${shorten(name)} is not known here: ${allowed.length > 0 ? `${allowed.join(', ')} are allowed` : 'nothing is allowed'}.`,
    }));
}

/** Of alternatives, what is wrong inside the one that was meant says more than that none fits. */
function alternatives(issue: v.BaseIssue<unknown>): v.BaseIssue<unknown>[] {
  const inner = issue.type === 'union' ? (issue.issues ?? []).filter(({ path }) => path !== undefined) : [];
  if (inner.length === 0) return [issue];
  return inner.flatMap((one) => {
    const [first, ...rest] = [...(issue.path ?? []), ...(one.path ?? [])];
    return alternatives(first === undefined ? one : { ...one, path: [first, ...rest] });
  });
}

const isNotAboutUnknown = ({ type, expected, path }: v.BaseIssue<unknown>): boolean =>
  !(type === 'strict_object' && expected === 'never' && path?.length === 1);

function describe(issue: v.BaseIssue<unknown>, place: Place): RequestIssue {
  const keys = (issue.path ?? []).map(({ key }) => shorten(String(key)));
  return { ...at(place, ...keys), detail: `${keys.join('.')}: ${problemOf(issue)}.` };
}

function problemOf({ type, expected, message }: v.BaseIssue<unknown>): string {
  if (type !== 'strict_object') return message;
  return expected === 'never' ? 'this is not known here' : 'a value is required';
}

const at = (place: Place, ...keys: readonly string[]): Pick<RequestIssue, Place> =>
  place === 'parameter' ? { parameter: keys.join('.') } : { pointer: pointerTo(keys) };

/** JSON pointer (RFC 6901). */
export const pointerTo = (keys: readonly string[]): string =>
  keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** Names come from the caller: no answer grows with them, and none carries half a character. */
const shorten = (name: string): string =>
  name.length > 60 ? `${name.slice(0, 60).toWellFormed()}…` : name.toWellFormed();
