import type { ProviderConfig } from '../../lambdas/domain/providers/config.ts';

/** User and password by the Basic scheme; a report that is not there yet is made, and 202 says when to come back. */
export const creditReport: ProviderConfig = {
  name: 'credit_report',
  baseUrl: 'https://credit-report.example.com',
  method: 'POST',
  path: '/reports',
  headers: { 'X-Country': '{country}' },
  body: { subject: { name: '{name}', country: '{country}' }, product: 'SCORE' },
  lookup: ['name', 'country'],
  canary: { name: 'Example', country: 'DE' },
  auth: { basic: true },
  timeoutMs: 15_000,
  maxBodyBytes: 16 * 1024,
  ratePerSecond: 2,
  burst: 2,
  maxConcurrentCalls: 10,
  p99Ms: 4_000,
  answers: { statuses: { '202': 'not_ready', '409': 'permanent', '451': 'permanent' } },
  notReadySeconds: 6 * 3_600,
  output: { score: '/report/score/value', date: '/report/date' },
  responseSchema: {
    type: 'object',
    required: ['score'],
    properties: {
      score: { type: 'integer', minimum: 0, maximum: 600 },
      date: { type: ['string', 'null'], maxLength: 40 },
    },
  },
};
