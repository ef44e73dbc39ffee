import { defineStage } from '../stage.ts';

/**
 * For the first deployment into an account: stand-ins answer in the place of the providers, so that files are processed without any
 * contract or credential. Everything goes with the stacks.
 */
export default defineStage({
  name: 'sandbox',
  protection: 'destroy',
  standInProviders: true,
  retentionDays: 2,
  submissionDeadlineHours: 24,
  contractAgeSeconds: { small: 600, bulk: 3_600 },
  fanOutConcurrency: 5,
  finalizerConcurrency: 5,
  limits: { maxFileBytes: 64 * 1024 * 1024, maxRecords: 50_000 },
  admission: { maxOpenRecordsPerTenant: 100_000, maxOpenRecords: 200_000, maxOpenSubmissionsPerTenant: 100 },
  api: { ratePerSecond: 20, burst: 40, authorizerCacheSeconds: 5 },
  logs: { retentionDays: 1, successShare: 0.1 },
  providers: {
    company: { ratePerSecond: 50, burst: 10, p99Ms: 400 },
    geo: { ratePerSecond: 50, burst: 10, p99Ms: 400 },
  },
});
