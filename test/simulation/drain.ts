import { lookUp } from '../../lambdas/domain/providers/lookup-batch.ts';
import { prepareProviders } from '../../lambdas/domain/providers/provider.ts';
import type { EnrichDeps } from '../../lambdas/domain/providers/call.ts';
import { intercept } from '../support/memory/hook.ts';
import { createMemoryWorld, START_MS } from '../support/memory/index.ts';
import { providerConfigs } from './provider.ts';
import { stream } from './random.ts';
import { createScheduler, type Scheduler } from './scheduler.ts';

export interface DrainOptions {
  seed: number;
  calls: number;
  ratePerSecond: number;
  /** Calls that the provider tolerates beyond its rate at one moment. */
  burst: number;
  workers: number;
  batchSize: number;
  /** The longest answer; the shortest takes 20 ms. */
  slowestMs?: number;
  /** What a worker does beside the calls of a batch: writing, acknowledging, receiving. */
  overheadMs?: number;
}

/** A second's calls at 1,000 a second, 50 workers, and a tolerance of 5 % of a second's calls. */
export const FULL_DRAIN: DrainOptions = {
  seed: 1,
  calls: 40_000,
  ratePerSecond: 1_000,
  burst: 50,
  workers: 50,
  batchSize: 10,
};

export interface DrainResult {
  calls: number;
  /** Calls made per call that the limit allows, from the first call to the last. */
  utilisation: number;
  /** Most calls in any second, as a share of the limit. */
  peak: number;
  /** Calls that a token bucket of the rate and the burst refuses. */
  refused: number;
  isMet: boolean;
}

const LEAST_UTILISATION = 0.98;
const MOST_PEAK = 1.01;

/** Workers ask a provider about records as fast as the pacer lets them, until all are done. */
export async function runDrain(options: DrainOptions): Promise<DrainResult> {
  const scheduler = createScheduler(START_MS);
  const arrivals: number[] = [];
  const deps = drainDeps(options, scheduler, () => {
    arrivals.push(scheduler.now());
    return 200;
  });
  const [config] = providerConfigs({ skewMs: 0, slowReplyMs: 0 });
  if (config === undefined) throw new Error('There is a provider.');
  const [api] = prepareProviders([{ ...config, ratePerSecond: options.ratePerSecond, burst: options.burst }]);
  if (api === undefined) throw new Error('There is a provider.');
  let left = options.calls;
  let running = options.workers;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      const size = Math.min(options.batchSize, left);
      left -= size;
      const endMs = scheduler.now() + 60_000;
      const questions = Array.from({ length: size }, (_, index) => ({
        url: `https://company.example/v1/${left + index}`,
        isLastAttempt: false,
      }));
      const results = await lookUp(deps, api, questions, { remainingMs: () => endMs - scheduler.now() });
      left += results.filter(({ kind }) => kind !== 'answer').length;
      await scheduler.sleep(options.overheadMs ?? 0);
    }
    running -= 1;
  };
  for (let index = 0; index < options.workers; index++) void worker();
  await scheduler.run(() => running === 0);
  return judge(options, arrivals);
}

/** Answers take from 20 ms on, and the pacer's item now and then longer than the lead that a reservation has. */
export function drainDeps(
  { seed, slowestMs = 400 }: Pick<DrainOptions, 'seed' | 'slowestMs'>,
  scheduler: Scheduler,
  answer: (url: string) => number,
): EnrichDeps {
  const dice = stream(seed, 'drain');
  const world = createMemoryWorld({ clock: scheduler, credentials: { company: 'key of company' } });
  return {
    providers: intercept('providers', world.providers, async (_call, apply) => {
      await scheduler.sleep(dice.between(0.5, 4));
      const result = await apply();
      await scheduler.sleep(dice.chance(0.01) ? dice.between(4, 40) : dice.between(0.5, 8));
      return result;
    }),
    transport: {
      async request({ url }) {
        const status = answer(url);
        await scheduler.sleep(dice.between(20, slowestMs));
        return { kind: 'response', status, headers: {}, body: Buffer.from('{"found":"x"}'), truncated: false };
      },
    },
    credentials: world.credentials,
    telemetry: { emit: () => undefined },
    // Timers fire on whole milliseconds, and late rather than early.
    clock: {
      now: () => Math.floor(scheduler.now()),
      sleep: async (ms) => scheduler.sleep(Math.max(1, ms) + dice.next()),
    },
    random: dice.next,
    owner: 'drain',
  };
}

function judge({ calls, ratePerSecond, burst }: DrainOptions, arrivals: readonly number[]): DrainResult {
  const sorted = arrivals.toSorted((a, b) => a - b);
  const lengthMs = (sorted.at(-1) ?? 0) - (sorted[0] ?? 0);
  const utilisation = (arrivals.length * 1_000) / lengthMs / ratePerSecond;
  const peak = mostInASecond(sorted) / ratePerSecond;
  const refused = refusedBy(sorted, ratePerSecond, burst);
  const isMet = utilisation >= LEAST_UTILISATION && peak <= MOST_PEAK && refused === 0 && arrivals.length === calls;
  return { calls: arrivals.length, utilisation, peak, refused, isMet };
}

function mostInASecond(sorted: readonly number[]): number {
  let from = 0;
  let most = 0;
  for (const [index, atMs] of sorted.entries()) {
    while (atMs - (sorted[from] ?? 0) >= 1_000) from += 1;
    most = Math.max(most, index - from + 1);
  }
  return most;
}

function refusedBy(sorted: readonly number[], ratePerSecond: number, burst: number): number {
  let tokens = burst;
  let filledAtMs = sorted[0] ?? 0;
  let refused = 0;
  for (const atMs of sorted) {
    tokens = Math.min(burst, tokens + ((atMs - filledAtMs) * ratePerSecond) / 1_000);
    filledAtMs = atMs;
    if (tokens >= 1) tokens -= 1;
    else refused += 1;
  }
  return refused;
}

export const formatDrain = ({ calls, utilisation, peak, refused, isMet }: DrainResult): string =>
  [
    `${calls} calls`,
    `${(utilisation * 100).toFixed(1)} % of the limit used (at least ${LEAST_UTILISATION * 100} %)`,
    `${(peak * 100).toFixed(1)} % of the limit in the busiest second (at most ${MOST_PEAK * 100} %)`,
    `${refused} calls above the limit (0)`,
    isMet ? 'met' : 'not met',
  ].join('\n');
