import { createCountsCache } from '../../../lambdas/domain/api/counts-cache.ts';
import type { Submission } from '../../../lambdas/domain/model.ts';
import { arrangeSubmission } from '../../support/api/arrange.ts';
import { createTestApi } from '../../support/api/api.ts';
import { EXPIRES_AT_SECONDS, makeProcessing, SUBMISSION_ID } from '../../support/factories.ts';
import { createTestClock, START_MS } from '../../support/memory/index.ts';

const PATH = `/v1/submissions/${SUBMISSION_ID}`;
const LARGE = 100_001;

async function arranged(records: number, overrides: Partial<Submission> = {}) {
  let ledgerReads = 0;
  const api = createTestApi({
    hook: async (call, apply) => {
      if (call.method === 'getWithLedger') ledgerReads++;
      return apply();
    },
  });
  await arrangeSubmission(api.world, records, { 1: { state: 'succeeded' } }, { lane: 'bulk', ...overrides });
  const succeed = async (offset: number): Promise<unknown> =>
    api.world.ledger.mark(
      SUBMISSION_ID,
      0,
      { succeeded: [offset], cancelled: [], failed: new Map() },
      EXPIRES_AT_SECONDS,
    );
  return { ...api, succeed, ledgerReads: () => ledgerReads };
}

test('a large submission is counted every ten seconds, and says when', async () => {
  const { call, clock, succeed, ledgerReads } = await arranged(LARGE);
  const first = (await call('GET', PATH)).body;
  expect(first).not.toHaveProperty('countsAsOf');

  await succeed(1);
  await clock.advance(10_000);
  const second = (await call('GET', PATH)).body;
  expect([second.counts.succeeded, second.countsAsOf, ledgerReads()]).toEqual([1, new Date(START_MS).toISOString(), 1]);
  // The estimate goes from the time of the counts, so that their age does not delay it.
  expect(second.estimatedCompletionAt).toBe(first.estimatedCompletionAt);

  await clock.advance(1);
  const third = (await call('GET', PATH)).body;
  expect([third.counts.succeeded, third.countsAsOf, ledgerReads()]).toEqual([2, undefined, 2]);
});

test('a submission of up to 100,000 records is counted with every question', async () => {
  const { call, succeed, ledgerReads } = await arranged(LARGE - 1);
  await call('GET', PATH);
  await succeed(1);
  expect((await call('GET', PATH)).body.counts.succeeded).toBe(2);
  expect(ledgerReads()).toBe(2);
});

test('what changes its state is counted anew at once', async () => {
  const { world, call, clock, succeed } = await arranged(LARGE);
  await call('GET', PATH);
  await succeed(1);
  await world.submissions.requestStop(SUBMISSION_ID, { kind: 'cancelled', atMs: clock.now() });
  expect((await call('GET', PATH)).body).toMatchObject({ state: 'cancelling', counts: { succeeded: 2 } });
});

test('what is remembered of one tenant is not there for another', async () => {
  const { call } = await arranged(LARGE);
  await call('GET', PATH);
  expect((await call('GET', PATH, { tenant: 'globex' })).status).toBe(404);
  expect((await call('GET', '/v1/submissions', { tenant: 'globex' })).body.items).toEqual([]);
});

test('a closed one is counted once, and its counts are not old', async () => {
  const { call, clock, ledgerReads } = await arranged(LARGE, { state: 'partially_failed', resultsVersion: 1 });
  await call('GET', PATH);
  await clock.advance(3_600_000);
  expect((await call('GET', PATH)).body).not.toHaveProperty('countsAsOf');
  expect(ledgerReads()).toBe(1);
});

test('a closed one tells of its failures without the ledger, unless an earlier version closed it', async () => {
  const counts = { total: 3, pending: 0, succeeded: 1, failed: 2, cancelled: 0 };
  const failures = { invalid_record: 1, provider_rejected: 1 };
  const end = { state: 'partially_failed', resultsVersion: 1 } as const;
  const { world, call, ledgerReads } = await arranged(3, { ...end, finalCounts: { ...counts, failures } });
  const expected = { state: 'partially_failed', counts, failures };
  expect((await call('GET', PATH)).body).toMatchObject(expected);
  expect((await call('GET', PATH)).body.counts).not.toHaveProperty('failures');
  expect((await call('GET', '/v1/submissions')).body.items).toMatchObject([expected]);
  expect(ledgerReads()).toBe(0);

  const submissionId = 'sub_01KE9Q5XW0V4T3Z8M2N6P7R1ZZ';
  await world.submissions.create(makeProcessing(3, { ...end, submissionId, finalCounts: counts }));
  const marks = { succeeded: [0], cancelled: [], failed: new Map([['invalid_record' as const, [1, 2]]]) };
  await world.ledger.mark(submissionId, 0, marks, EXPIRES_AT_SECONDS);
  const older = (await call('GET', `/v1/submissions/${submissionId}`)).body;
  expect(older).toMatchObject({ counts, failures: { invalid_record: 2 } });
  expect(ledgerReads()).toBe(1);
});

test('what is replayed, and what was given up after a replay, is counted anew', async () => {
  const finalCounts = { total: 3, pending: 0, succeeded: 1, failed: 2, cancelled: 0, failures: { invalid_record: 2 } };
  for (const state of ['processing', 'rejected'] as const) {
    const { call, ledgerReads } = await arranged(3, { state, finalCounts });
    expect((await call('GET', PATH)).body).toMatchObject({ counts: { succeeded: 1, failed: 0, pending: 2 } });
    expect(ledgerReads()).toBe(1);
  }
});

test('lists know what is remembered, and closed submissions without failures as they stand', async () => {
  const finalCounts = { total: 5, pending: 0, succeeded: 5, failed: 0, cancelled: 0 };
  const { world, call, ledgerReads } = await arranged(LARGE);
  const complete = makeProcessing(5, {
    submissionId: 'sub_01KE9Q5XW0V4T3Z8M2N6P7R1ZZ',
    state: 'complete',
    finalCounts,
  });
  await world.submissions.create(complete);
  await call('GET', PATH);
  const { items } = (await call('GET', '/v1/submissions')).body;
  expect(items.map(({ counts, failures }: { counts: object; failures: object }) => [counts, failures])).toEqual([
    [finalCounts, {}],
    [{ total: LARGE, pending: LARGE - 1, succeeded: 1, failed: 0, cancelled: 0 }, {}],
  ]);
  expect(ledgerReads()).toBe(1);
});

test('memory stays bounded: the submission that was counted longest ago is forgotten first', () => {
  const memory = createCountsCache(createTestClock());
  const counts = { total: LARGE, pending: 0, succeeded: LARGE, failed: 0, cancelled: 0 };
  const remember = (submissionId: string): void =>
    memory.remember(makeProcessing(LARGE, { submissionId }), { counts, failures: {} });
  const knows = (submissionId: string): boolean => memory.recall(makeProcessing(LARGE, { submissionId })) !== undefined;
  for (let n = 0; n < 200; n++) remember(`sub_${n}`);
  remember('sub_0');
  remember('sub_200');
  expect(['sub_0', 'sub_1', 'sub_2', 'sub_200'].map(knows)).toEqual([true, false, true, true]);
});
