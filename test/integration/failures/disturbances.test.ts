import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { DrillReport } from '../../../local/drills/account.ts';
import { drillOf } from '../../../local/drills/drills.ts';
import { startRig, type Rig } from '../../../local/drills/rig.ts';

/*
 * The drills of `npm run drill` at a size for every day. In all of them some records are bad by themselves (one in 500), and
 * everything else must succeed exactly once.
 */
jest.setTimeout(600_000);

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  // On a machine that stalls for a moment calls come late and all at once; the providers' limits are not the subject here.
  for (const name of Object.keys(rig.sluice.providers.baseUrls)) {
    await rig.sluice.providers.control(name, { burst: 1_000 });
  }
});
afterAll(async () => rig?.stop());

/** What holds whatever was done. */
function expectNothingLost(report: DrillReport, records: number): void {
  expect(report).toMatchObject({ records, accounted: records, goodFailed: 0, doubleOutcomes: 0 });
  expect(rig.sluice.cloud.denials()).toEqual([]);
}

test('an outage of one provider in the middle fails no good record and costs hardly a call', async () => {
  const report = await drillOf('outage').run(rig, { records: 1_000, forMs: 4_000 });

  expectNothingLost(report, 1_000);
  expect(report.extraCallsPercent).toBeLessThan(5);
});

test('throttled calls to DynamoDB and SQS fail no record and consume no attempt', async () => {
  const report = await drillOf('throttle').run(rig, { records: 600, forMs: 8_000 });

  expectNothingLost(report, 600);
  expect(report.retried).toBe(0);
  expect(report.disturbance).not.toMatch(/^0 calls/);
});

test('workers that are killed in the middle of their work lose no record and finish none twice', async () => {
  const report = await drillOf('kills').run(rig, { records: 400 });

  expectNothingLost(report, 400);
  expect(report.disturbance).not.toMatch(/^0 workers/);
});

test('a queue that is purged half way loses no record: what is missing is sent again from the file', async () => {
  const report = await drillOf('purge').run(rig, { records: 600 });

  expectNothingLost(report, 600);
  expect(report.disturbance).not.toMatch(/^0 messages/);
});
