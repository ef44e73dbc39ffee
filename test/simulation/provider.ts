import type { HttpTransport, TransportResult } from '../../lambdas/domain/providers/ports.ts';
import type { AnswerTable, ProviderConfig } from '../../lambdas/domain/providers/config.ts';
import type { Environment } from './environment.ts';
import type { Journal } from './journal.ts';
import type { Plan, Trouble } from './plan.ts';
import { stream, type Dice } from './random.ts';
import type { Scheduler } from './scheduler.ts';
import type { Watch } from './watch.ts';

export type ProviderName = 'company' | 'geo';
type Request = Parameters<HttpTransport['request']>[0];

/** How long a request may be under way before it arrives. */
const MAX_TRAVEL_MS = 20;

/** One call as the provider saw it. */
export interface Arrival {
  provider: ProviderName;
  atMs: number;
  /** Name of the record that it is about; `canary` for the breaker's own question. */
  record: string;
  environment: string;
}

/** A third-party API at its worst, which keeps its own clock and enforces its own limit. */
export class SimulatedProvider {
  readonly config: ProviderConfig;
  readonly #name: ProviderName;
  readonly #plan: Plan;
  readonly #scheduler: Scheduler;
  readonly #journal: Journal;
  readonly #dice: Dice;
  readonly #startMs: number;
  #tokens: number;
  #filledAtMs: number;
  #key: string;

  constructor(config: ProviderConfig, name: ProviderName, plan: Plan, scheduler: Scheduler, journal: Journal) {
    this.config = config;
    this.#name = name;
    this.#plan = plan;
    this.#scheduler = scheduler;
    this.#journal = journal;
    this.#dice = stream(plan.seed, `provider ${name}`);
    this.#startMs = scheduler.now();
    this.#tokens = config.burst;
    this.#filledAtMs = scheduler.now();
    this.#key = `key of ${name}`;
  }

  /** One request from a function, which a poisonous record kills. */
  async answer(request: Request, from: Environment, watch: Watch): Promise<TransportResult> {
    const scheduler = this.#scheduler;
    const environment = from.name;
    const sentAtMs = scheduler.now();
    await scheduler.sleep(this.#dice.between(1, MAX_TRAVEL_MS));
    if (request.url.includes(FOREIGN)) {
      this.#journal.broken(
        'nothing foreign is bought',
        `${environment} called ${this.#name} for a foreign message`,
        [],
      );
    }
    const { record, kind } = aboutOf(request.url);
    watch.isolation.called(record, from);
    this.#journal.arrival({ provider: this.#name, atMs: scheduler.now(), record, environment });
    this.#count(record);
    from.outages.called(this.#name, record);
    this.#mustBeNews(record, from, watch);
    watch.fleet.called(this.#name, record);
    watch.calledAfterCancel(record, from);
    if (kind === 'poison' && this.#name === 'company') from.die(`was killed by ${record}`);
    const trouble = this.#troubleNow();
    const slow = this.#dice.chance(0.02);
    const lengthMs = this.#dice.between(10, slow ? request.timeoutMs * 1.1 : this.config.p99Ms);
    const result = this.#result(kind, trouble, request);
    if (
      record === 'canary' &&
      result !== 'hangs' &&
      result.kind === 'response' &&
      (result.status === 429 || result.status === 503)
    ) {
      watch.fleet.canaryThrottled(this.#name);
    }
    if (result === 'hangs' || lengthMs > request.timeoutMs) {
      await scheduler.sleep(sentAtMs + request.timeoutMs - scheduler.now());
      this.#journal.answered(this.#name, record, 'transient', environment);
      return { kind: 'failure', cause: 'timeout', detail: 'The simulated provider did not answer.' };
    }
    await scheduler.sleep(lengthMs);
    this.#journal.answered(this.#name, record, meaningOf(result, trouble), environment);
    return result;
  }

  /** A token bucket of the declared burst: whoever exceeds it broke the promise of never being above the limit. */
  #count(record: string): void {
    const nowMs = this.#scheduler.now();
    const { ratePerSecond, burst } = this.config;
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#filledAtMs) / 1_000) * ratePerSecond);
    this.#filledAtMs = nowMs;
    this.#tokens -= 1;
    if (this.#tokens < -1e-6) {
      this.#journal.broken('limit', `${this.#name} was called above its limit of ${ratePerSecond}/s + ${burst}`, [
        record,
      ]);
    }
  }

  /** What was on the row before an invocation began is never bought again by it. */
  #mustBeNews(record: string, from: Environment, watch: Watch): void {
    const keptMs = watch.keptSinceMs(record, this.#name);
    if (keptMs === undefined || keptMs >= from.invokedAtMs) return;
    this.#journal.broken('bought once', `${from.name} asked ${this.#name} about ${record}, whose row had the answer`, [
      record,
    ]);
  }

  #troubleNow(): Trouble | undefined {
    const sinceMs = this.#scheduler.now() - this.#startMs;
    const outage = this.#plan.outages.find(
      ({ provider, fromMs, toMs }) => provider === this.#name && sinceMs >= fromMs && sinceMs < toMs,
    );
    return outage?.trouble;
  }

  #result(kind: string, trouble: Trouble | undefined, request: Request): TransportResult | 'hangs' {
    if (trouble !== undefined) return this.#troubled(trouble);
    if (!request.headers[CREDENTIAL_HEADER]?.endsWith(this.#key)) return respond(401, {});
    if (this.#dice.chance(this.#plan.flakyShare)) return this.#troubled(this.#dice.pick(FLAKES));
    if (kind === 'sick' && this.#name === 'company') return respond(500, { error: 'always' });
    // It refuses this record with the status of a wrong credential.
    if (kind === 'forbidden' && this.#name === 'company') return respond(403, {});
    if (kind === 'rejected') return respond(422, { error: 'never' });
    if (kind === 'unknown') return respond(404, {});
    return respond(200, { found: request.url });
  }

  #troubled(trouble: Trouble): TransportResult | 'hangs' {
    switch (trouble) {
      case 'unavailable':
        return respond(this.#dice.pick([500, 502, 503, 504]), {});
      case 'hanging':
        return 'hangs';
      case 'resetting':
        return { kind: 'failure', cause: this.#dice.pick(['reset', 'connect', 'dns']), detail: 'simulated' };
      case 'garbage':
        return { ...respond(200, {}), body: Buffer.from(this.#dice.pick(['<html>', '', '[1]', '{"found":7}'])) };
      case 'error_in_200':
        return respond(200, { error: { code: this.#dice.pick(['internal', 'never heard of']) } });
      case 'throttled':
        return respond(429, {}, this.#retryAfter());
      case 'unauthorized':
        return respond(401, {});
      case 'refusing_all':
        return respond(422, {});
      case 'finding_nothing':
        return respond(404, {});
      default:
        return respond(503, {}, this.#retryAfter());
    }
  }

  #retryAfter(): string {
    const atMs = this.#scheduler.now() + this.#dice.between(-60_000, 60_000);
    return this.#dice.pick(['0', '1', '3.5', '30', '99999999', '-5', 'soon', '', new Date(atMs).toUTCString()]);
  }
}

/** Part of the lookup keys of messages that no fan-out sent. */
export const FOREIGN = 'foreign';

const FLAKES: readonly Trouble[] = ['unavailable', 'hanging', 'resetting', 'garbage'];

const respond = (status: number, body: object, retryAfter?: string) => ({
  kind: 'response' as const,
  status,
  headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  body: Buffer.from(JSON.stringify(body)),
  truncated: false,
});

/** Which record a request is about, and of which kind it is: files.ts wrote both into the lookup fields. */
function aboutOf(url: string): { record: string; kind: string } {
  const key = decodeURIComponent(url.slice(url.lastIndexOf('/') + 1));
  const [record = '', kind = ''] = key.split(/[ .]/);
  return { record, kind };
}

export type Meaning = 'answer' | 'transient' | 'wait' | 'unverified';

function meaningOf(result: TransportResult, trouble: Trouble | undefined): Meaning {
  if (result.kind === 'failure' || result.status >= 500 || result.status === 403) return 'transient';
  // What it says to everybody is true of nobody.
  if (trouble === 'refusing_all' || trouble === 'finding_nothing') return 'wait';
  if (result.status === 429 || result.status === 401) return 'wait';
  // Not believed, and asked for again, where the canary is not answered afterwards.
  if (result.status === 422 || result.status === 404) return 'unverified';
  const text = Buffer.from(result.body).toString('utf8');
  return text.startsWith('{"found":"') && trouble === undefined ? 'answer' : 'transient';
}

const answers: AnswerTable = {
  statuses: {
    '200': 'found',
    '404': 'not_found',
    '401': 'auth',
    '403': 'auth',
    '429': 'throttled',
    '422': 'permanent',
    '5xx': 'transient',
  },
  bodyCodes: { pointer: '/error/code', classes: { internal: 'transient' } },
};

const CREDENTIAL_HEADER = 'authorization';

/** Declared burst: what start times may be off by, at the rate. Clocks differ, replies of the pacer and requests take their time. */
export function providerConfigs({ skewMs, slowReplyMs }: Pick<Plan, 'skewMs' | 'slowReplyMs'>): ProviderConfig[] {
  const burst = (rate: number): number => Math.ceil((rate * (2 * skewMs + slowReplyMs + MAX_TRAVEL_MS)) / 1_000) + 2;
  const common = {
    auth: { header: CREDENTIAL_HEADER, prefix: 'Bearer ' },
    maxBodyBytes: 16_384,
    answers,
    responseSchema: { type: 'object', required: ['found'], properties: { found: { type: 'string' } } },
  };
  return [
    {
      ...common,
      name: 'company',
      baseUrl: 'https://company.example',
      path: '/v1/{domain}',
      lookup: ['domain'],
      canary: { domain: 'canary.good.example' },
      timeoutMs: 3_000,
      ratePerSecond: 40,
      burst: burst(40),
      p99Ms: 400,
    },
    {
      ...common,
      name: 'geo',
      baseUrl: 'https://geo.example',
      path: '/v1/{country}/{postal_code}',
      lookup: ['country', 'postal_code'],
      canary: { country: 'DE', postal_code: 'canary good' },
      timeoutMs: 2_000,
      ratePerSecond: 25,
      burst: burst(25),
      p99Ms: 300,
    },
  ];
}
