import type { ProviderConfig } from '../../lambdas/domain/providers/config.ts';

/** A gateway that answers every call with 200 and says in the body what it means. */
export const taxCheck: ProviderConfig = {
  name: 'tax_check',
  baseUrl: 'https://tax-check.example.eu',
  method: 'POST',
  path: '/check-number',
  body: { countryCode: '{country}', number: '{record_id}' },
  lookup: ['country', 'record_id'],
  canary: { country: 'DE', record_id: '100000000' },
  auth: { header: 'Ocp-Apim-Subscription-Key', prefix: '' },
  timeoutMs: 20_000,
  maxBodyBytes: 8 * 1024,
  ratePerSecond: 4,
  burst: 4,
  maxConcurrentCalls: 8,
  p99Ms: 6_000,
  answers: {
    bodyCodes: {
      pointer: '/errorWrappers/0/error',
      classes: {
        INVALID_INPUT: 'permanent',
        MS_UNAVAILABLE: 'transient',
        SERVICE_UNAVAILABLE: 'transient',
        GLOBAL_MAX_CONCURRENT_REQ: 'throttled',
        MS_MAX_CONCURRENT_REQ: 'not_ready',
        NOT_REGISTERED: 'not_found',
      },
    },
  },
  output: { valid: '/valid', name: '/name' },
  responseSchema: {
    type: 'object',
    required: ['valid'],
    properties: { valid: { type: 'boolean' }, name: { type: ['string', 'null'], maxLength: 500 } },
  },
};
