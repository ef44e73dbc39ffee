import type { ProviderConfig } from '../lambdas/domain/providers/config.ts';

/**
 * Firmographics by domain. This provider answers some errors with status 200 and `{"error": {"code", "message"}}`.
 * Its sandbox and its production differ in limits and host: a stage overrides those.
 */
const company: ProviderConfig = {
  name: 'company',
  baseUrl: 'https://company-api.example.com',
  path: '/v1/companies/{domain}',
  lookup: ['domain'],
  canary: { domain: 'example.com' },
  auth: { header: 'Authorization', prefix: 'Bearer ' },
  timeoutMs: 5_000,
  maxBodyBytes: 64 * 1024,
  ratePerSecond: 100,
  burst: 10,
  p99Ms: 800,
  answers: {
    // Unusual here; what is usual is DEFAULT_STATUSES in lambdas/domain/providers/config.ts.
    statuses: {
      // The profile is being prepared: minutes later it is there.
      '202': 'not_ready',
      '409': 'not_ready',
      // It will not risk a request that might be a replay; an ordinary repetition is welcome.
      '425': 'not_ready',
      // It serves no data for this top-level domain: repeating does not help.
      '501': 'permanent',
    },
    bodyCodes: {
      pointer: '/error/code',
      classes: {
        not_found: 'not_found',
        invalid_domain: 'permanent',
        rate_limited: 'throttled',
        key_revoked: 'auth',
        quota_exhausted: 'auth',
        internal: 'transient',
        try_again: 'transient',
      },
    },
  },
  responseSchema: {
    type: 'object',
    required: ['domain', 'name'],
    properties: {
      domain: { type: 'string', maxLength: 253 },
      name: { type: 'string', minLength: 1, maxLength: 500 },
      industry: { type: ['string', 'null'], maxLength: 200 },
      employees: { type: ['string', 'null'], maxLength: 40 },
      founded: { type: ['integer', 'null'], minimum: 1000, maximum: 2999 },
    },
    additionalProperties: true,
  },
};

/** Place by country and postal code. Every error has a status of its own; a 200 always holds a place. */
const geo: ProviderConfig = {
  name: 'geo',
  baseUrl: 'https://geo-api.example.com',
  path: '/v1/places/{country}/{postal_code}',
  lookup: ['country', 'postal_code'],
  canary: { country: 'DE', postal_code: '10115' },
  auth: { header: 'Authorization', prefix: 'Bearer ' },
  timeoutMs: 3_000,
  maxBodyBytes: 16 * 1024,
  ratePerSecond: 100,
  burst: 10,
  p99Ms: 400,
  answers: {
    statuses: {
      // The place is being looked up elsewhere.
      '202': 'not_ready',
      '425': 'not_ready',
      // Country and postal code contradict each other: only the customer can say which one is right.
      '409': 'permanent',
      // A country that the contract leaves out.
      '451': 'permanent',
      // It documents 501 for countries that it does not cover: a lookup without a result, not a fault.
      '501': 'not_found',
    },
  },
  responseSchema: {
    type: 'object',
    required: ['country', 'postal_code', 'place'],
    properties: {
      country: { type: 'string', minLength: 2, maxLength: 2 },
      postal_code: { type: 'string', maxLength: 20 },
      place: { type: 'string', minLength: 1, maxLength: 200 },
      latitude: { type: ['number', 'null'], minimum: -90, maximum: 90 },
      longitude: { type: ['number', 'null'], minimum: -180, maximum: 180 },
    },
    additionalProperties: true,
  },
};

/** The third-party APIs that every record is enriched by. Add, change or remove one here: nothing else names them. */
export const PROVIDERS: readonly ProviderConfig[] = [company, geo];
