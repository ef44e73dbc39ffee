import { InvalidDataError } from '../errors.ts';

/**
 * How a provider's answer is understood. Each declares its own table: neither 404 nor 409 nor 501 means the same everywhere.
 *
 * `found`: a success whose body holds the data; `not_found`: a success with nothing found; `permanent`: this record will
 * never work; `transient`: try again, it costs an attempt; `not_ready`: the answer is being prepared, this record alone waits, no
 * attempt; `throttled`: the fleet waits, no attempt; `auth`: our credential is refused, the provider stops, no attempt.
 */
export type AnswerClass = 'found' | 'not_found' | 'permanent' | 'transient' | 'not_ready' | 'throttled' | 'auth';

export interface AnswerTable {
  /** Class by HTTP status, as `404` or as a family `4xx`: what differs from {@link DEFAULT_STATUSES}. The exact status wins over the family. */
  statuses?: Readonly<Record<string, AnswerClass>>;
  /** For providers that answer 200 also where they found nothing: JSON pointer to what a found answer has. Absent, null or empty there means `not_found`. */
  foundAt?: string;
  /** For providers that answer 200 with an error inside: JSON pointer to the code, and the class of each code. */
  bodyCodes?: { pointer: string; classes: Readonly<Record<string, AnswerClass>> };
}

/** For how long answers are kept, so that nobody pays for one twice. The contract with the provider must allow it. */
export interface KeepAnswers {
  /** Whether an answer serves the tenant whose record was looked up, or every tenant. */
  for: 'tenant' | 'all';
  /** Absent: answers of this kind are not kept. */
  foundForSeconds?: number;
  notFoundForSeconds?: number;
}

/** One third-party API. All of it is data: an adopter edits `config/providers.ts` and nothing else. */
export interface ProviderConfig {
  /** Lower-case name: key of the providers table, of the secret and of the answers in rows and results. */
  name: string;
  /** Base URL, e.g. `https://api.example.com`. A stage may override it. No other host is ever called. */
  baseUrl: string;
  /** `GET` where it is absent. */
  method?: 'GET' | 'POST';
  /** Path with `{field}` placeholders, filled URL-encoded from the record. */
  path: string;
  /** Parameters of the query by name; `{field}` placeholders are filled URL-encoded. */
  query?: Readonly<Record<string, string>>;
  /** Headers by name beside the credential; with placeholders. */
  headers?: Readonly<Record<string, string>>;
  /** Body of a `POST`, sent as JSON; its texts may have placeholders. */
  body?: JsonTemplate;
  /** Fields of the record that must be non-empty for the call; without them the answer is `not_applicable`, without a call. */
  lookup: readonly string[];
  /** How calls are authorized. The credential comes from the providers' secret, key = `name`. */
  auth: Auth;
  /** One deadline over connect, headers and body. */
  timeoutMs: number;
  maxBodyBytes: number;
  /** The provider's own limit; calls are paced at {@link PACE_SHARE} of it. */
  ratePerSecond: number;
  /** Calls beyond the rate that the provider tolerates at one moment; below 3 % of a second's calls it costs rate, see {@link usableRate}. */
  burst: number;
  /** Calls that the provider answers at the same time, of the whole fleet; absent where it sets no such limit. */
  maxConcurrentCalls?: number;
  /** What a call costs by the contract, in the currency of your choice: previews tell customers what a file costs. */
  pricePerCall?: number;
  /** Expected 99th percentile of the answer time: sizes concurrency. */
  p99Ms: number;
  /** What the provider's answers mean, where that is not usual. */
  answers?: AnswerTable;
  /** Absent: nothing is kept beyond the batch of records that asked. */
  keep?: KeepAnswers;
  /** How long one record may be answered `not_ready` before it is given up; by default {@link NOT_READY_SECONDS}. */
  notReadySeconds?: number;
  /**
   * Fields of a record that the provider is known to answer with data. A failure, a refusal or an empty answer is believed only of the
   * record that met it, unless this lookup meets one as well: then it is the provider, and its calls stop.
   */
  canary: Readonly<Record<string, string>>;
  /** Which parts of a found answer become the result: JSON pointer by name. Absent: all of it. */
  output?: Readonly<Record<string, string>>;
  /** JSON Schema of what is kept of a found answer. Anything else is `provider_bad_response`. */
  responseSchema: Readonly<Record<string, unknown>>;
}

/** A JSON value whose texts may have `{field}` placeholders. */
export type JsonTemplate =
  string | number | boolean | null | readonly JsonTemplate[] | { readonly [name: string]: JsonTemplate };

/** How the calls of a provider are authorized, with the credential of the providers' secret. */
export type Auth =
  /** In a header, behind a prefix. */
  | { header: string; prefix: string }
  /** In a parameter of the query. */
  | { query: string }
  /** `user:password`, by the Basic scheme. */
  | { basic: true }
  /** `client_id:client_secret`, for which a token is got by OAuth 2.0 client credentials (RFC 6749, 4.4). */
  | { oauth2: OAuth2 }
  | { none: true };

export interface OAuth2 {
  /** An https URL, or a path below `baseUrl`. */
  tokenUrl: string;
  scope?: string;
  /** Whether the client is named in the form of the token request; in an `Authorization` header where it is absent. */
  clientInBody?: true;
}

/** What a status means where a provider does not say otherwise. */
export const DEFAULT_STATUSES: Readonly<Record<string, AnswerClass>> = {
  '200': 'found',
  '204': 'not_found',
  // Other successes hold no answer.
  '2xx': 'transient',
  // Redirects are never followed with a credential. It is the operator who has to act; the records can be replayed.
  '3xx': 'transient',
  // The request is made from the record alone, so one that the provider cannot understand is the record's fault.
  '400': 'permanent',
  '422': 'permanent',
  // Wrong or withdrawn credential, unpaid account, missing scope: every record would meet the same answer.
  '401': 'auth',
  '402': 'auth',
  '403': 'auth',
  '404': 'not_found',
  '410': 'not_found',
  '429': 'throttled',
  // What else it may refuse (method, media type, header size) is our mistake, not the record's: after the last attempt
  // the record lies in the dead-letter queue, where it alarms and can be replayed once we have corrected it.
  '4xx': 'transient',
  '5xx': 'transient',
};

export const NOT_READY_SECONDS = 3_600;

/** Share of the limit at which calls are paced: start times jitter and clocks differ, and a strict limit counts the excess. */
export const PACE_SHARE = 0.985;

/** Milliseconds between two call starts of the whole fleet. */
export const intervalMs = (provider: Pick<ProviderConfig, 'ratePerSecond'>): number =>
  1000 / (provider.ratePerSecond * PACE_SHARE);

/** What every call's start may be late by: the jitter of timers and of a process that has other things to do. */
export const START_JITTER_MS = 20;
/** What the ways of two calls to the provider may differ by. */
const TRAVEL_JITTER_MS = 5;
/** A slot that is longer ago than this is never worth more than a new one. */
const MAX_LATE_MS = 1_000;

/**
 * How late after its slot a call may start, milliseconds. Later than that, the slots of others are already being used, and the call
 * needs a slot of its own. At first that is half of what the burst that the provider tolerates makes up for, since a machine
 * that is late at the start of a call is late on its way, too; for a call that missed a slot before it is all of it; and one that missed two
 * starts whenever it can: a process that is always late would never call again.
 */
export function latestStartMs(provider: Pick<ProviderConfig, 'ratePerSecond' | 'burst'>, misses: number): number {
  if (misses > 1) return Infinity;
  const toleratedMs = ((provider.burst - 1) * intervalMs(provider) - TRAVEL_JITTER_MS) / (misses > 0 ? 1 : 2);
  return Math.min(Math.max(toleratedMs, START_JITTER_MS), MAX_LATE_MS);
}

/**
 * The rate that can be used of a provider's limit. Calls begin up to {@link START_JITTER_MS} late, and what bunches by that must fit
 * into the burst that the provider tolerates. A burst of 3 % of a second's calls is enough for the whole rate; below it the
 * rate falls, and with a burst of 1 every call waits until the one before it must have arrived.
 *
 * With slots `i` apart and calls up to `J` late, `m` calls need at least `(m - 1) i - J`, and a token bucket of `b` that is refilled
 * every `T` lets them through if `m <= b` or `(m - 1) i - J >= (m - b) T`: the tightest case is `m = b + 1`, so `i >= (J + T) / b`.
 */
export function usableRate({ ratePerSecond, burst }: Pick<ProviderConfig, 'ratePerSecond' | 'burst'>): number {
  const jitterMs = START_JITTER_MS + TRAVEL_JITTER_MS;
  const shortestIntervalMs = (jitterMs + 1_000 / ratePerSecond) / Math.max(1, burst);
  return Math.min(ratePerSecond, 1_000 / (shortestIntervalMs * PACE_SHARE));
}

/** The 99th percentile counts twice: a quiet provider's figure is optimistic, and a record may ask one after the other. */
export const LATENCY_FACTOR = 2;

/**
 * The rate of a provider at which work goes on: the usable one, or, where the provider limits its concurrent calls, what comes through while
 * answers take twice the 99th percentile, whichever is less. Slots are reserved at the usable rate; whatever asks how long work takes
 * goes by this one. Like any rate it is paced at {@link PACE_SHARE} of it.
 */
export function sustainedRate({
  ratePerSecond,
  p99Ms,
  maxConcurrentCalls = Infinity,
}: Pick<ProviderConfig, 'ratePerSecond' | 'p99Ms' | 'maxConcurrentCalls'>): number {
  const callsPerSecond = (maxConcurrentCalls * 1_000) / (LATENCY_FACTOR * p99Ms);
  return Math.min(ratePerSecond, callsPerSecond / PACE_SHARE);
}

const LOOPBACK_HOSTS: readonly string[] = ['127.0.0.1', '[::1]', 'localhost'];

/**
 * True for a URL that a credential may be sent to: https, or http to this very machine (the stand-ins of the local cloud).
 * It carries no user, query or fragment: paths are appended to it.
 */
export function isSafeBaseUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK_HOSTS.includes(url.hostname));
}

/** What a stage sets for a provider, in place of its configuration's own values. */
export interface ProviderOverrides {
  baseUrls: Readonly<Record<string, string>>;
  ratesPerSecond: Readonly<Record<string, number>>;
  bursts: Readonly<Record<string, number>>;
}

/**
 * The providers with a stage's base URLs, rates and bursts in place.
 *
 * @throws InvalidDataError when one has no base URL, rate or burst, or a value is there for a provider that is not configured:
 * infrastructure and function would otherwise work with different providers.
 */
export function withOverrides(
  providers: readonly ProviderConfig[],
  { baseUrls, ratesPerSecond, bursts }: ProviderOverrides,
): ProviderConfig[] {
  const known = new Set(providers.map(({ name }) => name));
  for (const name of [baseUrls, ratesPerSecond, bursts].flatMap((values) => Object.keys(values))) {
    if (!known.has(name)) throw mismatch(name, 'is set for this stage but is not in config/providers.ts');
  }
  return providers.map((provider) => {
    const baseUrl = baseUrls[provider.name];
    const ratePerSecond = ratesPerSecond[provider.name];
    if (baseUrl === undefined) throw mismatch(provider.name, 'has no base URL in PROVIDER_BASE_URLS');
    if (ratePerSecond === undefined) throw mismatch(provider.name, 'has no rate in PROVIDER_RATES');
    const burst = bursts[provider.name];
    if (burst === undefined) throw mismatch(provider.name, 'has no burst in PROVIDER_BURSTS');
    return { ...provider, baseUrl, ratePerSecond, burst };
  });
}

const mismatch = (name: string, problem: string): InvalidDataError =>
  new InvalidDataError(`Provider "${name}" ${problem}: deploy the functions and their configuration together.`);
