import { SLICES_PER_INVOCATION } from '../../lambdas/domain/capacity.ts';
import { isOpen } from '../../lambdas/domain/model.ts';
import { LeaseLostError, isPassingFailure } from '../../lambdas/domain/errors.ts';
import { createMemoryWorld, START_MS, type MemoryWorld } from '../support/memory/index.ts';
import type { QueueName } from '../support/memory/queues.ts';
import { Environment } from './environment.ts';
import { EventSource, type EventSourceOptions } from './event-source.ts';
import { Faults } from './faults.ts';
import * as functions from './functions.ts';
import { Journal, type Stats, type Violation } from './journal.ts';
import { FileTroubles } from './file-troubles.ts';
import { arrange } from './mishaps.ts';
import { checkOutcomes, recordsThatMustSucceed } from './outcomes.ts';
import { NewerVersion } from './newer-version.ts';
import type { Plan } from './plan.ts';
import { providerConfigs, SimulatedProvider, type ProviderName } from './provider.ts';
import { stream } from './random.ts';
import { createScheduler, type Scheduler } from './scheduler.ts';
import { Watch } from './watch.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** AWS misbehaves and functions die for so long; provider outages last as long as planned. */
const FAULTY_MS = 2 * HOUR_MS;
/** By then every submission must have ended. */
const LONGEST_RUN_MS = 72 * HOUR_MS;
/** Far more than any plan needs: something runs in circles. */
const MOST_EVENTS = 300_000;

export interface RunResult {
  plan: Plan;
  stats: Stats;
  events: number;
  virtualMs: number;
  violation: Violation | undefined;
  /** What happened, line by line; empty without `trace`. */
  lines: readonly string[];
}

/** Runs a plan until nothing is left to do, or an invariant is broken. */
export async function run(plan: Plan, { trace = false } = {}): Promise<RunResult> {
  const simulation = new Simulation(plan, trace);
  return simulation.run();
}

export class Simulation {
  readonly plan: Plan;
  readonly scheduler: Scheduler = createScheduler(START_MS);
  readonly journal: Journal;
  readonly world: MemoryWorld;
  readonly watch: Watch;
  readonly faults: Faults;
  readonly newer: NewerVersion;
  readonly files = new FileTroubles(this.scheduler);
  readonly #providers: Record<ProviderName, SimulatedProvider>;
  readonly #sources: Record<QueueName, EventSource>;
  #environments = 0;
  #turns = 0;
  #isQuiet = false;
  /** Mishaps that are still to come. */
  pending = 0;

  constructor(plan: Plan, trace: boolean) {
    const { scheduler } = this;
    this.plan = plan;
    this.journal = new Journal(scheduler.now, trace);
    this.watch = new Watch(this.journal, scheduler, plan.skewMs, recordsThatMustSucceed(plan));
    this.faults = new Faults(plan, START_MS, FAULTY_MS);
    this.newer = new NewerVersion(plan, scheduler.now);
    this.world = createMemoryWorld({
      clock: scheduler,
      random: stream(plan.seed, 'order').next,
      hook: this.watch.hook,
      pieceBytes: 4_096,
      credentials: { company: 'key of company', geo: 'key of geo' },
    });
    const [company, geo] = providerConfigs(plan);
    if (company === undefined || geo === undefined) throw new Error('There are two providers.');
    this.#providers = {
      company: new SimulatedProvider(company, 'company', plan, scheduler, this.journal),
      geo: new SimulatedProvider(geo, 'geo', plan, scheduler, this.journal),
    };
    this.#sources = {
      prepare: this.#source('prepare', {
        batchSize: 1,
        maxConcurrency: 3,
        timeoutMs: functions.PREPARE_TIMEOUT_MS,
        work: (environment) => functions.prepareOf(environment, this.options(environment)),
      }),
      fanOut: this.#slices('fanOut', functions.fanOutOf),
      finalize: this.#slices('finalize', functions.finalizerOf),
      webhooks: this.#source('webhooks', {
        batchSize: 10,
        maxConcurrency: 3,
        timeoutMs: functions.WEBHOOKS_TIMEOUT_MS,
        work: (environment) => functions.webhooksOf(environment, this.options(environment)),
      }),
      small: this.#workers('small'),
      bulk: this.#workers('bulk'),
    };
    this.watch.attach(this.world, (port) => this.#wake(port));
  }

  async run(): Promise<RunResult> {
    arrange(this);
    this.#everyMinute();
    const endMs = START_MS + LONGEST_RUN_MS;
    const { scheduler, journal, plan } = this;
    const events = await scheduler.run(() => this.#isOver(endMs));
    if (journal.violation === undefined) {
      this.watch.audit();
      await checkOutcomes(this.world, plan, journal);
    }
    journal.stats.records = plan.submissions.reduce((sum, { kinds }) => sum + kinds.length, 0);
    const { stats, violation, lines } = journal;
    return { plan, stats, events, virtualMs: scheduler.now() - START_MS, violation, lines };
  }

  #isOver(endMs: number): boolean {
    if (++this.#turns > MOST_EVENTS)
      this.journal.broken('no circles', `It is not over after ${MOST_EVENTS} events`, []);
    return this.#isQuiet || this.journal.violation !== undefined || this.scheduler.now() > endMs;
  }

  /** A new environment of a function, with a clock of its own. */
  environment(kind: string): Environment {
    const name = `${kind}-${++this.#environments}`;
    const { skewMs, seed } = this.plan;
    return new Environment(this, name, Math.round(stream(seed, name).between(-skewMs, skewMs)));
  }

  get sinceStartMs(): number {
    return this.scheduler.now() - START_MS;
  }

  options(environment: Environment): functions.FunctionOptions {
    const { name } = environment;
    return {
      random: stream(this.plan.seed, `random of ${name}`).next,
      checkpointRecords: this.plan.checkpointRecords,
      workerTimeoutMs: this.plan.workerTimeoutMs,
      telemetry: { emit: (event) => this.#heard(name, event) },
      transport: environment.transport(async (request) => {
        const provider = request.url.includes('//company.') ? 'company' : 'geo';
        return this.#providers[provider].answer(request, environment, this.watch);
      }),
    };
  }

  #heard(
    environment: string,
    { name, error, level, ...about }: Parameters<functions.FunctionOptions['telemetry']['emit']>[0],
  ): void {
    if (level !== 'debug' || name.startsWith('record_'))
      this.journal.note(`${environment} says ${name} ${JSON.stringify(about)}`);
    if (name === 'submission_finalizing') this.#loseFileOf(about.submissionId);
    if (name !== 'unexpected_error' || isPassingFailure(error) || error instanceof LeaseLostError) return;
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.journal.broken('no defect', `${environment} met an error that nothing explains: ${what}`, []);
  }

  #loseFileOf(submissionId: string | undefined): void {
    const submission = this.world.inspect.submissions().find((one) => one.submissionId === submissionId);
    if (submission) this.files.finalizing(submission.source);
  }

  /** How long a queue hides what its function has received. */
  visibilityMs(_name: QueueName, timeoutMs: number): number {
    return functions.visibilityMs(timeoutMs);
  }

  /** Whether the event source of a queue, or the schedule of the reconciler, does its work; for those who disturb it. */
  isEnabled(_name: QueueName | 'reconciler'): boolean {
    return true;
  }

  #workers(lane: 'small' | 'bulk'): EventSource {
    return this.#source(lane, {
      batchSize: 10,
      maxConcurrency: this.plan.workers,
      timeoutMs: this.plan.workerTimeoutMs,
      work: (environment) => functions.workerOf(environment, this.options(environment), lane),
    });
  }

  #slices(queue: 'fanOut' | 'finalize', make: typeof functions.fanOutOf): EventSource {
    return this.#source(queue, {
      batchSize: SLICES_PER_INVOCATION,
      maxConcurrency: 3,
      timeoutMs: functions.SLICE_TIMEOUT_MS,
      work: (environment) => make(environment, this.options(environment)),
    });
  }

  #source(
    name: QueueName,
    {
      work,
      ...options
    }: Pick<EventSourceOptions, 'batchSize' | 'maxConcurrency' | 'timeoutMs'> & {
      work: (environment: Environment) => functions.QueueFunction;
    },
  ): EventSource {
    return new EventSource({
      ...options,
      queue: this.world.queues.live[name],
      visibilityMs: () => this.visibilityMs(name, options.timeoutMs),
      start: () => {
        const environment = this.environment(name);
        const process = work(environment);
        return {
          environment,
          work: async (deliveries, budget) => process(environment.readable(deliveries), budget),
        };
      },
      isEnabled: () => this.isEnabled(name),
      duplicateShare: this.plan.duplicateShare,
      scheduler: this.scheduler,
      journal: this.journal,
      dice: stream(this.plan.seed, `deliveries of ${name}`),
    });
  }

  #wake(port: string): void {
    for (const [name, source] of Object.entries(this.#sources)) if (port === `queues.${name}`) source.wake();
  }

  /** The reconciler's schedule; also the moment to look whether there is anything left to do. */
  #everyMinute(): void {
    const { scheduler } = this;
    scheduler.at(scheduler.now() + MINUTE_MS, () => {
      this.watch.audit();
      this.#isQuiet =
        this.pending === 0 &&
        this.world.inspect.submissions().every(({ state }) => !isOpen(state)) &&
        Object.values(this.#sources).every((source) => source.isIdle);
      void this.#reconcile();
      this.#everyMinute();
    });
  }

  async #reconcile(): Promise<void> {
    if (!this.isEnabled('reconciler')) return;
    const environment = this.environment('reconciler');
    await this.attempt(async () => functions.runReconciler(environment, this.options(environment)));
  }

  /** Runs what an operator or a schedule starts: nobody repeats it when it fails, and only a defect may fail otherwise. */
  async attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isPassingFailure(error)) this.journal.broken('no defect', `An invocation failed: ${String(error)}`, []);
    }
  }
}
