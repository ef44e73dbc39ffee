import { arrangeSubmission } from '../../support/api/arrange.ts';
import { createTestApi } from '../../support/api/api.ts';
import { makeSubmission, SUBMISSION_ID } from '../../support/factories.ts';
import { START_MS } from '../../support/memory/index.ts';

const PATH = `/v1/submissions/${SUBMISSION_ID}/cancel`;

test('cancelling stops what is not finished and keeps what is', async () => {
  const { world, clock, call } = createTestApi();
  await arrangeSubmission(world, 3, { 1: { state: 'succeeded' } });
  await clock.advance(5_000);
  const { status, body } = await call('POST', PATH);
  expect(status).toBe(202);
  expect(body).toMatchObject({ state: 'cancelling', reason: 'cancelled', counts: { succeeded: 1, pending: 2 } });
  expect(world.inspect.submissions()[0]).toMatchObject({
    stop: { kind: 'cancelled', atMs: START_MS + 5_000 },
    // The reconciler looks at it now and not when it would have.
    nextCheckAtMs: START_MS + 5_000,
  });
  // Fan-out settles the rest now, and the results follow when the workers have drained.
  expect(world.queues.live.fanOut.messages().map(({ body: text }) => JSON.parse(text))).toMatchObject([
    { submissionId: SUBMISSION_ID },
  ]);
  expect(Date.parse(body.estimatedCompletionAt) - clock.now()).toBe(23_000);
});

test('cancelling twice is cancelling once', async () => {
  const { world, clock, call } = createTestApi();
  await arrangeSubmission(world, 3);
  const first = await call('POST', PATH);
  await clock.advance(1_000);
  const second = await call('POST', PATH, { body: {} });
  expect([first.status, second.status]).toEqual([202, 202]);
  expect(world.inspect.submissions()[0]?.stop?.atMs).toBe(START_MS);
});

test('what is cancelled already stays so', async () => {
  const { world, call } = createTestApi();
  await world.submissions.create(makeSubmission({ state: 'cancelled' }));
  const { status, body } = await call('POST', PATH);
  expect([status, body.state]).toEqual([202, 'cancelled']);
});

test('results that are being written are finished', async () => {
  const { world, call } = createTestApi();
  await world.submissions.create(makeSubmission({ state: 'finalizing' }));
  const { status, body } = await call('POST', PATH);
  expect([status, body.state]).toEqual([202, 'finalizing']);
});

test.each(['complete', 'partially_failed', 'failed', 'rejected', 'expired'] as const)(
  'what is %s has nothing left to cancel',
  async (state) => {
    const { world, call } = createTestApi();
    await world.submissions.create(makeSubmission({ state }));
    const { status, body } = await call('POST', PATH);
    expect([status, body.code]).toEqual([409, 'already_closed']);
    expect(world.inspect.submissions()[0]).toMatchObject({ state });
    expect(world.inspect.submissions()[0]).not.toHaveProperty('stop');
  },
);

test('a body that asks for something else is refused', async () => {
  const { world, call } = createTestApi();
  await world.submissions.create(makeSubmission());
  const { status, body } = await call('POST', PATH, { body: { records: [1] } });
  expect([status, body.errors]).toEqual([400, [{ pointer: '/records', detail: expect.any(String) }]]);
  expect(world.inspect.submissions()[0]?.state).toBe('accepted');
});
