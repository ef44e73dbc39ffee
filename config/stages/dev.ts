import { defineStage } from '../stage.ts';

/**
 * For development against the providers' sandboxes, in an account and on one machine: everything goes with the stack, and the rates are those of
 * the providers' sandboxes, high enough that a file of some thousand records takes seconds.
 */
export default defineStage({
  name: 'dev',
  protection: 'destroy',
  retentionDays: 7,
  contractAgeSeconds: { small: 600, bulk: 7_200 },
  fanOutConcurrency: 5,
  finalizerConcurrency: 5,
  api: { ratePerSecond: 100, burst: 200, authorizerCacheSeconds: 5, corsOrigins: ['http://localhost:3000'] },
  logs: { retentionDays: 7, successShare: 0.1 },
  providers: {
    company: { ratePerSecond: 200, burst: 10, p99Ms: 100 },
    geo: { ratePerSecond: 200, burst: 10, p99Ms: 100 },
  },
});
