import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { startLocal, type LocalSluice } from '../../local/start.ts';
import { call, clientOf, ended, SAMPLE, waitFor } from './support/sluice.ts';

interface Received {
  path: string;
  headers: Record<string, string>;
  body: string;
}

let local: LocalSluice;
let receiver: Server;
const received: Received[] = [];
/** Status of the receiver's answers, by path; 204 for others. */
const statuses = new Map<string, number>();

beforeAll(async () => {
  receiver = createServer((request, response) => {
    void receive(request).then((status) => response.writeHead(status).end(`status ${status}`));
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  local = await startLocal({ schedules: 'manual', variables: { DELIVER_TO: `http://127.0.0.1:${port}` } });
});
afterAll(async () => {
  await local.stop();
  receiver.closeAllConnections();
  receiver.close();
});

async function receive(request: IncomingMessage): Promise<number> {
  let body = '';
  for await (const piece of request as AsyncIterable<Buffer>) body += piece.toString('utf8');
  const path = request.url ?? '';
  received.push({ path, headers: request.headers as Record<string, string>, body });
  return statuses.get(path) ?? 204;
}

const post = async (
  path: string,
  body: unknown = {},
  tenant = 0,
  method = 'POST',
): Promise<{ status: number; body: ReturnType<typeof JSON.parse> }> =>
  call(local, path, { method, body: JSON.stringify(body), contentType: 'application/json', tenant });
const get = async (path: string, tenant = 0): Promise<{ status: number; body: ReturnType<typeof JSON.parse> }> =>
  call(local, path, { tenant });
const arrived = async (path: string): Promise<Received> => {
  const [first] = await waitFor(
    () => received.filter((one) => one.path === path),
    ({ length }) => length > 0,
  );
  if (first === undefined) throw new Error(`Nothing arrived at ${path}.`);
  return first;
};
const verify = (secret: string, { body, headers }: Received): unknown => new Webhook(secret).verify(body, headers);

test('the end of a submission reaches the endpoint and the callback, signed; the deliveries can be looked at', async () => {
  const created = await post('/v1/webhooks', { url: 'https://hooks.acme.example/ended', description: 'CRM' });
  expect(created).toMatchObject({ status: 201, body: { enabled: true, secret: expect.stringMatching(/^whsec_/) } });
  const callback = await post('/v1/webhooks/callback/rotate');
  expect(callback.status).toBe(200);

  const client = clientOf(local);
  const uploadId = await client.upload(SAMPLE);
  const submitted = await post('/v1/submissions', { uploadId, callbackUrl: 'https://erp.acme.example/callback' });
  const { id } = submitted.body;
  await ended(client, id);

  const event = await arrived('/ended');
  expect(verify(created.body.secret, event)).toMatchObject({
    type: 'submission.partially_failed',
    data: { submissionId: id, state: 'partially_failed', counts: { total: 200, failed: 8 } },
  });
  expect(event.headers['x-forwarded-host']).toBe('hooks.acme.example');
  const called = await arrived('/callback');
  expect(verify(callback.body.secret, called)).toMatchObject({ submissionId: id, state: 'partially_failed' });
  expect(called.headers['webhook-id']).toBe(event.headers['webhook-id']);

  const { body } = await waitFor(
    () => get(`/v1/webhook-deliveries?submissionId=${id}`),
    (answer) => answer.body.items.every(({ state }: { state: string }) => state === 'delivered'),
  );
  expect(body.items.map(({ webhookId }: { webhookId: string }) => webhookId).sort()).toEqual([
    'callback',
    created.body.id,
  ]);
  const [delivery] = body.items;
  expect(await get(`/v1/webhook-deliveries/${delivery.id}`)).toMatchObject({ status: 200, body: delivery });
  expect(delivery).toMatchObject({ attempts: 1, lastAttempt: { status: 204 }, eventId: event.headers['webhook-id'] });

  // Another tenant sees nothing of it.
  expect(await get(`/v1/webhook-deliveries/${delivery.id}`, 1)).toMatchObject({ status: 404 });
  expect(await get(`/v1/webhooks/${created.body.id}`, 1)).toMatchObject({ status: 404 });
  expect((await get('/v1/webhook-deliveries', 1)).body).toEqual({ items: [], nextCursor: null });
  expect((await get('/v1/webhooks')).body.items).toMatchObject([{ id: created.body.id, description: 'CRM' }]);
  expect(JSON.stringify((await get('/v1/webhooks')).body)).not.toContain('whsec_');
});

test('an endpoint that answers 410 is disabled; enabled again, the delivery is sent again', async () => {
  statuses.set('/gone', 410);
  const { body: webhook } = await post('/v1/webhooks', { url: 'https://hooks.globex.example/gone' }, 1);
  const tested = await post(`/v1/webhooks/${webhook.id}/test`, {}, 1);
  expect(tested).toMatchObject({ status: 202, body: { type: 'webhook.test', state: 'pending' } });
  const path = `/v1/webhook-deliveries/${tested.body.id}`;
  const { body: ended410 } = await waitFor(
    () => get(path, 1),
    ({ body }) => body.state !== 'pending',
  );
  expect(ended410).toMatchObject({ state: 'disabled', lastAttempt: { status: 410, excerpt: 'status 410' } });
  expect((await get(`/v1/webhooks/${webhook.id}`, 1)).body).toMatchObject({ enabled: false, disabledBecause: 'gone' });
  expect(await post(`${path}/resend`, {}, 1)).toMatchObject({ status: 409, body: { code: 'webhook_disabled' } });
  expect(await post(`/v1/webhooks/${webhook.id}/test`, {}, 1)).toMatchObject({ status: 409 });

  statuses.delete('/gone');
  const enabled = await post(`/v1/webhooks/${webhook.id}`, { url: webhook.url }, 1, 'PUT');
  expect(enabled).toMatchObject({ status: 200, body: { enabled: true } });
  expect(await post(`${path}/resend`, {}, 1)).toMatchObject({ status: 202, body: { state: 'pending' } });
  await waitFor(
    () => get(path, 1),
    ({ body }) => body.state === 'delivered',
  );
  const rotated = await post(`/v1/webhooks/${webhook.id}/rotate`, { overlapHours: 1 }, 1);
  await post(`/v1/webhooks/${webhook.id}/test`, {}, 1);
  const [, , last] = await waitFor(
    () => received.filter((one) => one.path === '/gone'),
    ({ length }) => length === 3,
  );
  if (last === undefined) throw new Error('Nothing arrived.');
  expect(last.headers['webhook-signature']?.split(' ')).toHaveLength(2);
  for (const secret of [webhook.secret, rotated.body.secret])
    expect(verify(secret, last)).toMatchObject({ type: 'webhook.test' });

  expect(await post(`/v1/webhooks/${webhook.id}`, undefined, 1, 'DELETE')).toMatchObject({ status: 200 });
  expect(await get(`/v1/webhooks/${webhook.id}`, 1)).toMatchObject({ status: 404 });
  expect(local.cloud.denials()).toEqual([]);
});
