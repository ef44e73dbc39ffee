import { arrangeSubmission } from '../../support/api/arrange.ts';
import { createTestApi, type Answered } from '../../support/api/api.ts';
import { makeSubmission, SUBMISSION_ID } from '../../support/factories.ts';
import type { PortHook } from '../../support/memory/index.ts';

const PATH = `/v1/submissions/${SUBMISSION_ID}`;

/** An API that counts how often it reads heads and ledgers. */
function counting() {
  const reads = { get: 0, getWithLedger: 0 };
  const hook: PortHook = async ({ port, method }, apply) => {
    if (port === 'submissions' && (method === 'get' || method === 'getWithLedger')) reads[method]++;
    return apply();
  };
  return { ...createTestApi({ hook }), reads };
}

/** Whether a call has been answered, without waiting for it. */
function watched(call: Promise<Answered>) {
  const state: { answer?: Answered } = {};
  void call.then((answer) => (state.answer = answer));
  return { state, call };
}

describe('the tag of a status', () => {
  test('stays while nothing changes but the estimate, and changes with the counts', async () => {
    const { world, clock, call } = createTestApi();
    await arrangeSubmission(world, 3);
    const first = await call('GET', PATH);
    await clock.advance(5_000);
    const later = await call('GET', PATH);
    expect(later.body.estimatedCompletionAt).not.toBe(first.body.estimatedCompletionAt);
    expect(later.headers['ETag']).toBe(first.headers['ETag']);
    const headers = { 'if-none-match': first.headers['ETag'] ?? '' };
    expect(await call('GET', PATH, { headers })).toMatchObject({ status: 304, text: '' });
    await arrangeSubmission(world, 3, { 1: { state: 'succeeded' } });
    expect((await call('GET', PATH, { headers })).status).toBe(200);
  });

  test('is weak, and of one submission', async () => {
    const { world, call } = createTestApi();
    await world.submissions.create(makeSubmission());
    expect((await call('GET', PATH)).headers['ETag']).toMatch(/^W\/"[\w-]{22}"$/);
  });
});

describe('a status that is waited for', () => {
  test('is answered when the submission ends', async () => {
    const { world, clock, call } = createTestApi();
    await world.submissions.create(makeSubmission());
    const { state, call: answered } = watched(call('GET', PATH, { query: { wait: '20' } }));
    await clock.advance(6_000);
    expect(state.answer).toBeUndefined();
    const claim = { submissionId: SUBMISSION_ID, owner: 'fan-out', nowMs: clock.now(), leaseMs: 60_000 };
    await world.submissions.claimFanOut(claim);
    const rejection = { code: 'EMPTY_FILE', detail: 'The file is empty.' };
    await world.submissions.reject(SUBMISSION_ID, 'fan-out', rejection, clock.now());
    await clock.advance(4_000);
    expect((await answered).body.state).toBe('rejected');
  });

  test('is answered as it is when the time is over, after few reads', async () => {
    const { world, clock, call, reads } = counting();
    await world.submissions.create(makeSubmission({ state: 'processing' }));
    const { call: answered } = watched(call('GET', PATH, { query: { wait: '20' } }));
    await clock.advance(20_000);
    expect((await answered).body.state).toBe('processing');
    expect(reads.get).toBeLessThanOrEqual(9);
    expect(reads.getWithLedger).toBe(1);
    expect(clock.sleeping()).toBe(0);
  });

  test('leaves time for the answer', async () => {
    const { world, clock, call } = createTestApi({ remainingMs: 10_000 });
    await world.submissions.create(makeSubmission({ state: 'processing' }));
    const { call: answered } = watched(call('GET', PATH, { query: { wait: '20' } }));
    await clock.advance(6_000);
    expect((await answered).status).toBe(200);
  });

  test('with a tag is answered when a count changes', async () => {
    const { world, clock, call } = createTestApi();
    await arrangeSubmission(world, 3);
    const headers = { 'if-none-match': (await call('GET', PATH)).headers['ETag'] ?? '' };
    const { state, call: answered } = watched(call('GET', PATH, { query: { wait: '20' }, headers }));
    await clock.advance(3_000);
    expect(state.answer).toBeUndefined();
    await arrangeSubmission(world, 3, { 2: { state: 'succeeded' } });
    await clock.advance(4_000);
    expect((await answered).body.counts.succeeded).toBe(1);
  });

  test('with a tag is 304 when nothing has changed', async () => {
    const { world, clock, call } = createTestApi();
    await arrangeSubmission(world, 3);
    const headers = { 'if-none-match': (await call('GET', PATH)).headers['ETag'] ?? '' };
    const { call: answered } = watched(call('GET', PATH, { query: { wait: '2' }, headers }));
    await clock.advance(2_000);
    expect((await answered).status).toBe(304);
  });

  test('is answered at once where it has ended, and refused for longer than the gateway waits', async () => {
    const { world, call } = createTestApi();
    await world.submissions.create(makeSubmission({ state: 'complete' }));
    expect((await call('GET', PATH, { query: { wait: '20' } })).body.state).toBe('complete');
    expect((await call('GET', PATH, { query: { wait: '21' } })).body.errors).toEqual([
      { parameter: 'wait', detail: expect.stringContaining('from 0 to 20') },
    ]);
  });
});
