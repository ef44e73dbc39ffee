import { defineStage } from '../stage.ts';

/**
 * Nothing that holds data can be deleted by a deployment. Before the first one, set the address that gets the alarms, the
 * URL at which it can read your copy of docs/runbook.md, the origins of your own site if browsers call the API, and the
 * rates that your contracts with the providers allow.
 */
export default defineStage({
  name: 'prod',
  protection: 'retain',
  retentionDays: 30,
  contractAgeSeconds: { small: 1_800, bulk: 14_400 },
  // Workers are billed while they wait for slots: a few with large batches keep the pace that many with small ones do, see docs/capacity.md.
  worker: { batchSize: 50, memoryMb: 384 },
  alarms: { email: 'on-call@example.com', runbookUrl: 'https://example.com/sluice/docs/runbook.md' },
  logs: { retentionDays: 90, successShare: 0.01 },
});
