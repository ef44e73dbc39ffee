import type { HttpTransport } from '../../lambdas/domain/providers/ports.ts';
import type { ObjectStore, ObjectWriter } from '../../lambdas/domain/source/ports.ts';
import type { Delivery, OutgoingMessage } from '../../lambdas/domain/queues/ports.ts';
import type { Clock, TimeBudget } from '../../lambdas/domain/time.ts';
import { intercept } from '../support/memory/hook.ts';
import type { MemoryWorld, PortCall, PortHook } from '../support/memory/index.ts';
import type { FileTroubles } from './file-troubles.ts';
import { notTaken, unavailable, type Faults } from './faults.ts';
import type { Isolation } from './isolation.ts';
import { nameOf, recordOfBody, type Journal } from './journal.ts';
import type { NewerVersion } from './newer-version.ts';
import { KnownOutages } from './known-outages.ts';
import type { Scheduler } from './scheduler.ts';

export interface EnvironmentDeps {
  scheduler: Scheduler;
  world: MemoryWorld;
  faults: Faults;
  files: FileTroubles;
  journal: Journal;
  newer: NewerVersion;
  watch: { isolation: Isolation };
}

/** What an await of a dead function comes to: nothing, ever. */
const never = async <T>(): Promise<T> => new Promise<T>(() => undefined);

/**
 * One execution environment of a function: it has its own clock, and it may die at any await. What it had written stays; of what
 * it would have done next nothing happens.
 */
export class Environment {
  readonly name: string;
  readonly clock: Clock;
  readonly ports: Pick<
    MemoryWorld,
    'submissions' | 'ledger' | 'records' | 'providers' | 'answerCache' | 'admission' | 'credentials' | 'webhooks'
  > & {
    objects: ObjectStore;
    queues: MemoryWorld['queues'];
  };
  readonly #deps: EnvironmentDeps;
  readonly outages = new KnownOutages();
  /** True time at which the invocation that runs now began. */
  invokedAtMs = 0;
  #isAlive = true;
  #onDeath: () => void = () => undefined;

  constructor(deps: EnvironmentDeps, name: string, skewMs: number) {
    this.name = name;
    this.#deps = deps;
    const { scheduler, world } = deps;
    this.clock = {
      // Whole milliseconds, as machines give them.
      now: () => Math.floor(scheduler.now() + skewMs),
      sleep: async (ms) => this.#wait(ms),
    };
    const { submissions, ledger, records, providers, answerCache, admission, credentials, webhooks } = world;
    this.ports = {
      submissions: intercept('submissions', submissions, this.#call),
      ledger: intercept('ledger', ledger, this.#call),
      records: intercept('records', records, this.#call),
      providers: intercept('providers', providers, this.#call),
      answerCache: intercept('answerCache', answerCache, this.#call),
      admission: intercept('admission', admission, this.#call),
      webhooks: intercept('webhooks', webhooks, this.#call, ['deliveries']),
      // Read once per container: waiting for it in front of every call would only blur the pace.
      credentials: intercept('credentials', credentials, async (call, apply) =>
        call.method === 'get' ? this.#surviving(apply()) : this.#call(call, apply),
      ),
      objects: this.#objects(world.objects),
      queues: {
        live: this.#queues(world.queues.live, 'queues'),
        deadLetters: this.#queues(world.queues.deadLetters, 'deadLetters'),
      },
    };
  }

  /** Whether it is one of those that get a newer version first. */
  get isEarly(): boolean {
    return this.#deps.newer.isEarly(this.name);
  }

  /** What this environment's code reads in its deliveries. */
  readable(deliveries: readonly Delivery[]): readonly Delivery[] {
    const { newer } = this.#deps;
    return newer.runs(this.name) ? newer.read(deliveries) : deliveries;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Runs one invocation to its end, its death or its time limit. */
  async invoke<T>(timeoutMs: number, work: (budget: TimeBudget) => Promise<T>): Promise<{ ended: T } | 'died'> {
    const endMs = this.clock.now() + timeoutMs;
    this.invokedAtMs = this.#deps.scheduler.now();
    this.#deps.journal.invoked(this.name);
    const death = new Promise<'died'>((resolve) => {
      this.#onDeath = () => resolve('died');
    });
    let isOver = false;
    this.#deps.scheduler.at(this.#deps.scheduler.now() + timeoutMs, () => {
      if (isOver || !this.#isAlive) return;
      if (/^(small|bulk)-/.test(this.name)) {
        this.#deps.journal.broken('batches end in time', `${this.name} was ended half way through its batch`, []);
      }
      this.die('ran out of time');
    });
    const result = await Promise.race([this.#ended(work({ remainingMs: () => endMs - this.clock.now() })), death]);
    isOver = true;
    return result;
  }

  die(why: string): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    this.#deps.journal.note(`${this.name} ${why}`);
    this.#deps.journal.stats.crashes += 1;
    this.#onDeath();
  }

  /** The same transport, from which a dead function hears nothing. */
  transport(
    send: (request: Parameters<HttpTransport['request']>[0]) => ReturnType<HttpTransport['request']>,
  ): HttpTransport {
    return {
      request: async (request) => {
        const dies = this.#deps.faults.death(this.#deps.scheduler.now());
        if (dies === 'before') this.die('died before a call');
        if (!this.#isAlive) return never();
        const result = send(request);
        if (dies === 'after') this.die('died during a call');
        return this.#surviving(result);
      },
    };
  }

  async #ended<T>(work: Promise<T>): Promise<{ ended: T } | 'died'> {
    const ended = await work;
    return this.#isAlive ? { ended } : never();
  }

  async #surviving<T>(result: Promise<T>): Promise<T> {
    const value = await result;
    return this.#isAlive ? value : never();
  }

  async #wait(ms: number): Promise<void> {
    if (ms <= 0) return;
    const { scheduler, faults } = this.#deps;
    // As timers do.
    await scheduler.sleep(Math.max(1, Math.trunc(ms)));
    if (faults.death(scheduler.now()) !== 'never') this.die('died asleep');
    if (!this.#isAlive) return never();
  }

  readonly #call: PortHook = async (call, apply) => {
    const { scheduler, faults, journal, newer } = this.#deps;
    const fate = faults.fateOf(call, scheduler.now());
    await scheduler.sleep(fate.latencyBeforeMs);
    if (fate.dies === 'before') this.die(`died before ${call.port}.${call.method}`);
    if (!this.#isAlive) return never();
    if (fate.answer !== 'given') {
      journal.stats.faults += 1;
      journal.disturb(call);
    }
    journal.call(this.name, call, fate);
    this.#mustNotCharge(call);
    const args = newer.runs(this.name) ? newer.written(call) : call.args;
    const outcome = await applied(async () => apply(args), fate.answer === 'refused');
    await scheduler.sleep(fate.latencyAfterMs);
    if (fate.dies === 'after') this.die(`died after ${call.port}.${call.method}`);
    if (!this.#isAlive) return never();
    if (fate.answer !== 'given') throw unavailable(call);
    if ('error' in outcome) throw outcome.error;
    this.outages.heard(call, outcome.value);
    return outcome.value;
  };

  #mustNotCharge(call: PortCall): void {
    const row = this.outages.chargedBy(call);
    if (row === undefined) return;
    const record = nameOf(row.submissionId, row.recordNo);
    const message = `${this.name} charged ${record} with ${row.reason}, but knew that ${row.waitingOn} was out`;
    this.#deps.journal.broken('outages cost no attempt', message, [record]);
  }

  /** Queues answer what they did not take, instead of failing. */
  readonly #queueCall: PortHook = async (call, apply) => {
    if (call.method === 'send') return this.#send(call, apply);
    try {
      return await this.#call(call, apply);
    } catch (error) {
      if (call.method !== 'acknowledge') throw error;
      // Nobody knows which were deleted.
      const [deliveries] = call.args as [{ messageId: string }[]];
      return deliveries.map(({ messageId }) => messageId);
    }
  };

  async #send(call: PortCall, apply: Parameters<PortHook>[1]): Promise<unknown> {
    const { faults, scheduler, journal, watch } = this.#deps;
    const [messages] = call.args as [readonly OutgoingMessage[]];
    for (const { body } of messages) {
      const about = recordOfBody(body);
      if (about !== undefined) watch.isolation.sentBack(about.record);
    }
    const untaken = faults.untaken(messages.length, scheduler.now());
    if (untaken.size > 0) {
      journal.stats.faults += 1;
      journal.disturb(call);
    }
    const taken = messages
      .filter((_, index) => !untaken.has(index))
      .map((message) => ({ ...message, delayMs: (message.delayMs ?? 0) + faults.lateMs(scheduler.now()) }));
    try {
      await this.#call({ ...call, args: [taken] }, async (args = [taken]) => apply(args));
      return notTaken(untaken);
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'DependencyUnavailableError') throw error;
      return notTaken(messages.keys());
    }
  }

  #queues(queues: MemoryWorld['queues']['live'], port: string): MemoryWorld['queues']['live'] {
    const hooked = (name: keyof typeof queues) =>
      intercept(`${port}.${name}`, queues[name], this.#queueCall, [
        'messages',
        'duplicate',
        'purge',
        'nextVisibleAtMs',
        'giveBack',
      ]);
    return {
      prepare: hooked('prepare'),
      fanOut: hooked('fanOut'),
      small: hooked('small'),
      bulk: hooked('bulk'),
      finalize: hooked('finalize'),
      webhooks: hooked('webhooks'),
    };
  }

  #objects(objects: MemoryWorld['objects']): ObjectStore {
    const hooked = intercept('objects', objects, this.#call, ['writer', 'seed', 'keys', 'text', 'delete']);
    return {
      head: async (key) => hooked.head(key),
      getSmall: async (key, maxBytes) => hooked.getSmall(key, maxBytes),
      put: async (key, body, contentType) => hooked.put(key, body, contentType),
      create: async (key, body, contentType) => hooked.create(key, body, contentType),
      read: async (source, fromByte) => {
        this.#deps.files.check(source);
        return this.#read(await hooked.read(source, fromByte));
      },
      writer: (key, contentType, options): ObjectWriter =>
        intercept('writer', objects.writer(key, contentType, options), this.#call),
    };
  }

  async *#read(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const piece of pieces) {
      await this.#call({ port: 'objects', method: 'readPiece', args: [] }, async () => undefined);
      yield piece;
    }
  }
}

async function applied(
  apply: () => Promise<unknown>,
  isRefused: boolean,
): Promise<{ value: unknown } | { error: unknown }> {
  if (isRefused) return { value: undefined };
  try {
    return { value: await apply() };
  } catch (error) {
    return { error };
  }
}
