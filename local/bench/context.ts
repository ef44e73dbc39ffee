import { PROVIDERS } from '../../config/providers.ts';
import { usableRate } from '../../lambdas/domain/providers/config.ts';
import { startRig, type Rig } from '../drills/rig.ts';
import type { LocalOptions } from '../start.ts';

/** A provider's limit: calls per second, and calls that it tolerates at one moment. */
export interface ProviderLimit {
  readonly ratePerSecond: number;
  readonly burst: number;
}

/** What benchmarks share. */
export interface BenchContext {
  /** Records of the large file, when the command line says so. */
  readonly records: number | undefined;
  /** A limit that this machine can feed, measured once; its burst is 5 % of a second's calls. */
  readonly limit: () => Promise<ProviderLimit>;
  /** Runs `work` on a local cloud of its own, whose providers have this limit. */
  readonly withRig: <T>(setup: RigSetup, work: (rig: Rig) => Promise<T>) => Promise<T>;
  readonly say: (text: string) => void;
}

export interface RigSetup extends LocalOptions {
  readonly limit: ProviderLimit;
}

/** More than the event sources of a stage of this size start: with fewer workers than derived, slots pass by unused. */
const MAX_ENVIRONMENTS = 8;
const TOLERATED_SHARE = 0.05;
/** Below it the start of the workers is a good part of the whole. */
const MIN_RECORDS = 1_000;

/** A limit whose provider tolerates 5 % of a second's calls at one moment. */
export const limitOf = (ratePerSecond: number): ProviderLimit => ({
  ratePerSecond,
  burst: Math.max(1, Math.round(ratePerSecond * TOLERATED_SHARE)),
});

/** So many records, or as many as the limit lets through within `seconds` where that is less: a slow machine is not to take an hour. */
export const recordsWithin = ({ ratePerSecond }: ProviderLimit, most: number, seconds: number): number =>
  Math.min(most, Math.max(MIN_RECORDS, Math.floor(ratePerSecond * seconds)));

/** Whoever is asked to stop in the middle of a benchmark stops the cloud that it runs on. */
export class Rigs {
  #current: Promise<Rig> | undefined;

  async run<T>({ limit, variables, ...options }: RigSetup, work: (rig: Rig) => Promise<T>): Promise<T> {
    const starting = startRig({
      maxEnvironments: MAX_ENVIRONMENTS,
      ...options,
      variables: { ...limitVariables(limit), ...variables },
    });
    this.#current = starting;
    const rig = await starting;
    try {
      await limitProviders(rig, limit);
      return await work(rig);
    } finally {
      await this.stop();
    }
  }

  async stop(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    await (await current)?.stop();
  }
}

/** What a stage with these limits would give its functions. */
const limitVariables = (limit: ProviderLimit): Record<string, string> => {
  const ofAll = (value: number): string =>
    JSON.stringify(Object.fromEntries(PROVIDERS.map(({ name }) => [name, value])));
  return { PROVIDER_RATES: ofAll(usableRate(limit)), PROVIDER_BURSTS: ofAll(limit.burst) };
};

async function limitProviders({ sluice: { providers } }: Rig, limit: ProviderLimit): Promise<void> {
  for (const name of Object.keys(providers.baseUrls)) await providers.control(name, { ...limit });
}
