import type { ProviderConfig } from '../../lambdas/domain/providers/config.ts';

/** OAuth 2.0 client credentials: the secret holds `client_id:client_secret`, the fleet shares one token. */
export const crmAccounts: ProviderConfig = {
  name: 'crm_accounts',
  baseUrl: 'https://crm.example.com',
  path: '/services/data/v60/accounts/{record_id}',
  lookup: ['record_id'],
  canary: { record_id: 'CANARY' },
  auth: { oauth2: { tokenUrl: '/services/oauth2/token', scope: 'api' } },
  timeoutMs: 8_000,
  maxBodyBytes: 32 * 1024,
  ratePerSecond: 25,
  burst: 10,
  p99Ms: 1_000,
  // The monthly contingent is used up: nothing that a record can do about it.
  answers: { statuses: { '403': 'throttled' } },
  output: { id: '/Id', owner: '/Owner/Name', segment: '/Segment__c' },
  responseSchema: {
    type: 'object',
    required: ['id'],
    properties: {
      id: { type: 'string', maxLength: 40 },
      owner: { type: ['string', 'null'], maxLength: 200 },
      segment: { type: ['string', 'null'], maxLength: 100 },
    },
  },
};
