import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { authorize, basic } from '../../lambdas/domain/providers/authorize.ts';
import type { Auth } from '../../lambdas/domain/providers/config.ts';
import { answerOf, faultOfKey } from '../../lambdas/stand-ins/answers.ts';
import { lookupOf, type AnswerShape, type RequestShape, type StandInRequest } from '../../lambdas/stand-ins/derived.ts';
import { CallCounters, type CallOutcome } from './counters.ts';
import { SettingsTimeline, type Settings, type SettingsChange } from './settings.ts';
import { TokenBucket } from './token-bucket.ts';

/** What a stand-in takes over from the provider's configuration, and the credential it accepts. */
export interface StandInOptions {
  readonly name: string;
  readonly settings: Settings;
  readonly auth: Auth;
  /** The requests that it gets, and the shape of its answers. */
  readonly request: RequestShape;
  readonly answer: AnswerShape;
  /** Body of an answer that carries its error in a 200. */
  readonly errorBody: Record<string, unknown>;
  /** Credentials that are accepted at first. */
  readonly credentials: readonly string[];
}

/** What a call gets: an answer, or one of the ways of not getting one. */
type Reply = Answer | { kind: 'hang' | 'reset' | 'slow_body' };

interface Answer {
  kind: 'answer';
  status: number;
  body: string;
  headers?: Record<string, string>;
  /** Without the usual latency. */
  atOnce?: boolean;
}

const BYTE_INTERVAL_MS = 250;
const TOKEN_SECONDS = 3_600;

/** The same for the same client, so that every stand-in of a provider knows it. */
const accessTokenOf = (client: string): string => createHash('sha256').update(`token ${client}`).digest('hex');

/** One provider: it checks the credential, limits the rate, takes its time, and fails in the ways it is told to. */
export class StandIn {
  readonly counters = new CallCounters();
  readonly #options: StandInOptions;
  readonly #timeline: SettingsTimeline;
  readonly #bucket = new TokenBucket();
  #credentials: ReadonlySet<string>;

  constructor(options: StandInOptions) {
    this.#options = options;
    this.#timeline = new SettingsTimeline(options.settings);
    this.#credentials = new Set(options.credentials);
  }

  get settings(): Settings {
    return this.#timeline.at(performance.now());
  }

  change(change: SettingsChange): void {
    this.#timeline.change(change, performance.now());
  }

  /** Rotates: from now on these credentials are accepted and no others. */
  accept(credentials: readonly string[]): void {
    this.#credentials = new Set(credentials);
  }

  /** Answers one call; its path is what follows the provider's name. */
  handle({ path, query, body }: StandInRequest, request: IncomingMessage, response: ServerResponse): void {
    const token = this.#token(path, request);
    if (token !== undefined) return deliver(token, response);
    const nowMs = performance.now();
    const parts = lookupOf(this.#options.request, { path, query, body });
    const key = parts?.join('/') ?? path;
    this.counters.arrived(key, nowMs);
    const settings = this.#timeline.at(nowMs);
    const { reply, outcome } = this.#decide(request, parts, settings, nowMs);
    this.counters.ended(outcome);
    const delayMs = reply.kind === 'answer' && reply.atOnce === true ? 0 : spread(settings.latencyMs, key);
    if (delayMs === 0) deliver(reply, response);
    else setTimeout(() => deliver(reply, response), delayMs);
  }

  #decide(
    request: IncomingMessage,
    parts: readonly string[] | undefined,
    settings: Settings,
    nowMs: number,
  ): { reply: Reply; outcome: CallOutcome } {
    const fault = faultOfKey(parts?.join('/') ?? '') ?? settings;
    const failed = (reply: Reply): { reply: Reply; outcome: CallOutcome } => ({ reply, outcome: 'failed' });
    // A provider that is down answers nobody, so neither the credential nor the limit matters.
    if (fault.mode === 'hang' || fault.mode === 'reset') return failed({ kind: fault.mode });
    if (fault.mode === 'outage') return failed(this.#error(fault.status ?? 503, 'unavailable', settings));

    if (fault.mode === 'unauthorized' || !this.#mayPass(request)) {
      return failed(this.#error(settings.status ?? 401, 'unauthorized', settings));
    }
    const waitMs = this.#bucket.take(settings, nowMs);
    if (waitMs > 0) return { reply: this.#throttle(waitMs, settings), outcome: 'throttled' };

    if (fault.mode === 'slow_body') return failed({ kind: 'slow_body' });
    if (fault.mode === 'garbage') {
      return failed({ kind: 'answer', status: settings.status ?? 200, body: '<html><body>Gateway\u0000' });
    }
    if (fault.mode === 'error_in_200') return failed(json(200, this.#options.errorBody));
    if (settings.status !== undefined) return failed(this.#error(settings.status, 'forced', settings));
    if (parts === undefined) return failed(this.#error(404, 'no_such_path', settings));
    const answer = answerOf(this.#options.name, this.#options.answer, parts);
    return { reply: json(answer.status, answer.body), outcome: 'ok' };
  }

  /** The call must carry an accepted credential where the configuration puts it. */
  #mayPass({ url = '', headers }: IncomingMessage): boolean {
    const { auth } = this.#options;
    if ('none' in auth) return true;
    const given = new URL(url, 'http://stand-in');
    return [...this.#credentials].some((credential) => {
      const presented = 'oauth2' in auth ? accessTokenOf(credential) : credential;
      const expected = authorize({ url: given.origin }, auth, presented);
      if ('query' in auth) return given.searchParams.get(auth.query) === credential;
      return Object.entries(expected.headers ?? {}).every(([name, value]) => headers[name.toLowerCase()] === value);
    });
  }

  /** The token endpoint, where the configuration has it below the base URL: it takes any accepted client. */
  #token(path: string, { method, headers }: IncomingMessage): Answer | undefined {
    const { auth } = this.#options;
    if (!('oauth2' in auth) || method !== 'POST' || path !== auth.oauth2.tokenUrl) return undefined;
    const client = [...this.#credentials].find((credential) => {
      const encoded = credential.split(':').map(encodeURIComponent).join(':');
      return auth.oauth2.clientInBody === true || headers.authorization === basic(encoded);
    });
    if (client === undefined) return json(401, { error: 'invalid_client' });
    return json(200, { access_token: accessTokenOf(client), token_type: 'Bearer', expires_in: TOKEN_SECONDS });
  }

  #throttle(waitMs: number, settings: Settings): Reply {
    const retryAfter = settings.retryAfter ?? Math.max(1, Math.ceil(waitMs / 1000));
    const reply = json(429, { error: { code: 'rate_limited', message: 'Too many calls.' } });
    return { ...reply, headers: { 'retry-after': String(retryAfter) }, atOnce: true };
  }

  #error(status: number, code: string, settings: Settings): Reply {
    const headers: Record<string, string> = {};
    if (settings.retryAfter !== undefined) headers['retry-after'] = String(settings.retryAfter);
    // Another host, where nobody listens: a client must not carry its credential there.
    if (status >= 300 && status < 400) headers['location'] = 'http://localhost:9/elsewhere';
    return { ...json(status, { error: { code, message: `The provider answers ${status}.` } }), headers };
  }
}

function json(status: number, body: unknown): Answer {
  return { kind: 'answer', status, body: JSON.stringify(body) };
}

/** 0.75 to 1.25 times the latency, always the same for the same key. */
function spread(latencyMs: number, key: string): number {
  let sum = 0;
  for (const character of key) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 1009;
  return latencyMs * (0.75 + sum / 2018);
}

function deliver(reply: Reply, response: ServerResponse): void {
  if (response.destroyed) return;
  if (reply.kind === 'answer') write(reply, response);
  else if (reply.kind === 'slow_body') dribble(response);
  else if (reply.kind === 'reset') response.socket?.resetAndDestroy();
}

function write(reply: Answer, response: ServerResponse): void {
  const bodiless = reply.status === 204 || reply.status === 304;
  response.writeHead(reply.status, {
    ...(bodiless ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(reply.body) }),
    ...reply.headers,
  });
  response.end(bodiless ? undefined : reply.body);
}

/** Sends headers, then a byte now and then, and never the end. */
function dribble(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"');
  const timer = setInterval(() => response.write('a'), BYTE_INTERVAL_MS);
  response.on('close', () => clearInterval(timer));
}
