import type { ProviderConfig } from '../../lambdas/domain/providers/config.ts';

/** Search by a JSON body: an answer is always 200, with a list that may be empty. The first hit is kept. */
export const companySearch: ProviderConfig = {
  name: 'company_search',
  baseUrl: 'https://company-search.example.com',
  method: 'POST',
  path: '/api/v1/organizations/search',
  body: { q_organization_domains: ['{domain}'], page: 1, per_page: 1 },
  lookup: ['domain'],
  canary: { domain: 'example.com' },
  auth: { header: 'X-Api-Key', prefix: '' },
  timeoutMs: 8_000,
  maxBodyBytes: 32 * 1024,
  ratePerSecond: 10,
  burst: 5,
  p99Ms: 1_500,
  answers: { foundAt: '/organizations/0' },
  output: {
    name: '/organizations/0/name',
    industry: '/organizations/0/industry',
    employees: '/organizations/0/estimated_num_employees',
  },
  responseSchema: {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 500 },
      industry: { type: ['string', 'null'], maxLength: 200 },
      employees: { type: ['integer', 'null'], minimum: 0 },
    },
  },
};
