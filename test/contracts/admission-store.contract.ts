import { expect, test } from '@jest/globals';
import type { Backlog } from '../../lambdas/domain/tenants/ports.ts';
import { START_MS } from '../support/memory/index.ts';
import type { Make, StoreWorld } from './world.ts';

const backlog = (asOfMs: number): Backlog => ({
  asOfMs,
  openRecords: { small: 3, bulk: 40_000 },
  openSubmissions: 5,
  troubledAtMs: 0,
});

/** Open work per tenant and the system's backlog. */
export function describeAdmissionStore(make: Make<StoreWorld>): void {
  test('open work is kept per tenant and submission, and set anew without counting twice', async () => {
    const { admission } = await make();
    await admission.setOpenWork('acme', { submissionId: 'sub_1', records: 500 });
    await admission.setOpenWork('acme', { submissionId: 'sub_2', records: 7, lane: 'small' });
    await admission.setOpenWork('other', { submissionId: 'sub_3', records: 1 });

    await admission.setOpenWork('acme', { submissionId: 'sub_1', records: 420, lane: 'bulk' });

    expect(await admission.openWork('acme')).toEqual([
      { submissionId: 'sub_1', records: 420, lane: 'bulk' },
      { submissionId: 'sub_2', records: 7, lane: 'small' },
    ]);
    expect(await admission.openWork('nobody')).toEqual([]);
  });

  test('work set at the same moment is all there', async () => {
    const { admission } = await make();
    const ids = Array.from({ length: 30 }, (_, index) => `sub_${String(index).padStart(2, '0')}`);

    await Promise.all(ids.map(async (submissionId) => admission.setOpenWork('acme', { submissionId, records: 1 })));

    expect((await admission.openWork('acme')).map(({ submissionId }) => submissionId)).toEqual(ids);
  });

  test('cleared work is gone, however often it is cleared', async () => {
    const { admission } = await make();
    await admission.setOpenWork('acme', { submissionId: 'sub_1', records: 500 });
    await admission.setOpenWork('acme', { submissionId: 'sub_9', records: 5 });

    await admission.clearOpenWork('acme', 'sub_1');
    await admission.clearOpenWork('acme', 'sub_1');
    await admission.clearOpenWork('nobody', 'sub_1');

    expect(await admission.openWork('acme')).toEqual([{ submissionId: 'sub_9', records: 5 }]);
  });

  test('the tenants with open work are those that were saved last', async () => {
    const { admission } = await make();
    expect(await admission.tenantsWithWork()).toEqual([]);
    await admission.saveTenantsWithWork(['acme', 'other']);
    await admission.saveTenantsWithWork(['other']);
    expect(await admission.tenantsWithWork()).toEqual(['other']);
  });

  test('a tenant to be recounted is added to them once', async () => {
    const { admission } = await make();
    await admission.recountSoon('acme');
    expect(await admission.tenantsWithWork()).toEqual([]);
    await admission.saveTenantsWithWork(['other']);
    await Promise.all([admission.recountSoon('acme'), admission.recountSoon('acme'), admission.recountSoon('other')]);
    expect((await admission.tenantsWithWork()).toSorted()).toEqual(['acme', 'other']);
  });

  test('what is known of the dead-letter queues is what was saved last', async () => {
    const { admission } = await make();
    expect(await admission.deadLetters()).toBeUndefined();
    const waiting = { small: { sinceMs: START_MS, seenMs: START_MS + 1 } };
    await admission.saveDeadLetters({ waiting, pass: { troubledAtMs: START_MS, left: 3 } });
    expect(await admission.deadLetters()).toEqual({ waiting, pass: { troubledAtMs: START_MS, left: 3 } });
    await admission.saveDeadLetters({ waiting: { fanOut: { sinceMs: START_MS, seenMs: START_MS } } });
    expect(await admission.deadLetters()).toEqual({ waiting: { fanOut: { sinceMs: START_MS, seenMs: START_MS } } });
  });

  test('the newest backlog stands', async () => {
    const { admission } = await make();
    expect(await admission.backlog()).toBeUndefined();
    await admission.saveBacklog(backlog(START_MS));

    await admission.saveBacklog(backlog(START_MS - 1));
    expect(await admission.backlog()).toEqual(backlog(START_MS));

    await admission.saveBacklog({ ...backlog(START_MS + 1), openSubmissions: 6 });
    expect(await admission.backlog()).toEqual({ ...backlog(START_MS + 1), openSubmissions: 6 });
  });
}
