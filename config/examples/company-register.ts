import type { ProviderConfig } from '../../lambdas/domain/providers/config.ts';

/** A government register: the key is the user of the Basic scheme, and a company that was struck off is 410. */
export const companyRegister: ProviderConfig = {
  name: 'company_register',
  baseUrl: 'https://register.example.gov',
  path: '/search/companies',
  query: { q: '{name}', items_per_page: '1' },
  lookup: ['name'],
  canary: { name: 'EXAMPLE LIMITED' },
  auth: { basic: true },
  timeoutMs: 5_000,
  maxBodyBytes: 32 * 1024,
  // 600 calls in five minutes.
  ratePerSecond: 2,
  burst: 2,
  p99Ms: 700,
  answers: { foundAt: '/items/0' },
  output: { number: '/items/0/company_number', status: '/items/0/company_status' },
  responseSchema: {
    type: 'object',
    required: ['number'],
    properties: { number: { type: 'string', maxLength: 20 }, status: { type: ['string', 'null'], maxLength: 60 } },
  },
};
