import type { ProviderConfig } from '../../lambdas/domain/providers/config.ts';

/** The key is a parameter of the query, and what went wrong is a code in a 200. */
export const emailCheck: ProviderConfig = {
  name: 'email_check',
  baseUrl: 'https://email-check.example.com',
  path: '/v2/validate',
  query: { email: '{email}', timeout: '5' },
  lookup: ['email'],
  canary: { email: 'info@example.com' },
  auth: { query: 'api_key' },
  timeoutMs: 10_000,
  maxBodyBytes: 8 * 1024,
  ratePerSecond: 20,
  burst: 5,
  p99Ms: 3_000,
  answers: {
    bodyCodes: {
      pointer: '/error',
      classes: {
        invalid_address: 'permanent',
        unknown_address: 'not_found',
        bad_key: 'auth',
        no_credits: 'auth',
        rate_limit: 'throttled',
        mail_server_busy: 'not_ready',
      },
    },
  },
  output: { status: '/status', isFree: '/free_email', mxHost: '/mx_record' },
  responseSchema: {
    type: 'object',
    required: ['status'],
    properties: {
      status: { enum: ['valid', 'invalid', 'catch-all', 'unknown', 'abuse'] },
      isFree: { type: ['boolean', 'null'] },
      mxHost: { type: ['string', 'null'], maxLength: 253 },
    },
  },
};
