import { jest } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { sendDelivery } from '../../../lambdas/domain/webhooks/publish.ts';
import { MAX_ATTEMPTS } from '../../../lambdas/domain/webhooks/schedule.ts';
import { SUBMISSION_ID, TENANT_ID } from '../../support/factories.ts';
import { createWebhookRig, ENDPOINT, status, type Sent } from '../../support/webhook-rig.ts';

const HOUR_MS = 3_600_000;

/** What the library of the specification makes of a request; it compares times with this machine's clock. */
function verified(secret: string, { body = '', headers, atMs }: Sent): unknown {
  jest.useFakeTimers({ now: atMs });
  try {
    return new Webhook(secret).verify(body, { ...headers });
  } finally {
    jest.useRealTimers();
  }
}

describe('the end of a submission', () => {
  it('is told to an endpoint, signed as the specification asks', async () => {
    const rig = createWebhookRig();
    const secret = await rig.endpoint();
    await rig.announce();
    await rig.work();

    const [request] = rig.sent;
    if (request === undefined) throw new Error('Nothing was sent.');
    expect(request).toMatchObject({ method: 'POST', url: ENDPOINT.url, timeoutMs: 10_000, maxBodyBytes: 500 });
    expect(request.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': expect.stringMatching(/^evt_.*_0$/),
    });
    expect(verified(secret, request)).toEqual({
      type: 'submission.partially_failed',
      timestamp: new Date(request.atMs).toISOString(),
      data: {
        submissionId: SUBMISSION_ID,
        state: 'partially_failed',
        counts: { total: 3, pending: 0, succeeded: 2, failed: 1, cancelled: 0 },
        reference: 'order 7',
        resultsVersion: 1,
      },
    });
    expect(() => verified('whsec_bm90IHRoZSBzZWNyZXQ=', request)).toThrow('No matching signature found');
    expect(rig.world.webhooks.deliveries()).toMatchObject([
      { state: 'delivered', attempts: 1, submissionId: SUBMISSION_ID, lastAttempt: { status: 204 } },
    ]);
  });

  it('carries two signatures while a secret is rotated, and one afterwards', async () => {
    const rig = createWebhookRig();
    const first = await rig.endpoint();
    const second = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    await rig.world.webhooks.rotateSecret(TENANT_ID, ENDPOINT.endpointId, second, rig.clock.now() + HOUR_MS);
    await rig.announce();
    await rig.work();
    await rig.clock.advance(HOUR_MS);
    await rig.announce({ generation: 1 });
    await rig.work();

    const [during, after] = rig.sent;
    if (during === undefined || after === undefined) throw new Error('Two were to be sent.');
    for (const secret of [first, second]) expect(verified(secret, during)).toMatchObject({ type: expect.any(String) });
    expect(verified(second, after)).toMatchObject({ type: expect.any(String) });
    expect(() => verified(first, after)).toThrow('No matching signature found');
  });

  it('is told only to endpoints that ask for it', async () => {
    const rig = createWebhookRig();
    await rig.endpoint({ events: ['submission.completed'] });
    await rig.announce();
    await rig.announce({ state: 'complete', generation: 1 });
    await rig.work();
    expect(rig.sent.map(({ body }) => JSON.parse(body ?? '').type)).toEqual(['submission.completed']);
  });

  it('is told once, however often it is announced', async () => {
    const rig = createWebhookRig();
    await rig.endpoint();
    await rig.announce();
    await rig.announce();
    await rig.work();
    await rig.announce();
    await rig.work();
    expect(rig.sent).toHaveLength(1);
  });

  it('is told again, under another id, when a replay ends', async () => {
    const rig = createWebhookRig();
    await rig.endpoint();
    await rig.announce();
    await rig.announce({ generation: 1, resultsVersion: 2 });
    await rig.work();
    expect(new Set(rig.sent.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
  });

  it('is told to the URL that the submission names, with the members of before at the root', async () => {
    const rig = createWebhookRig();
    await rig.announce({ callbackUrl: 'https://customer.example/done' });
    await rig.work();
    const [request] = rig.sent;
    expect(request?.url).toBe('https://customer.example/done');
    expect(request?.headers).not.toHaveProperty('webhook-signature');
    expect(JSON.parse(request?.body ?? '')).toMatchObject({
      type: 'submission.partially_failed',
      data: { submissionId: SUBMISSION_ID },
      submissionId: SUBMISSION_ID,
      state: 'partially_failed',
      resultsVersion: 1,
    });
  });

  it('is signed for that URL as soon as the tenant has a secret for it', async () => {
    const rig = createWebhookRig();
    const secret = await rig.endpoint({ endpointId: 'callback', disabledBecause: 'by_request' });
    await rig.world.webhooks.removeEndpoint(TENANT_ID, 'callback', 0);
    await rig.announce({ callbackUrl: 'https://customer.example/done' });
    await rig.work();
    const [request] = rig.sent;
    if (request === undefined) throw new Error('Nothing was sent.');
    expect(verified(secret, request)).toMatchObject({ submissionId: SUBMISSION_ID });
  });
});

describe('a delivery that does not succeed', () => {
  it.each([
    ['a server error', status(500, {}, 'Sorry.\u0000 Try later')],
    ['a redirect', status(302)],
    ['a client error', status(404)],
    ['no answer', { kind: 'failure', cause: 'timeout', detail: 'late' } as const],
  ])('is tried with growing waits for about a day after %s, then given up', async (_, answer) => {
    const rig = createWebhookRig({ answer: () => answer });
    await rig.endpoint();
    await rig.announce();
    expect(await rig.work()).toEqual([]);

    expect(rig.sent).toHaveLength(MAX_ATTEMPTS);
    const times = rig.sent.map(({ atMs }) => atMs);
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(19 * HOUR_MS);
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeLessThan(24 * HOUR_MS);
    expect(new Set(rig.sent.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    const [delivery] = rig.world.webhooks.deliveries();
    expect(delivery).toMatchObject({ state: 'given_up', attempts: MAX_ATTEMPTS });
    expect(delivery).not.toHaveProperty('nextAttemptAtMs');
    expect(rig.world.telemetry.named('webhook_ended')).toMatchObject([{ level: 'warn', outcome: 'given_up' }]);
  });

  it('shows the beginning of the answer without control characters', async () => {
    const rig = createWebhookRig({ answer: () => status(410, {}, ' So\u0000rry\u202e.\r\n') });
    await rig.endpoint();
    await rig.announce();
    await rig.work();
    expect(rig.world.webhooks.deliveries()).toMatchObject([{ lastAttempt: { status: 410, excerpt: 'So rry .' } }]);
  });

  it('waits as long as the server asks, where that is longer', async () => {
    let calls = 0;
    const rig = createWebhookRig({
      answer: () => (++calls === 1 ? status(503, { 'retry-after': '1200' }) : status(200)),
    });
    await rig.endpoint();
    await rig.announce();
    await rig.work();
    const [first, second] = rig.sent.map(({ atMs }) => atMs);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(1_200_000);
    expect((second ?? 0) - (first ?? 0)).toBeLessThan(1_210_000);
  });

  it('is given up at once where the address is not public', async () => {
    const rig = createWebhookRig({
      answer: () => ({ kind: 'failure', cause: 'refused_target', detail: 'not public' }),
    });
    await rig.endpoint();
    await rig.announce();
    await rig.work();
    expect(rig.sent).toHaveLength(1);
    expect(rig.world.webhooks.deliveries()).toMatchObject([
      { state: 'given_up', lastAttempt: { failure: 'refused_target' } },
    ]);
  });

  it('disables an endpoint that is gone; what was waiting for it ends, what comes later is not sent', async () => {
    const rig = createWebhookRig({ answer: () => status(410) });
    await rig.endpoint();
    await rig.announce();
    await rig.work();
    await rig.announce({ generation: 1 });
    await rig.work();

    expect(rig.sent).toHaveLength(1);
    expect(await rig.world.webhooks.getEndpoint(TENANT_ID, ENDPOINT.endpointId)).toMatchObject({
      disabledBecause: 'gone',
    });
    expect(rig.world.webhooks.deliveries().map(({ state }) => state)).toEqual(['disabled', 'disabled']);
  });

  it('ends as disabled when its endpoint is deleted meanwhile', async () => {
    const rig = createWebhookRig({
      answer: () => {
        void rig.world.webhooks.removeEndpoint(TENANT_ID, ENDPOINT.endpointId, 0);
        return status(500);
      },
    });
    await rig.endpoint();
    await rig.announce();
    await rig.work();
    expect(rig.sent).toHaveLength(1);
    expect(rig.world.webhooks.deliveries()).toMatchObject([{ state: 'disabled', attempts: 1 }]);
  });

  it('starts a new series of attempts when it is sent again', async () => {
    let isDown = true;
    const rig = createWebhookRig({ answer: () => status(isDown ? 500 : 200) });
    await rig.endpoint();
    await rig.announce();
    await rig.work();
    const [given] = rig.world.webhooks.deliveries();
    isDown = false;
    const again = await rig.world.webhooks.restartDelivery(TENANT_ID, given?.deliveryId ?? '', rig.clock.now());
    if (again === undefined) throw new Error('It is not stored.');
    await sendDelivery(rig.deps, again);
    await rig.work();
    expect(rig.sent).toHaveLength(MAX_ATTEMPTS + 1);
    expect(rig.world.webhooks.deliveries()).toMatchObject([{ state: 'delivered', attempts: MAX_ATTEMPTS + 1 }]);
  });
});

describe('a crash at any call', () => {
  it.each(['before', 'after'] as const)(
    '%s it took effect leaves a delivery that ends delivered, under one id',
    async (when) => {
      let at = 0;
      for (let struck = true; struck; at++) {
        let calls = 0;
        struck = false;
        let answers = 0;
        const rig = createWebhookRig({
          answer: () => status(++answers === 1 ? 503 : 204),
          hook: async ({ port, method }, apply) => {
            const isHit =
              isArranged &&
              /^(webhooks|queues.webhooks)$/.test(port) &&
              !/receive|acknowledge/.test(method) &&
              calls++ === at;
            if (!isHit) return apply();
            struck = true;
            if (when === 'after') await apply();
            throw new Error('The invocation died.');
          },
        });
        let isArranged = false;
        await rig.endpoint();
        await rig.announce();
        isArranged = true;
        const failures = await rig.work();
        expect({ at, failures: failures.length }).toEqual({ at, failures: struck ? 1 : 0 });
        expect({ at, deliveries: rig.world.webhooks.deliveries() }).toMatchObject({
          deliveries: [{ state: 'delivered' }],
        });
        expect(new Set(rig.sent.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
      }
      expect(at).toBeGreaterThan(8);
    },
  );
});
