import { lookUp } from '../../lambdas/domain/providers/lookup-batch.ts';
import { prepareProviders } from '../../lambdas/domain/providers/provider.ts';
import { START_MS } from '../support/memory/index.ts';
import { drainDeps } from './drain.ts';
import { providerConfigs } from './provider.ts';
import { createScheduler } from './scheduler.ts';

export interface SlowerOptions {
  seed: number;
  ratePerSecond: number;
  /** What the provider really allows, and from `raisedAtMs` on. */
  allowedPerSecond: number;
  raisedAtMs?: number;
  raisedPerSecond?: number;
  burst: number;
  workers: number;
  lengthMs: number;
}

export interface Minute {
  calls: number;
  /** Calls that were refused, or that were made for the canary. */
  extra: number;
  /** Records answered per record that the provider allows. */
  used: number;
}

const MINUTE_MS = 60_000;

/** Workers look records up, one batch after the other, at a provider that allows less than is configured. One entry per minute. */
export async function runSlowerProvider(options: SlowerOptions): Promise<Minute[]> {
  const { seed, ratePerSecond, burst, lengthMs } = options;
  const scheduler = createScheduler(START_MS);
  const minutes: Minute[] = [];
  let tokens = burst;
  let filledAtMs = START_MS;
  const deps = drainDeps({ seed }, scheduler, (url) => {
    const nowMs = scheduler.now();
    const allowed = allowedAt(options, nowMs);
    tokens = Math.min(burst, tokens + ((nowMs - filledAtMs) * allowed) / 1_000);
    filledAtMs = nowMs;
    const isAnswered = tokens >= 1;
    if (isAnswered) tokens -= 1;
    const minute = (minutes[Math.floor((nowMs - START_MS) / MINUTE_MS)] ??= { calls: 0, extra: 0, used: 0 });
    minute.calls += 1;
    if (!isAnswered || url.includes('canary')) minute.extra += 1;
    else minute.used += 1 / (allowed * 60);
    return isAnswered ? 200 : 429;
  });
  const [config] = providerConfigs({ skewMs: 0, slowReplyMs: 0 });
  if (config === undefined) throw new Error('There is a provider.');
  let next = 0;
  let running = options.workers;
  const worker = async (): Promise<void> => {
    // Every worker is a process of its own: what it knows of the pace is what it read.
    const [provider] = prepareProviders([{ ...config, ratePerSecond, burst }]);
    if (provider === undefined) throw new Error('There is a provider.');
    while (scheduler.now() < START_MS + lengthMs) {
      const endMs = scheduler.now() + MINUTE_MS;
      const lookups = Array.from({ length: 10 }, () => ({
        url: `https://company.example/v1/${next++}`,
        isLastAttempt: false,
      }));
      const results = await lookUp(deps, provider, lookups, { remainingMs: () => endMs - scheduler.now() });
      const waits = results.flatMap((result) => (result.kind === 'deferred' ? [result.untilMs] : []));
      if (waits.length > 0) await scheduler.sleep(Math.max(0, Math.min(...waits) - scheduler.now()));
    }
    running -= 1;
  };
  for (let index = 0; index < options.workers; index++) void worker();
  await scheduler.run(() => running === 0);
  return minutes.slice(0, Math.floor(lengthMs / MINUTE_MS));
}

/** The figures of `npm run sim -- --slower`: a provider that allows a tenth of what is configured, after the first minute. */
export const SLOWER = { seed: 1, ratePerSecond: 200, allowedPerSecond: 20, burst: 10, lengthMs: 480_000 } as const;
export const SLOWER_WORKERS = [10, 20, 50] as const;
export const MOST_EXTRA_SHARE = 0.02;

export const extraShareOf = (minutes: readonly Minute[]): number =>
  minutes.reduce((sum, { extra }) => sum + extra, 0) / minutes.reduce((sum, { calls }) => sum + calls, 0);

function allowedAt(options: SlowerOptions, nowMs: number): number {
  const { allowedPerSecond, raisedAtMs = Infinity, raisedPerSecond = allowedPerSecond } = options;
  return nowMs - START_MS < raisedAtMs ? allowedPerSecond : raisedPerSecond;
}
