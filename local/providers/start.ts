import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import type { ProviderConfig } from '../../lambdas/domain/providers/config.ts';
import { LocalError } from '../errors.ts';
import type { ProviderCounters } from './counters.ts';
import type { SettingsChange } from './settings.ts';
import type { StandInOptions } from './stand-in.ts';

/** Typical answer time of the stand-ins. */
const DEFAULT_LATENCY_MS = 20;

const readySchema = v.tuple([v.object({ port: v.number() })]);
const whole = v.number();
const countersSchema = v.object({ calls: whole, ok: whole, throttled: whole, failed: whole, peakPerSecond: whole });
const callsSchema = v.record(v.string(), v.number());
const arrivalsSchema = v.array(v.number());

export interface ProvidersOptions {
  readonly providers: readonly ProviderConfig[];
  /** Credential that each stand-in accepts at first, by provider name. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Default 0: any free port. */
  readonly port?: number;
}

/** The stand-in providers, running in a process of their own so that their work disturbs no measurement. */
export interface Providers {
  /** `http://127.0.0.1:PORT`; each provider listens below its name, the controls below `/control/<name>`. */
  readonly providersUrl: string;
  /** Base URL by provider name: what replaces the real ones in the local cloud. */
  readonly baseUrls: Readonly<Record<string, string>>;
  /** @throws LocalError when a field or value is not allowed */
  control(name: string, change: SettingsChange): Promise<void>;
  counters(name: string): Promise<ProviderCounters>;
  /** Calls by lookup key (`example.com`, `DE/10115`) since the last reset. */
  callsByKey(name: string): Promise<Record<string, number>>;
  /** When each call since the last reset arrived: monotonic ms of the stand-in, ascending. */
  arrivals(name: string): Promise<number[]>;
  resetCounters(name: string): Promise<void>;
  /** From now on these credentials are accepted and no others. */
  rotate(name: string, accepted: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts one stand-in for each configured provider.
 *
 * @throws LocalError when the server cannot listen
 */
export async function startProviders({ providers, credentials, port = 0 }: ProvidersOptions): Promise<Providers> {
  const child = fork(fileURLToPath(new URL('./child.ts', import.meta.url)), [], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const options = providers.map((provider) => standInOptions(provider, credentials[provider.name]));
  const providersUrl = `http://127.0.0.1:${await start(child, { options, port })}`;
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> =>
    callControl(method, `${providersUrl}/control/${path}`, body);
  return {
    providersUrl,
    baseUrls: Object.fromEntries(providers.map(({ name }) => [name, `${providersUrl}/${name}`])),
    control: async (name, change) => void (await call('PUT', name, change)),
    counters: async (name) => v.parse(countersSchema, await call('GET', name)),
    callsByKey: async (name) => v.parse(callsSchema, await call('GET', `${name}/calls`)),
    arrivals: async (name) => v.parse(arrivalsSchema, await call('GET', `${name}/arrivals`)),
    resetCounters: async (name) => void (await call('DELETE', name)),
    rotate: async (name, accepted) => void (await call('PUT', `${name}/credentials`, { accepted })),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function standInOptions(provider: ProviderConfig, credential: string | undefined): StandInOptions {
  const { name, auth, ratePerSecond, burst, answers, path, query, body, lookup, responseSchema, output } = provider;
  const code = Object.entries(answers?.bodyCodes?.classes ?? {}).find(([, kind]) => kind === 'transient')?.[0];
  return {
    name,
    auth,
    request: { path, lookup, ...(query && { query }), ...(body !== undefined && { body }) },
    answer: { responseSchema, ...(output && { output }), ...(answers && { answers }) },
    settings: { latencyMs: DEFAULT_LATENCY_MS, ratePerSecond, burst: Math.max(1, burst), mode: 'ok' },
    errorBody: bodyWith(answers?.bodyCodes?.pointer ?? '/error/code', code ?? 'internal'),
    credentials: credential === undefined ? [] : [credential],
  };
}

/** An object that holds `value` at a JSON pointer. */
function bodyWith(pointer: string, value: string): Record<string, unknown> {
  const [first = 'error', ...rest] = pointer.split('/').slice(1);
  return { [first]: rest.length === 0 ? value : bodyWith(`/${rest.join('/')}`, value) };
}

async function start(child: ChildProcess, message: object): Promise<number> {
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const failed = once(child, 'exit').then(() => {
    throw new LocalError(`The stand-in providers did not start: ${errors.trim()}`);
  });
  child.send(message);
  const ready: unknown = await Promise.race([once(child, 'message'), failed]);
  failed.catch(() => undefined);
  return v.parse(readySchema, ready)[0].port;
}

async function callControl(method: string, url: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const answer: unknown = await response.json();
  if (response.ok) return answer;
  throw new LocalError(`${method} ${url} answered ${response.status}: ${JSON.stringify(answer)}`);
}
