import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { MetricStore } from '../../../local/cloud/index.ts';
import { startRig, submitGenerated, submitText, type Rig } from '../../../local/drills/rig.ts';
import { waitFor } from '../support/sluice.ts';

/*
 * Two drills of alarms on the running functions; all others run in virtual time, see test/alarms. Metrics are those of the
 * processes, and alarms are asked as if the minute were over.
 */
const MINUTE_MS = 60_000;
const KILLS = 3;

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(async () => rig?.stop());

/** Places of the alarms that ring when the next minute, or one so many minutes later, is looked at. */
async function ringing(inMinutes = 1): Promise<string[]> {
  const { alarms } = rig.sluice;
  await alarms.evaluate(Date.now() + inMinutes * MINUTE_MS);
  return Object.entries(alarms.states())
    .filter(([, { state }]) => state === 'ALARM')
    .map(([name]) => name.replace(/^[^/]+\//, ''))
    .sort();
}

function total(store: MetricStore, name: string): number {
  const metrics = store.list().filter((metric) => metric.name === name);
  return metrics.flatMap((metric) => store.points(metric)).reduce((sum, point) => sum + point.sum, 0);
}

test('a calm minute rings no alarm', async () => {
  expect(await ringing()).toEqual([]);
});

test('workers that die again and again ring the alarm about their errors, and no other', async () => {
  const { sluice } = rig;
  for (const name of Object.keys(sluice.providers.baseUrls)) await sluice.providers.control(name, { latencyMs: 1_500 });
  await submitGenerated(rig, 200);
  let died = 0;
  await waitFor(
    () => (died += sluice.killWorkers('small').busy),
    (busy) => busy >= KILLS,
  );
  await waitFor(
    () => total(sluice.metrics.store, 'Errors'),
    (errors) => errors >= KILLS,
  );
  expect(await ringing()).toEqual(['SmallLane/Worker/Errors']);
  for (const name of Object.keys(sluice.providers.baseUrls)) await sluice.providers.control(name, { latencyMs: 0 });
});

test('a credential that a provider refuses rings its alarm and the pager', async () => {
  const { sluice } = rig;
  await sluice.providers.control('company', { mode: 'unauthorized' });
  await submitText(rig, 'record_id,name,domain,country,postal_code\nr1,Acme,acme.example.com,DE,10115\n');
  await waitFor(
    () => total(sluice.metrics.store, 'ProviderCredentialsRefused'),
    (refused) => refused > 0,
  );
  expect(await ringing()).toEqual(expect.arrayContaining(['Page', 'Providers/company/CredentialRefused']));
  await sluice.providers.control('company', { mode: 'ok' });
  expect(await ringing(20)).not.toContain('Providers/company/CredentialRefused');
});
