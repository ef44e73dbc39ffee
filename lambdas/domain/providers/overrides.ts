import { InvalidDataError } from '../errors.ts';
import type { ProviderConfig } from './config.ts';

/** What a stage sets for a provider, in place of its configuration's own values. */
export interface ProviderOverrides {
  baseUrls: Readonly<Record<string, string>>;
  ratesPerSecond: Readonly<Record<string, number>>;
  bursts: Readonly<Record<string, number>>;
}

/**
 * The providers with a stage's base URLs, rates and bursts in place.
 *
 * @throws InvalidDataError when one has no base URL, rate or burst, or a value is there for a provider that is not configured:
 * infrastructure and function would otherwise work with different providers.
 */
export function withOverrides(
  providers: readonly ProviderConfig[],
  { baseUrls, ratesPerSecond, bursts }: ProviderOverrides,
): ProviderConfig[] {
  const known = new Set(providers.map(({ name }) => name));
  for (const name of [baseUrls, ratesPerSecond, bursts].flatMap((values) => Object.keys(values))) {
    if (!known.has(name)) throw mismatch(name, 'is set for this stage but is not in config/providers.ts');
  }
  return providers.map((provider) => {
    const baseUrl = baseUrls[provider.name];
    const ratePerSecond = ratesPerSecond[provider.name];
    if (baseUrl === undefined) throw mismatch(provider.name, 'has no base URL in PROVIDER_BASE_URLS');
    if (ratePerSecond === undefined) throw mismatch(provider.name, 'has no rate in PROVIDER_RATES');
    const burst = bursts[provider.name];
    if (burst === undefined) throw mismatch(provider.name, 'has no burst in PROVIDER_BURSTS');
    return { ...provider, baseUrl, ratePerSecond, burst };
  });
}

const mismatch = (name: string, problem: string): InvalidDataError =>
  new InvalidDataError(`Provider "${name}" ${problem}: deploy the functions and their configuration together.`);
