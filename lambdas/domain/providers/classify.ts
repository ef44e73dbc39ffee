import type { ProviderAnswer } from '../model.ts';
import type { TransportFailure, TransportResult } from './ports.ts';
import type { AnswerClass, AnswerTable } from './config.ts';
import type { SchemaCheck } from '../records/validation.ts';
import { readWaitHint } from './wait-hint.ts';

export type TransientReason = 'provider_unavailable' | 'provider_timeout' | 'provider_bad_response';

/** What one call means for the record. Details never hold what the record or the provider said. */
export type CallOutcome =
  | { kind: 'answer'; answer: ProviderAnswer }
  | { kind: 'permanent'; reason: 'provider_rejected'; detail: string }
  /** With `limitsFleet` the provider asked everybody to wait: a 503 with Retry-After. */
  | { kind: 'transient'; reason: TransientReason; detail: string; retryAfterMs?: number; limitsFleet?: true }
  | { kind: 'throttled'; detail: string; retryAfterMs?: number }
  /** The answer is being prepared: this record is to be asked about again later. */
  | { kind: 'not_ready'; detail: string; retryAfterMs?: number }
  | { kind: 'auth'; detail: string };

/** What classification needs to know of a provider. */
export interface AnswerRules {
  name: string;
  answers: AnswerTable & { statuses: Readonly<Record<string, AnswerClass>>; output?: Readonly<Record<string, string>> };
  maxBodyBytes: number;
  checkBody: SchemaCheck;
}

type Response = Extract<TransportResult, { kind: 'response' }>;

/** Understands a provider's answer by its table. Pure; `nowMs` is for a `Retry-After` that is a date. */
export function classify(rules: AnswerRules, result: TransportResult, nowMs: number): CallOutcome {
  if (result.kind === 'failure') return transportFailure(rules.name, result.cause);
  const { status } = result;
  // A redirect is never followed, whatever the table says: it would carry the credential to another place.
  if (status >= 300 && status < 400) return badResponse(rules, `answered with a redirect (${status})`);
  const answerClass = classOfStatus(rules.answers, status);
  if (answerClass === undefined) return badResponse(rules, `answered with an unexpected status (${status})`);
  if (answerClass === 'found') return readBody(rules, result, nowMs);
  return byClass(rules, answerClass, result, nowMs, `answered with status ${status}`);
}

/** The exact status wins over its family. */
function classOfStatus({ statuses }: AnswerRules['answers'], status: number): AnswerClass | undefined {
  return statuses[String(status)] ?? statuses[`${Math.floor(status / 100)}xx`];
}

function readBody(rules: AnswerRules, response: Response, nowMs: number): CallOutcome {
  if (response.truncated) return badResponse(rules, 'gave an answer that is too large');
  const { bodyCodes, foundAt, output } = rules.answers;
  const body = parseJson(response.body);
  // A list has no fields of its own: parts of it may be taken.
  if (!(isObject(body) || (Array.isArray(body) && output !== undefined))) {
    return badResponse(rules, 'gave an answer that is not a JSON object');
  }
  if (!isStorable(body))
    return badResponse(rules, 'gave an answer that is nested too deeply or holds an infinite number');
  if (growsBeyond(rules.maxBodyBytes, response.body, body)) {
    return badResponse(rules, 'gave an answer that is too large when written out');
  }
  const code = bodyCodes === undefined ? undefined : codeAt(body, bodyCodes.pointer);
  if (bodyCodes !== undefined && code !== undefined) {
    const answerClass = Object.hasOwn(bodyCodes.classes, code) ? bodyCodes.classes[code] : undefined;
    if (answerClass === undefined) return badResponse(rules, 'gave an error code that its table does not have');
    if (answerClass !== 'found') return byClass(rules, answerClass, response, nowMs, `gave the code ${code}`);
  }
  if (foundAt !== undefined && isEmpty(valueAt(body, foundAt)))
    return { kind: 'answer', answer: { kind: 'not_found' } };
  const data = output === undefined ? body : pick(body, output);
  const problem = rules.checkBody(data);
  if (problem !== undefined || !isObject(data)) {
    return badResponse(rules, `gave an answer of another shape: ${problem ?? 'it is no JSON object'}`);
  }
  return { kind: 'answer', answer: { kind: 'found', data } };
}

function byClass(
  rules: AnswerRules,
  answerClass: Exclude<AnswerClass, 'found'>,
  { status, headers }: Response,
  nowMs: number,
  event: string,
): CallOutcome {
  const detail = sentence(rules, event);
  const hint = readWaitHint(headers, nowMs);
  const retryAfter = hint === undefined ? {} : { retryAfterMs: hint.waitMs };
  switch (answerClass) {
    case 'not_found':
      return { kind: 'answer', answer: { kind: 'not_found' } };
    case 'permanent':
      return { kind: 'permanent', reason: 'provider_rejected', detail };
    case 'throttled':
    case 'not_ready':
      return { kind: answerClass, detail, ...retryAfter };
    case 'auth':
      return { kind: 'auth', detail };
    case 'transient':
      break;
  }
  const limitsFleet = status === 503 && hint?.header === 'retry-after' ? ({ limitsFleet: true } as const) : {};
  return { kind: 'transient', reason: transientReason(status), detail, ...retryAfter, ...limitsFleet };
}

const transientReason = (status: number): TransientReason =>
  status === 408 || status === 504 ? 'provider_timeout' : 'provider_unavailable';

const FAILURE_EVENTS: Readonly<Record<TransportFailure, string>> = {
  timeout: 'did not answer in time',
  connect: 'did not accept the connection',
  reset: 'broke the connection off',
  dns: 'could not be found by its name',
  tls: 'has no trustworthy connection to offer',
  aborted: 'was not heard to the end',
  refused_target: 'has an address that is never called',
};

function transportFailure(name: string, cause: TransportFailure): CallOutcome {
  const reason = cause === 'timeout' ? 'provider_timeout' : 'provider_unavailable';
  return { kind: 'transient', reason, detail: sentence({ name }, FAILURE_EVENTS[cause]) };
}

const badResponse = (rules: AnswerRules, event: string): CallOutcome => ({
  kind: 'transient',
  reason: 'provider_bad_response',
  detail: sentence(rules, event),
});

const sentence = ({ name }: Pick<AnswerRules, 'name'>, event: string): string =>
  `Provider ${name} ${event}${event.endsWith('.') ? '' : '.'}`;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parseJson(body: Uint8Array): unknown {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return value;
  } catch {
    // Neither UTF-8 nor JSON: the caller says so, and the parser's own words would quote the body.
    return undefined;
  }
}

/** JSON grows when it is written again (`1e20` has 4 characters, then 21), at most fivefold: rows hold what was parsed. */
const growsBeyond = (maxBytes: number, source: Uint8Array, parsed: unknown): boolean =>
  source.byteLength * 5 > maxBytes && Buffer.byteLength(JSON.stringify(parsed)) > maxBytes;

/** Levels of nesting that an answer may have: what is read from JSON without trouble may be too deep to be written again. */
const MAX_DEPTH = 30;

function isStorable(value: unknown, depth = 1): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return depth <= MAX_DEPTH && Object.values(value).every((member) => isStorable(member, depth + 1));
}

/** The value at a JSON pointer (RFC 6901); `undefined` when there is none. */
function valueAt(body: unknown, pointer: string): unknown {
  let value = body;
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    value =
      typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
  }
  return value;
}

/** The parts of an answer that are kept. What is not there is left out. */
function pick(body: unknown, output: Readonly<Record<string, string>>): Record<string, unknown> {
  const parts = Object.entries(output).map(([name, pointer]): [string, unknown] => [name, valueAt(body, pointer)]);
  return Object.fromEntries(parts.filter(([, value]) => value !== undefined));
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** The code at a JSON pointer; `undefined` when there is none. What is there but is no code has no class either. */
function codeAt(body: unknown, pointer: string): string | undefined {
  const value = valueAt(body, pointer);
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
