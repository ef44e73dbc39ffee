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
    statuses: {
      '200': 'found',
      // Other successes hold no profile; the provider documents none of them.
      '2xx': 'transient',
      // Redirects are never followed with a credential. It is the operator who has to act; the records can be replayed.
      '3xx': 'transient',
      // The path is made from the record alone, so a request it cannot understand is the record's fault.
      '400': 'permanent',
      // Wrong or withdrawn credential, unpaid account, missing scope: every record would meet the same answer.
      '401': 'auth',
      '402': 'auth',
      '403': 'auth',
      // No company under this domain.
      '404': 'not_found',
      // It gave up waiting for our request.
      '408': 'transient',
      // The profile is being prepared: minutes later it is there.
      '202': 'not_ready',
      '409': 'not_ready',
      // Dissolved, or removed at the company's wish.
      '410': 'not_found',
      // Not a domain that can be registered.
      '422': 'permanent',
      // It will not risk a request that might be a replay; an ordinary repetition is welcome.
      '425': 'not_ready',
      '429': 'throttled',
      // What else it may refuse (method, media type, header size) is our mistake, not the record's: after the last attempt
      // the record lies in the dead-letter queue, where it alarms and can be replayed once we have corrected it.
      '4xx': 'transient',
      // It serves no data for this top-level domain: repeating does not help.
      '501': 'permanent',
      '5xx': 'transient',
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
      '200': 'found',
      // 204: the code exists, nothing is known about its place.
      '204': 'not_found',
      // The place is being looked up elsewhere.
      '202': 'not_ready',
      '2xx': 'transient',
      // As above: never followed, and the operator's to correct.
      '3xx': 'transient',
      '400': 'permanent',
      '401': 'auth',
      '402': 'auth',
      // It also refuses single countries that the contract leaves out, but says so with 451; 403 is about the key.
      '403': 'auth',
      '404': 'not_found',
      '408': 'transient',
      // Country and postal code contradict each other: only the customer can say which one is right.
      '409': 'permanent',
      // A postal code that was withdrawn.
      '410': 'not_found',
      '422': 'permanent',
      '425': 'not_ready',
      '429': 'throttled',
      '451': 'permanent',
      '4xx': 'transient',
      // It documents 501 for countries that it does not cover: a lookup without a result, not a fault.
      '501': 'not_found',
      '5xx': 'transient',
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
