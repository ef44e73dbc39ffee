import type { Delivery, OutgoingMessage } from '../../lambdas/domain/queues/ports.ts';
import type { PortCall } from '../support/memory/index.ts';
import type { Fate } from './faults.ts';
import type { Arrival, Meaning, ProviderName } from './provider.ts';

export interface Stats {
  records: number;
  deliveries: number;
  crashes: number;
  faults: number;
  calls: number;
  extraCalls: number;
  replays: number;
}

/** An invariant that does not hold. */
export interface Violation {
  invariant: string;
  message: string;
  /** Names of the records and submissions that it is about. */
  subjects: readonly string[];
  atMs: number;
}

interface Calls {
  made: number;
  /** Why another call was right: it failed, or it was told to wait or refused. */
  failed: number;
}

/** Name of a record everywhere in the simulation: submission 3 is stored as `sub_3`. */
export const nameOf = (submissionId: string, recordNo: number): string =>
  `${submissionId.replace('sub_', 's')}r${recordNo}`;

/** What happened, what it cost, and what must not have happened. */
export class Journal {
  readonly stats: Stats = { records: 0, deliveries: 0, crashes: 0, faults: 0, calls: 0, extraCalls: 0, replays: 0 };
  readonly lines: string[] = [];
  violation: Violation | undefined;
  readonly #now: () => number;
  readonly #startMs: number;
  readonly #isTraced: boolean;
  readonly #calls = new Map<string, Calls>();
  /** By environment and provider: answers without data of the present invocation that no canary has spoken for yet. */
  readonly #unverified = new Map<string, Calls[]>();
  /** What the canary that an environment asks now will speak for. */
  readonly #asked = new Map<string, Calls[]>();
  /** Per record, events after which an answer may rightly be bought again: each may have lost one on its way to the row. */
  readonly #disturbances = new Map<string, number>();
  /** Per record, deliveries to functions that died with them. */
  readonly #deaths = new Map<string, number>();
  readonly #transients = new Map<string, number>();
  readonly #messages = new Map<string, string>();

  constructor(now: () => number, isTraced: boolean) {
    this.#now = now;
    this.#startMs = now();
    this.#isTraced = isTraced;
  }

  note(text: string): void {
    if (!this.#isTraced) return;
    this.lines.push(`${((this.#now() - this.#startMs) / 1_000).toFixed(3).padStart(10)} s  ${text}`);
  }

  call(environment: string, call: PortCall, { answer }: Fate): void {
    // Without a slot the canary is not asked: what waited for it is asked for again.
    if (call.method === 'reserve' && answer !== 'given') {
      this.#forgetUnverified(`${environment}/${(call.args[0] as { provider: string }).provider}`);
    }
    if (this.#isTraced) this.note(`${environment} ${call.port}.${call.method} ${answer} ${brief(call.args)}`);
  }

  /** The first broken invariant ends the run. */
  broken(invariant: string, message: string, subjects: readonly string[]): void {
    this.violation ??= { invariant, message, subjects, atMs: this.#now() - this.#startMs };
  }

  delivered(record: string | undefined, { messageId }: Delivery): void {
    this.stats.deliveries += 1;
    if (record !== undefined) this.#messages.set(messageId, record);
  }

  recordOf(messageId: string): string | undefined {
    return this.#messages.get(messageId);
  }

  died(records: readonly string[]): void {
    for (const record of records) {
      this.disturbRecord(record);
      this.#deaths.set(record, this.deathsOf(record) + 1);
    }
  }

  /** Calls of any provider about a record that failed. */
  transientsOf(record: string): number {
    return this.#transients.get(record) ?? 0;
  }

  deathsOf(record: string): number {
    return this.#deaths.get(record) ?? 0;
  }

  disturbRecord(record: string): void {
    this.#disturbances.set(record, (this.#disturbances.get(record) ?? 0) + 1);
  }

  /** A call of AWS failed, or its reply was lost: what the records in it carried may be lost. */
  disturb({ port, method, args }: PortCall): void {
    for (const record of recordsIn(port, method, args, this.#messages)) this.disturbRecord(record);
  }

  arrival({ provider, record, environment }: Arrival): void {
    this.stats.calls += 1;
    this.note(`${environment} calls ${provider} about ${record}`);
    // The canary speaks for what was answered before it was asked.
    if (record === 'canary') this.#asked.set(environment, [...this.#unverifiedOf(provider, environment)]);
    if (record === 'canary') return;
    const calls = this.#callsOf(provider, record);
    calls.made += 1;
    const allowed = 1 + calls.failed + (this.#disturbances.get(record) ?? 0);
    if (calls.made > 1 + calls.failed) this.stats.extraCalls += 1;
    if (calls.made <= allowed) return;
    this.broken('calls', `${provider} was asked ${calls.made} times about ${record}; ${allowed} calls are explained`, [
      record,
    ]);
  }

  answered(provider: ProviderName, record: string, meaning: Meaning, environment: string): void {
    this.note(`${provider} gives ${environment} ${meaning} about ${record}`);
    if (record === 'canary') return this.#canaryAnswered(provider, meaning, environment);
    if (meaning === 'answer') return;
    const calls = this.#callsOf(provider, record);
    calls.failed += 1;
    // What a canary with data confirms is the record's, and is not asked for again.
    if (meaning === 'unverified') this.#unverifiedOf(provider, environment).push(calls);
    if (meaning === 'transient') this.#transients.set(record, this.transientsOf(record) + 1);
  }

  #canaryAnswered(provider: ProviderName, meaning: Meaning, environment: string): void {
    const confirmed = this.#asked.get(environment) ?? [];
    this.#unverified.delete(`${environment}/${provider}`);
    this.#asked.delete(environment);
    if (meaning === 'answer') for (const calls of confirmed) calls.failed -= 1;
  }

  /** A function is invoked: a canary that it asks speaks for nothing that came before. */
  invoked(environment: string): void {
    this.#forgetUnverified(`${environment}/`);
  }

  #forgetUnverified(prefix: string): void {
    for (const key of this.#unverified.keys()) if (key.startsWith(prefix)) this.#unverified.delete(key);
  }

  #unverifiedOf(provider: ProviderName, environment: string): Calls[] {
    const key = `${environment}/${provider}`;
    const found = this.#unverified.get(key) ?? [];
    this.#unverified.set(key, found);
    return found;
  }

  #callsOf(provider: ProviderName, record: string): Calls {
    const key = `${provider}/${record}`;
    const calls = this.#calls.get(key) ?? { made: 0, failed: 0 };
    this.#calls.set(key, calls);
    return calls;
  }
}

/** The records that a call is about, where losing it can lose an answer. */
function recordsIn(
  port: string,
  method: string,
  args: readonly unknown[],
  messages: ReadonlyMap<string, string>,
): string[] {
  if (method === 'acknowledge') {
    return (args[0] as Delivery[]).flatMap(({ messageId }) => messages.get(messageId) ?? []);
  }
  if (port === 'records' && method === 'put') {
    const { submissionId, recordNo } = args[0] as { submissionId: string; recordNo: number };
    return [nameOf(submissionId, recordNo)];
  }
  if (method !== 'send') return [];
  return (args[0] as OutgoingMessage[]).flatMap(({ body }) => recordOfBody(body)?.record ?? []);
}

/** What a record's message says about it. */
export interface About {
  record: string;
  submissionId: string;
  recordNo: number;
  generation: number;
  firstEnqueuedAtMs: number;
}

/** Whose message a body is; undefined for one that no worker can read. */
export function recordOfBody(body: string): About | undefined {
  try {
    const { submissionId, recordNo, generation, firstEnqueuedAtMs } = JSON.parse(body);
    if (typeof recordNo !== 'number') return undefined;
    return { record: nameOf(submissionId, recordNo), submissionId, recordNo, generation, firstEnqueuedAtMs };
  } catch {
    return undefined;
  }
}

const MAX_BRIEF = 220;
const brief = (args: readonly unknown[]): string => {
  const text = JSON.stringify(args, (_key, value: unknown) =>
    value instanceof Uint8Array ? `${value.length} bytes` : value,
  );
  return text.length > MAX_BRIEF ? `${text.slice(0, MAX_BRIEF)}…` : text;
};
