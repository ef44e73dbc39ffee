import * as v from 'valibot';
import { invalidPart, ProblemError } from '../domain/api/problems.ts';
import type { ApiRequest, Caller } from '../domain/api/request.ts';
import { InvalidDataError } from '../domain/errors.ts';
import type { TimeBudget } from '../domain/time.ts';

type Members<T> = Readonly<Record<string, T | undefined>>;

const membersAre = (value: unknown, holds: (member: unknown) => boolean): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((member) => member === undefined || holds(member));
const isText = (value: unknown): boolean => typeof value === 'string';

/** Not records of the schema library: those pass over names like `constructor`, and nothing that was sent is passed over. */
const texts = v.nullish(
  v.custom<Members<string>>((value) => membersAre(value, isText)),
  {},
);
const textLists = v.nullish(
  v.custom<Members<string[]>>((value) => membersAre(value, (list) => Array.isArray(list) && list.every(isText))),
  {},
);

const eventSchema = v.object({
  resource: v.string(),
  path: v.string(),
  httpMethod: v.string(),
  headers: texts,
  multiValueHeaders: textLists,
  queryStringParameters: texts,
  multiValueQueryStringParameters: textLists,
  pathParameters: texts,
  body: v.nullish(v.string(), null),
  isBase64Encoded: v.optional(v.boolean(), false),
  requestContext: v.object({
    requestId: v.string(),
    path: v.optional(v.string()),
    domainName: v.optional(v.string()),
    authorizer: v.nullish(
      v.object({ tenantId: v.optional(v.string()), keyId: v.optional(v.string()), scopes: v.optional(v.string()) }),
    ),
  }),
});

/** A request as API Gateway's Lambda proxy integration (version 1.0) hands it over. */
export type ProxyEvent = v.InferOutput<typeof eventSchema>;

/** @throws InvalidDataError for anything else: the function was invoked by something that is no REST API. */
export function parseEvent(event: unknown): ProxyEvent {
  const parsed = v.safeParse(eventSchema, event);
  if (parsed.success) return parsed.output;
  const issue = parsed.issues[0];
  throw new InvalidDataError(`The event is not an API Gateway proxy event at ${v.getDotPath(issue) ?? 'its root'}.`);
}

/** Headers that mean nothing when they come twice; a caller that sends two gets neither guessed. */
const SINGLE_HEADERS: readonly string[] = [
  'authorization',
  'content-type',
  'content-encoding',
  'idempotency-key',
  'origin',
];

/** The request behind an event. Throws ProblemError for what no operation can use. */
export function requestOf(event: ProxyEvent, budget: TimeBudget): ApiRequest {
  const headers = headersOf(event);
  return {
    path: present(event.pathParameters),
    query: queryOf(event),
    headers,
    body: bodyOf(event),
    baseUrl: baseUrlOf(event, headers),
    budget,
  };
}

/** By lower-case name, whatever case the client or HTTP/2 gave them. Throws ProblemError for one that may only come once. */
function headersOf({ headers, multiValueHeaders }: ProxyEvent): Record<string, string> {
  const lists = new Map<string, string[]>();
  const given = Object.entries(multiValueHeaders).map(([name, values]): [string, string[]] => [name, values ?? []]);
  const single = Object.entries(headers).map(([name, value]): [string, string[]] => [
    name,
    value === undefined ? [] : [value],
  ]);
  for (const [name, values] of given.length > 0 ? given : single) {
    const key = name.toLowerCase();
    lists.set(key, [...(lists.get(key) ?? []), ...values]);
  }
  const merged: Record<string, string> = {};
  for (const [name, values] of lists) {
    if (values.length > 1 && SINGLE_HEADERS.includes(name)) {
      throw invalidPart({ header: name, detail: `The header ${name} was sent ${values.length} times.` });
    }
    if (values.length > 0) merged[name] = values.map((value) => value.trim()).join(', ');
  }
  return merged;
}

/** For answering errors, where nothing may be thrown: the first value of a header. */
export function headerOf({ headers, multiValueHeaders }: ProxyEvent, name: string): string | undefined {
  const match = ([key]: [string, unknown]): boolean => key.toLowerCase() === name;
  return Object.entries(multiValueHeaders).find(match)?.[1]?.[0] ?? Object.entries(headers).find(match)?.[1];
}

function queryOf({ queryStringParameters, multiValueQueryStringParameters }: ProxyEvent): Record<string, string> {
  for (const [parameter, values = []] of Object.entries(multiValueQueryStringParameters)) {
    if (values.length > 1) throw invalidPart({ parameter, detail: `${parameter} was given ${values.length} times.` });
  }
  return present(queryStringParameters);
}

/** The entries that have a value. No name can reach the prototype of what is made. */
function present(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const entries = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function bodyOf({ body, isBase64Encoded }: ProxyEvent): Uint8Array {
  if (body === null) return new Uint8Array();
  if (!isBase64Encoded) return Buffer.from(body);
  if (body.length % 4 !== 0 || !BASE64.test(body)) {
    throw new ProblemError('invalid_request', 'The body did not arrive as it was sent: its base64 is not valid.');
  }
  return Buffer.from(body, 'base64');
}

/** Where the API begins for this caller: its host, and what the gateway put before the path (the stage, or a base path). */
function baseUrlOf({ path, requestContext }: ProxyEvent, headers: Readonly<Record<string, string>>): string {
  const { domainName, path: fullPath = path } = requestContext;
  const prefix = fullPath.endsWith(path) ? fullPath.slice(0, fullPath.length - path.length) : '';
  if (domainName === undefined) return prefix;
  const scheme = headers['x-forwarded-proto'] === 'http' ? 'http' : 'https';
  return `${scheme}://${domainName}${prefix}`;
}

/** Who calls, as the authorizer said; undefined where there was none. */
export function callerOf({ requestContext }: ProxyEvent): Caller | undefined {
  const { tenantId, keyId, scopes } = requestContext.authorizer ?? {};
  if (tenantId === undefined || keyId === undefined) return undefined;
  return { tenantId, keyId, scopes: (scopes ?? '').split(' ') };
}
