import { ulid } from 'ulid';
import type { QueueSender } from '../queues/ports.ts';
import type { Clock, Random } from '../time.ts';
import { CALLBACK_ENDPOINT, TEST_EVENT, type Endpoint, type WebhookDelivery } from '../webhooks/model.ts';
import type { WebhookStore } from '../webhooks/ports.ts';
import { deliveryIdOf, sendDelivery } from '../webhooks/publish.ts';
import { newSecret } from '../webhooks/signature.ts';
import { parseBody, parseQuery } from './input.ts';
import { notFound, ProblemError } from './problems.ts';
import type { Answer, ApiRequest } from './request.ts';
import { noParametersSchema } from './schemas.ts';
import { deliveryView, isDeliveryId, isWebhookId, webhookView } from './webhook-views.ts';
import { MAX_WEBHOOKS, rotationSchema, webhookChangeSchema, webhookRequestSchema } from './webhook-schemas.ts';

export interface WriteWebhooksDeps {
  webhooks: WebhookStore;
  webhookQueue: QueueSender;
  clock: Clock;
  /** A source that nobody can foresee: secrets are made of it. */
  random: Random;
  settings: { retentionDays: number };
}

const HOUR_MS = 3_600_000;
const DAY_SECONDS = 86_400;

/** POST /v1/webhooks */
export const createWebhook =
  ({ webhooks, clock, random }: WriteWebhooksDeps): Answer =>
  async (request, { tenantId }) => {
    parseQuery(noParametersSchema, request.query);
    const { url, events = [], description } = parseBody(webhookRequestSchema, request.body);
    if ((await webhooks.listEndpoints(tenantId)).length >= MAX_WEBHOOKS) {
      const detail = `A tenant has at most ${MAX_WEBHOOKS} webhooks. Delete one that is not used.`;
      throw new ProblemError('too_many_webhooks', detail);
    }
    const nowMs = clock.now();
    const endpoint: Endpoint = {
      endpointId: `we_${ulid(nowMs, random)}`,
      tenantId,
      url,
      events: [...new Set(events)],
      ...(description !== undefined && { description }),
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    const secret = newSecret(random);
    // First, so that nothing is sent without a signature.
    await webhooks.rotateSecret(tenantId, endpoint.endpointId, secret, nowMs);
    await webhooks.putEndpoint(endpoint);
    return { status: 201, body: { ...webhookView(endpoint), secret } };
  };

/** PUT /v1/webhooks/{webhookId} */
export const putWebhook =
  ({ webhooks, clock }: WriteWebhooksDeps): Answer =>
  async (request, { tenantId }) => {
    parseQuery(noParametersSchema, request.query);
    const { url, events = [], description, enabled } = parseBody(webhookChangeSchema, request.body);
    const { endpointId, createdAtMs } = await findWebhook(webhooks, tenantId, request);
    const changed: Endpoint = {
      endpointId,
      tenantId,
      url,
      events: [...new Set(events)],
      ...(description !== undefined && { description }),
      ...(!enabled && { disabledBecause: 'by_request' as const }),
      createdAtMs,
      updatedAtMs: clock.now(),
    };
    if (!(await webhooks.putEndpoint(changed))) throw noWebhook();
    return { status: 200, body: webhookView(changed) };
  };

/** DELETE /v1/webhooks/{webhookId} */
export const deleteWebhook =
  ({ webhooks, clock }: WriteWebhooksDeps): Answer =>
  async (request, { tenantId }) => {
    parseQuery(noParametersSchema, request.query);
    const endpoint = await findWebhook(webhooks, tenantId, request);
    if (!(await webhooks.removeEndpoint(tenantId, endpoint.endpointId, clock.now()))) throw noWebhook();
    await webhooks.removeSecrets(tenantId, endpoint.endpointId);
    return { status: 200, body: webhookView(endpoint) };
  };

/** POST /v1/webhooks/{webhookId}/rotate */
export const rotateWebhookSecret =
  ({ webhooks, clock, random }: WriteWebhooksDeps): Answer =>
  async (request, { tenantId }) => {
    parseQuery(noParametersSchema, request.query);
    const { overlapHours } = parseBody(rotationSchema, request.body);
    const endpointId = request.path['webhookId'] ?? '';
    if (endpointId !== CALLBACK_ENDPOINT) await findWebhook(webhooks, tenantId, request);
    const secret = newSecret(random);
    const previousUntilMs = clock.now() + overlapHours * HOUR_MS;
    await webhooks.rotateSecret(tenantId, endpointId, secret, previousUntilMs);
    return { status: 200, body: { secret, previousUntil: new Date(previousUntilMs).toISOString() } };
  };

/** POST /v1/webhooks/{webhookId}/test */
export const testWebhook =
  (deps: WriteWebhooksDeps): Answer =>
  async (request, { tenantId }) => {
    parseQuery(noParametersSchema, request.query);
    parseBody(noParametersSchema, request.body);
    const endpoint = await findWebhook(deps.webhooks, tenantId, request);
    mustBeEnabled(endpoint);
    const delivery = await deps.webhooks.createDelivery(testDelivery(deps, endpoint));
    await sendDelivery(deps, delivery);
    return { status: 202, body: deliveryView(delivery) };
  };

/** POST /v1/webhook-deliveries/{deliveryId}/resend */
export const resendDelivery =
  (deps: WriteWebhooksDeps): Answer =>
  async (request, { tenantId }) => {
    parseQuery(noParametersSchema, request.query);
    parseBody(noParametersSchema, request.body);
    const deliveryId = request.path['deliveryId'] ?? '';
    const found = isDeliveryId(deliveryId) ? await deps.webhooks.getDelivery(tenantId, deliveryId) : undefined;
    if (found === undefined) throw noDelivery();
    if (found.endpointId !== CALLBACK_ENDPOINT) {
      const endpoint = await deps.webhooks.getEndpoint(tenantId, found.endpointId);
      if (endpoint === undefined) throw noWebhook();
      mustBeEnabled(endpoint);
    }
    const restarted = await deps.webhooks.restartDelivery(tenantId, deliveryId, deps.clock.now());
    if (restarted === undefined) throw noDelivery();
    await sendDelivery(deps, restarted);
    return { status: 202, body: deliveryView(restarted) };
  };

export async function findWebhook(
  webhooks: Pick<WebhookStore, 'getEndpoint'>,
  tenantId: string,
  { path }: ApiRequest,
): Promise<Endpoint> {
  const id = path['webhookId'] ?? '';
  const endpoint = isWebhookId(id) ? await webhooks.getEndpoint(tenantId, id) : undefined;
  if (endpoint === undefined) throw noWebhook();
  return endpoint;
}

const noWebhook = (): ProblemError => notFound('There is no such webhook, or it was deleted.');
export const noDelivery = (): ProblemError => notFound('There is no such delivery, or it has expired.');

function mustBeEnabled({ disabledBecause }: Endpoint): void {
  if (disabledBecause === undefined) return;
  throw new ProblemError('webhook_disabled', 'Enable it first: PUT /v1/webhooks/{webhookId} with "enabled": true.');
}

function testDelivery(
  { clock, random, settings }: WriteWebhooksDeps,
  { tenantId, endpointId }: Endpoint,
): WebhookDelivery {
  const nowMs = clock.now();
  const eventId = `evt_${ulid(nowMs, random)}_0`;
  return {
    deliveryId: deliveryIdOf(eventId, endpointId),
    tenantId,
    endpointId,
    eventId,
    type: TEST_EVENT,
    body: JSON.stringify({ type: TEST_EVENT, timestamp: new Date(nowMs).toISOString(), data: {} }),
    state: 'pending',
    attempts: 0,
    attemptsBefore: 0,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    expiresAtSeconds: Math.ceil(nowMs / 1_000) + settings.retentionDays * DAY_SECONDS,
  };
}
