import { PROVIDERS } from '../../config/providers.ts';
import {
  DependencyMisconfiguredError,
  DependencyUnavailableError,
  isPassingFailure,
} from '../../lambdas/domain/errors.ts';
import type { ProviderConfig } from '../../lambdas/domain/providers/config.ts';
import type { DomainEvent } from '../../lambdas/domain/telemetry.ts';
import { Alarms, type Transition } from '../../local/cloud/index.ts';
import type { Environment } from '../simulation/environment.ts';
import type { FunctionOptions } from '../simulation/functions.ts';
import type { Outage, Plan } from '../simulation/plan.ts';
import { providerConfigs } from '../simulation/provider.ts';
import { Simulation } from '../simulation/run.ts';
import { intercept } from '../support/memory/hook.ts';
import { START_MS, type PortHook } from '../support/memory/index.ts';
import { QUEUE_NAMES, type QueueName } from '../support/memory/queues.ts';
import { FUNCTIONS, Meter, type FunctionKind } from './meter.ts';
import type { SynthesizedStage } from './stage.ts';

const MINUTE_MS = 60_000;
/** Within a minute, when queues are measured; and when alarms are evaluated, by what was reported until the minute's end. */
const SAMPLE_AT_MS = 55_000;
const EVALUATE_AT_MS = MINUTE_MS + 5_000;
const AUDIT_EVERY_MINUTES = 30;

/** What an account's own trouble does to a function. */
export type Ailment =
  /** Its event source or its schedule is disabled. */
  | { readonly what: 'stopped' }
  /** It fails at its start: a broken deployment. */
  | { readonly what: 'broken' }
  /** The account has no concurrency left for it. */
  | { readonly what: 'throttled' }
  /** It is done after so long, because something that it waits for is slow. */
  | { readonly what: 'slow'; readonly ms: number }
  /** Calls of a port are refused for want of a permission, get no answer, or meet a defect of ours. */
  | { readonly what: 'denied' | 'failing' | 'defective'; readonly port: string; readonly methods?: readonly string[] };

/** Nothing goes wrong by chance: what does is what a drill wants. */
const CALM = {
  submissions: [],
  throttles: [],
  brownOuts: [],
  mishaps: [],
  crashShare: 0,
  lostReplyShare: 0,
  failureShare: 0,
  partialShare: 0,
  duplicateShare: 0,
  delayShare: 0,
  flakyShare: 0,
  skewMs: 20,
  slowReplyMs: 15,
  workerTimeoutMs: 60_000,
  checkpointRecords: 250,
  workers: 4,
} as const satisfies Partial<Plan>;

/** Invariants that know records by the files of the simulation's own submissions; here files come through the API. */
const NOT_HERE: ReadonlySet<string> = new Set(['calls', 'bought once', 'only failures are attempts']);

export interface MonitoredOptions {
  readonly stage: SynthesizedStage;
  readonly seed: number;
  readonly outages?: readonly Outage[];
  /** What goes wrong now and then on any day. Default: nothing. */
  readonly noise?: Partial<Pick<Plan, 'flakyShare' | 'duplicateShare' | 'throttles'>>;
}

/** The simulated account with the alarms of a stage on it: the real code on a virtual clock, measured every minute. */
export class MonitoredSimulation extends Simulation {
  readonly meter: Meter;
  readonly alarms: Alarms;
  readonly transitions: Transition[] = [];
  /** Broken invariants and unexplained errors, by name. */
  readonly problems: { readonly invariant: string; readonly message: string }[] = [];
  /** Whether the version is deployed that reads the messages of a newer one. */
  readsNewer = false;
  readonly #ailments = new Map<FunctionKind, Ailment>();

  constructor({ stage, seed, outages = [], noise = {} }: MonitoredOptions) {
    super({ ...CALM, ...noise, seed, outages }, false);
    this.meter = new Meter(stage, this.world.queues, () => this.scheduler.now());
    this.alarms = new Alarms({ resources: stage.resources, store: this.meter.store, sinceMs: START_MS });
    this.alarms.observe((transition) => this.transitions.push(transition));
    this.#collectProblems();
    this.#auditSeldom();
  }

  /** Lets a function be well or ill from now on. */
  afflict(kind: FunctionKind, ailment: Ailment | undefined): void {
    if (ailment === undefined) this.#ailments.delete(kind);
    else this.#ailments.set(kind, ailment);
  }

  /** Does something so many minutes after the start. */
  at(minute: number, act: () => Promise<unknown> | void): void {
    this.pending += 1;
    this.scheduler.at(START_MS + minute * MINUTE_MS, () => {
      void Promise.resolve(act()).finally(() => {
        this.pending -= 1;
      });
    });
  }

  /** Runs for so many minutes, measured and watched. */
  async watchFor(minutes: number): Promise<void> {
    for (let minute = 0; minute < minutes; minute++) {
      this.at(minute + SAMPLE_AT_MS / MINUTE_MS, async () => this.meter.sampleQueues());
      this.at(minute + EVALUATE_AT_MS / MINUTE_MS, () => void this.alarms.evaluate(this.scheduler.now()));
    }
    try {
      const { violation } = await this.run();
      if (violation !== undefined) throw new Error(`${violation.invariant}: ${violation.message}`);
    } finally {
      await this.meter.stop();
    }
  }

  override visibilityMs(name: QueueName): number {
    return this.meter.visibilityMs(name);
  }

  override isEnabled(name: QueueName | 'reconciler'): boolean {
    return this.#ailments.get(name)?.what !== 'stopped';
  }

  override environment(kind: string): Environment {
    const environment = super.environment(kind);
    if (!isKnown(kind)) return environment;
    const invoke = environment.invoke.bind(environment);
    environment.invoke = async (_timeoutMs, work) => {
      const ailment = this.#ailments.get(kind);
      if (ailment?.what === 'throttled') {
        this.meter.invoked(kind, 'throttled', 0);
        return 'died';
      }
      return this.#measured(kind, async () =>
        invoke(this.meter.functionOf(kind).timeoutMs, async (budget) => {
          if (ailment?.what === 'broken') environment.die('failed at its start');
          const result = await work(budget);
          if (ailment?.what === 'slow') await this.#until(environment.invokedAtMs + ailment.ms);
          return result;
        }),
      );
    };
    const readable = environment.readable.bind(environment);
    environment.readable = (deliveries) => (this.readsNewer ? this.newer.read(deliveries) : readable(deliveries));
    this.#hurt(kind, environment);
    return environment;
  }

  override options(environment: Environment): FunctionOptions {
    const options = super.options(environment);
    const kind = environment.name.replace(/-\d+$/, '');
    return {
      ...options,
      telemetry: {
        emit: (event) => {
          if (isKnown(kind)) this.meter.told(kind, atConfiguredRate(event));
          options.telemetry.emit(event);
        },
      },
    };
  }

  async #measured<T>(kind: FunctionKind, invoke: () => Promise<{ ended: T } | 'died'>): Promise<{ ended: T } | 'died'> {
    const startMs = this.scheduler.now();
    const report = (outcome: 'succeeded' | 'failed'): void =>
      this.meter.invoked(kind, outcome, this.scheduler.now() - startMs);
    try {
      const result = await invoke();
      report(result === 'died' ? 'failed' : 'succeeded');
      return result;
    } catch (error) {
      report('failed');
      // As the wrapper of functions does that a schedule or a person calls.
      const level = isPassingFailure(error) ? 'warn' : 'error';
      this.meter.told(kind, { name: 'unexpected_error', level, error });
      throw error;
    }
  }

  async #until(atMs: number): Promise<void> {
    await this.scheduler.sleep(atMs - this.scheduler.now());
  }

  /** Stands between the function and its ports. */
  #hurt(kind: FunctionKind, environment: Environment): void {
    const { ports } = environment;
    const hook: PortHook = async (call, apply) => {
      const ailment = this.#ailments.get(kind);
      // Functions of the API measure their answers by themselves.
      const isSlow = ailment?.what === 'slow' && (kind === 'submit' || kind === 'status');
      if (isSlow) await this.#until(environment.invokedAtMs + ailment.ms);
      const isHurt =
        (ailment?.what === 'denied' || ailment?.what === 'failing' || ailment?.what === 'defective') &&
        ailment.port === call.port &&
        (ailment.methods?.includes(call.method) ?? true);
      if (!isHurt) return apply();
      if (ailment.what === 'defective') throw new TypeError(`A defect in ${call.port}.${call.method}.`);
      const isDenied = ailment.what === 'denied';
      const refused = { action: `${call.port}.${call.method}`, resource: call.port };
      if (call.method !== 'send' && !isDenied) throw new DependencyUnavailableError('ThrottlingException (HTTP 400).');
      if (call.method !== 'send') throw new DependencyMisconfiguredError('AccessDeniedException (HTTP 400).', refused);
      // The sender reports what was not taken.
      const [messages] = call.args;
      return Array.from({ length: Array.isArray(messages) ? messages.length : 0 }, (_, index) => ({
        index,
        senderFault: false,
        ...(isDenied ? { code: 'AccessDenied', refused } : { code: 'ThrottlingException' }),
      }));
    };
    Object.assign(ports, {
      submissions: intercept('submissions', ports.submissions, hook),
      ledger: intercept('ledger', ports.ledger, hook),
      records: intercept('records', ports.records, hook),
      providers: intercept('providers', ports.providers, hook),
      admission: intercept('admission', ports.admission, hook),
      webhooks: intercept('webhooks', ports.webhooks, hook),
      credentials: intercept('credentials', ports.credentials, hook),
    });
    const plain = ['messages', 'duplicate', 'purge', 'nextVisibleAtMs', 'giveBack'] as const;
    for (const group of ['live', 'deadLetters'] as const) {
      for (const name of QUEUE_NAMES) {
        const port = `${group === 'live' ? 'queues' : group}.${name}`;
        ports.queues[group][name] = intercept(port, ports.queues[group][name], hook, plain);
      }
    }
  }

  /** Going through everything that a day has stored, every minute, would take longer than the day's work. */
  #auditSeldom(): void {
    const audit = this.watch.audit.bind(this.watch);
    let minute = 0;
    this.watch.audit = () => {
      if (minute++ % AUDIT_EVERY_MINUTES === 0) audit();
    };
  }

  #collectProblems(): void {
    const broken = this.journal.broken.bind(this.journal);
    this.journal.broken = (invariant, message, subjects) => {
      if (invariant === 'no circles') broken(invariant, message, subjects);
      else if (!NOT_HERE.has(invariant)) this.problems.push({ invariant, message });
    };
  }
}

const isKnown = (kind: string): kind is FunctionKind => Object.hasOwn(FUNCTIONS, kind);

const SIMULATED = providerConfigs({ skewMs: 0, slowReplyMs: 0 });

/** The simulated providers allow less than the configured ones, by whose rates the alarms are made: their share is what counts. */
function atConfiguredRate(event: DomainEvent): DomainEvent {
  if (event.outcome !== 'granted_rate' || event.count === undefined) return event;
  const rateOf = (configs: readonly ProviderConfig[]): number =>
    configs.find(({ name }) => name === event.provider)?.ratePerSecond ?? 1;
  return { ...event, count: (event.count * rateOf(PROVIDERS)) / rateOf(SIMULATED) };
}
