import { SluiceError } from './errors.ts';
import { isolatedRunMs, SETTLE_RESERVE_MS } from './limits.ts';
import { LANES, type Lane } from './model.ts';
import { LATENCY_FACTOR, PACE_SHARE, sustainedRate, type ProviderConfig } from './providers/config.ts';

/** Bounds of an event source's maximum concurrency, https://docs.aws.amazon.com/lambda/latest/api/API_ScalingConfig.html */
const MIN_EVENT_SOURCE_CONCURRENCY = 2;
const MAX_EVENT_SOURCE_CONCURRENCY = 1_000;
/** The longest that a function may run, https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
const MAX_FUNCTION_TIMEOUT_SECONDS = 900;
/** Records that an event source hands over without collecting for a second or longer. */
const MAX_BATCH_WITHOUT_WINDOW = 10;

/** What a batch costs beside its calls: reading, reserving, writing rows and ledger, acknowledging. */
const BATCH_OVERHEAD_MS = 100;
/** Loading the function's code, and reading what is stored about its batch. */
const SLOW_START_MS = 2_000;
/** What is left beyond waiting and answers: the reserve for writing and handing back, and a slow start. */
const HAND_BACK_MS = SETTLE_RESERVE_MS + SLOW_START_MS;
/** Shorter timeouts save nothing: a function is billed for what it uses. */
const MIN_FUNCTION_TIMEOUT_SECONDS = 30;

export interface CapacityInput {
  /** The providers with the stage's rates; each record may need a call to every one of them. */
  providers: readonly Pick<ProviderConfig, 'name' | 'ratePerSecond' | 'p99Ms' | 'timeoutMs' | 'maxConcurrentCalls'>[];
  /** Records per invocation. */
  batchSize: number;
  /** Part of the pace that each lane gets while both have work; together 1. */
  laneShares: Readonly<Record<Lane, number>>;
  /** The longest worker timeout that is acceptable; a crashed record comes back after six times the timeout. */
  maxFunctionTimeoutSeconds: number;
}

/** Numbers for the worker's functions, queues and event sources. */
export interface Capacity {
  /** Maximum concurrency of each lane's event source. */
  maxConcurrency: Readonly<Record<Lane, number>>;
  /** Calls that one worker may have open at each provider that limits them, by name: all workers together keep its limit. */
  callsPerWorker: Readonly<Record<string, number>>;
  batchWindowSeconds: number;
  functionTimeoutSeconds: number;
  visibilityTimeoutSeconds: number;
  /** How long a batch lasts while every worker of both lanes waits for the provider that lets the fewest calls through. */
  saturatedBatchMs: number;
  /** How long the calls of one record may take at the worst: all timeouts, one after the other. */
  slowestAnswerMs: number;
}

/** The numbers do not work together; the message says why and what to change. */
export class CapacityError extends SluiceError {}

/**
 * Derives how much may run at once from what the providers allow.
 *
 * - *Needed* concurrency: by Little's law, `pace × time per batch ÷ batch size` workers keep a provider busy, where the time is
 *   twice the 99th percentile of its answers plus the overhead of a batch. The most demanding provider decides.
 * - *Lanes*: whoever comes first to the pacer reserves a batch's worth of slots, so lanes with work share the pace in the
 *   ratio of their concurrency. The lane with the smallest share gets the needed concurrency, so that each lane alone can use the
 *   whole pace, and the others as much more as their share is larger.
 * - *Calls at the same time*: a provider's limit is divided among the workers that there can be, at least one call each; where
 *   there would be more workers than calls, fewer run. So the limit is kept by arithmetic, with nothing that a crash could leave
 *   behind.
 * - *Timeout*: while all of them are busy a batch waits for `total concurrency × batch size ÷ slowest provider`, be it by its pace or
 *   by its concurrent calls (see {@link sustainedRate}); after that the slowest answers and the hand-back must still fit.
 * - *Visibility*: see {@link visibilityTimeoutSeconds}.
 *
 * @throws CapacityError for a combination that cannot work.
 */
export function deriveCapacity(input: CapacityInput): Capacity {
  checkInput(input);
  const { providers, batchSize } = input;
  const wanted = laneConcurrency(input, Math.max(...providers.map((p) => neededConcurrency(p, batchSize))));
  const maxConcurrency = withinCallLimits(providers, wanted);
  const workers = total(maxConcurrency);
  const saturatedBatchMs = Math.ceil((workers * batchSize * 1_000) / Math.min(...providers.map(sustainedPerSecond)));
  const slowestAnswerMs = providers.reduce((sum, { timeoutMs }) => sum + timeoutMs, 0);
  const slowestCallMs = Math.max(...providers.map(({ timeoutMs }) => timeoutMs));
  const functionTimeoutSeconds = Math.max(
    MIN_FUNCTION_TIMEOUT_SECONDS,
    // A shorter one would send isolated records back for ever, since they never have the time that they need.
    Math.ceil((isolatedRunMs(slowestCallMs) + SLOW_START_MS) / 1_000),
    Math.ceil((saturatedBatchMs + slowestAnswerMs + HAND_BACK_MS) / 1_000),
  );
  checkTimeout(input, { workers, saturatedBatchMs, slowestAnswerMs, functionTimeoutSeconds });
  const batchWindowSeconds = batchSize > MAX_BATCH_WITHOUT_WINDOW ? 1 : 0;
  return {
    maxConcurrency,
    callsPerWorker: callsPerWorker(providers, workers),
    batchWindowSeconds,
    functionTimeoutSeconds,
    visibilityTimeoutSeconds: visibilityTimeoutSeconds(functionTimeoutSeconds, batchWindowSeconds),
    saturatedBatchMs,
    slowestAnswerMs,
  };
}

/**
 * Messages of one invocation of fan-out and finalizer: their slices run side by side, so it also bounds how many need memory at the
 * same time. SQS holds back a tenant that has at least 30 messages and more than a tenth of all in flight
 * (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues-detailed.html); the lowest concurrency of a
 * stage times this is above it, also while one slot is free.
 */
export const SLICES_PER_INVOCATION = 10;

/** Memory of the functions that work slices; so many of them side by side take less, see the benchmark `slices`. */
export const SLICES_MEMORY_MB = { fanOut: 1_024, finalizer: 2_048 } as const;

/**
 * Visibility timeout of a queue whose event source runs a function: six times its timeout plus the batching window, so
 * that a batch that is throttled or runs to the end is not delivered to another worker meanwhile. Source:
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
 */
export const visibilityTimeoutSeconds = (functionTimeoutSeconds: number, batchWindowSeconds = 0): number =>
  6 * functionTimeoutSeconds + batchWindowSeconds;

const pacePerSecond = ({ ratePerSecond }: Pick<ProviderConfig, 'ratePerSecond'>): number => ratePerSecond * PACE_SHARE;

const total = (byLane: Readonly<Record<Lane, number>>): number => LANES.reduce((sum, lane) => sum + byLane[lane], 0);

/** Calls per second that get through. */
const sustainedPerSecond = (provider: CapacityInput['providers'][number]): number =>
  sustainedRate(provider) * PACE_SHARE;

/** As many workers as every provider that limits its concurrent calls can give one call each. */
function withinCallLimits(
  providers: CapacityInput['providers'],
  wanted: Readonly<Record<Lane, number>>,
): Readonly<Record<Lane, number>> {
  const [tightest] = [...providers].sort(
    (a, b) => (a.maxConcurrentCalls ?? Infinity) - (b.maxConcurrentCalls ?? Infinity),
  );
  const limit = tightest?.maxConcurrentCalls ?? Infinity;
  const workers = total(wanted);
  if (workers <= limit) return wanted;
  const fewest = LANES.length * MIN_EVENT_SOURCE_CONCURRENCY;
  if (limit < fewest) {
    throw new CapacityError(
      `Provider "${tightest?.name}" has maxConcurrentCalls ${limit}, and the lanes' event sources run at least ` +
        `${fewest} workers together: raise it to ${fewest} or more.`,
    );
  }
  const small = Math.floor((limit * wanted.small) / workers);
  const clamped = Math.min(Math.max(small, MIN_EVENT_SOURCE_CONCURRENCY), limit - MIN_EVENT_SOURCE_CONCURRENCY);
  return { small: clamped, bulk: limit - clamped };
}

const callsPerWorker = (providers: CapacityInput['providers'], workers: number): Record<string, number> =>
  Object.fromEntries(
    providers.flatMap(({ name, maxConcurrentCalls }) =>
      maxConcurrentCalls === undefined ? [] : [[name, Math.floor(maxConcurrentCalls / workers)]],
    ),
  );

function neededConcurrency(provider: CapacityInput['providers'][number], batchSize: number): number {
  const batchSeconds = (LATENCY_FACTOR * provider.p99Ms + BATCH_OVERHEAD_MS) / 1_000;
  const needed = Math.ceil((pacePerSecond(provider) * batchSeconds) / batchSize);
  return Math.max(MIN_EVENT_SOURCE_CONCURRENCY, needed);
}

function laneConcurrency({ laneShares, batchSize }: CapacityInput, needed: number): Record<Lane, number> {
  const smallest = Math.min(...LANES.map((lane) => laneShares[lane]));
  const of = (lane: Lane): number => {
    const workers = Math.ceil((needed * laneShares[lane]) / smallest - 1e-9);
    if (workers <= MAX_EVENT_SOURCE_CONCURRENCY) return workers;
    const batches = Math.ceil((batchSize * workers) / MAX_EVENT_SOURCE_CONCURRENCY);
    throw new CapacityError(
      `The ${lane} lane needs ${workers} workers at once to keep up with its providers, and an event source allows ` +
        `${MAX_EVENT_SOURCE_CONCURRENCY}: raise worker.batchSize from ${batchSize} to ${batches} or more, or bring the shares of the lanes closer together.`,
    );
  };
  return { small: of('small'), bulk: of('bulk') };
}

function checkTimeout(
  { providers, batchSize, maxFunctionTimeoutSeconds }: CapacityInput,
  derived: { workers: number; saturatedBatchMs: number; slowestAnswerMs: number; functionTimeoutSeconds: number },
): void {
  const { workers, saturatedBatchMs, slowestAnswerMs, functionTimeoutSeconds } = derived;
  if (functionTimeoutSeconds <= maxFunctionTimeoutSeconds) return;
  const [slowest] = [...providers].sort((a, b) => sustainedPerSecond(a) - sustainedPerSecond(b));
  throw new CapacityError(
    `A batch does not fit into the worker's longest timeout of ${maxFunctionTimeoutSeconds} s: with ${workers} workers and ` +
      `${batchSize} records each it waits up to ${seconds(saturatedBatchMs)} for the slots of "${slowest?.name}" ` +
      `(${slowest && boundOf(slowest)}), then up to ${seconds(slowestAnswerMs)} for answers, and keeps ` +
      `${seconds(HAND_BACK_MS)} for handing back. Lower worker.batchSize or the providers' timeoutMs, or raise ` +
      `worker.maxTimeoutSeconds (up to ${MAX_FUNCTION_TIMEOUT_SECONDS}).`,
  );
}

/** What a provider's calls are bound by. */
const boundOf = (provider: CapacityInput['providers'][number]): string =>
  sustainedRate(provider) < provider.ratePerSecond
    ? `maxConcurrentCalls ${provider.maxConcurrentCalls}, answered within twice its p99Ms ${provider.p99Ms}`
    : `${provider.ratePerSecond} calls per second`;

function checkInput({ providers, batchSize, laneShares, maxFunctionTimeoutSeconds }: CapacityInput): void {
  if (providers.length === 0) throw new CapacityError('No provider is configured: add one to config/providers.ts.');
  for (const { name, ratePerSecond, p99Ms, timeoutMs, maxConcurrentCalls } of providers) {
    if (!(ratePerSecond > 0)) {
      throw new CapacityError(`Provider "${name}" allows ${ratePerSecond} calls per second: set a rate above zero.`);
    }
    if (maxConcurrentCalls !== undefined && !(Number.isInteger(maxConcurrentCalls) && maxConcurrentCalls >= 1)) {
      throw new CapacityError(
        `Provider "${name}" has maxConcurrentCalls ${maxConcurrentCalls}: set a whole number of at least 1, or leave it out.`,
      );
    }
    if (!(p99Ms > 0 && p99Ms < timeoutMs)) {
      throw new CapacityError(
        `Provider "${name}" has p99Ms ${p99Ms} and timeoutMs ${timeoutMs}: the 99th percentile must lie below the timeout, ` +
          'or more than one call in a hundred fails by configuration.',
      );
    }
  }
  if (!Number.isInteger(batchSize) || batchSize < 1) {
    throw new CapacityError(`worker.batchSize is ${batchSize}: set a whole number of records of at least 1.`);
  }
  const shares = LANES.map((lane) => laneShares[lane]);
  if (shares.some((share) => !(share > 0)) || Math.abs(shares.reduce((sum, share) => sum + share, 0) - 1) > 1e-9) {
    throw new CapacityError(`The lanes' shares are ${shares.join(' and ')}: they must be above zero and add up to 1.`);
  }
  if (!(maxFunctionTimeoutSeconds > 0 && maxFunctionTimeoutSeconds <= MAX_FUNCTION_TIMEOUT_SECONDS)) {
    throw new CapacityError(
      `worker.maxTimeoutSeconds is ${maxFunctionTimeoutSeconds}: set a value up to ${MAX_FUNCTION_TIMEOUT_SECONDS}.`,
    );
  }
}

const seconds = (ms: number): string => `${Math.ceil(ms / 100) / 10} s`;
