import type { ProviderConfig } from '../../lambdas/domain/providers/config.ts';

/** A public registry (RDAP): no key, redirects are not followed, and an answer of which little is kept. */
export const domainRegistry: ProviderConfig = {
  name: 'domain_registry',
  baseUrl: 'https://rdap.example.net',
  path: '/rdap/domain/{domain}',
  headers: { Accept: 'application/rdap+json' },
  lookup: ['domain'],
  canary: { domain: 'example.com' },
  auth: { none: true },
  timeoutMs: 6_000,
  maxBodyBytes: 64 * 1024,
  ratePerSecond: 5,
  burst: 5,
  p99Ms: 1_200,
  answers: { statuses: { '501': 'not_found' } },
  output: { handle: '/handle', status: '/status', registered: '/events/0/eventDate' },
  responseSchema: {
    type: 'object',
    required: ['handle'],
    properties: {
      handle: { type: 'string', maxLength: 100 },
      status: { type: 'array', items: { type: 'string' } },
      registered: { type: ['string', 'null'], maxLength: 40 },
    },
  },
};
