import type { ProviderConfig } from '../../lambdas/domain/providers/config.ts';

/** An open geocoder: no key, one call a second, and a list as its answer. It asks callers to name themselves. */
export const geocoder: ProviderConfig = {
  name: 'geocoder',
  baseUrl: 'https://geocoder.example.org',
  path: '/search',
  query: { postalcode: '{postal_code}', countrycodes: '{country}', format: 'jsonv2', limit: '1' },
  headers: { 'User-Agent': 'sluice (data@example.com)' },
  lookup: ['country', 'postal_code'],
  canary: { country: 'DE', postal_code: '10115' },
  auth: { none: true },
  timeoutMs: 5_000,
  maxBodyBytes: 16 * 1024,
  ratePerSecond: 1,
  burst: 1,
  maxConcurrentCalls: 1,
  p99Ms: 800,
  answers: { foundAt: '/0', statuses: { '403': 'throttled' } },
  output: { latitude: '/0/lat', longitude: '/0/lon', place: '/0/display_name' },
  responseSchema: {
    type: 'object',
    required: ['latitude', 'longitude'],
    properties: {
      latitude: { type: 'string', maxLength: 20 },
      longitude: { type: 'string', maxLength: 20 },
      place: { type: ['string', 'null'], maxLength: 500 },
    },
  },
};
