import { MESSAGE_VERSION, type EventMessage, type WebhookMessage } from '../queues/messages.ts';
import { sendOne } from '../submissions/slices.ts';
import type { WebhookDeps } from './deps.ts';
import { CALLBACK_ENDPOINT, type Endpoint, type WebhookDelivery } from './model.ts';

/**
 * Makes a delivery of an event for every endpoint that wants it, and one for the submission's callback. A repeated message makes none
 * twice, and sends again what was not attempted yet.
 */
export async function publishEvent(deps: WebhookDeps, message: EventMessage): Promise<void> {
  const { tenantId, callbackUrl, event } = message;
  const endpoints = await deps.webhooks.listEndpoints(tenantId);
  const wanted = endpoints.filter(({ events }) => events.length === 0 || events.includes(event.type));
  const deliveries = wanted.map((endpoint) => newDelivery(deps, message, endpoint));
  if (callbackUrl !== undefined) deliveries.push(callbackDelivery(deps, message, callbackUrl));
  for (const delivery of deliveries) {
    const stored = await deps.webhooks.createDelivery(delivery);
    if (stored.state === 'pending' && stored.attempts === 0) await sendDelivery(deps, stored);
  }
}

/** Asks for the next attempt of a delivery. */
export async function sendDelivery(
  { webhookQueue }: Pick<WebhookDeps, 'webhookQueue'>,
  { tenantId, deliveryId, attempts, submissionId }: WebhookDelivery,
  {
    afterAttempt = attempts,
    notBeforeMs,
    delayMs = 0,
  }: { afterAttempt?: number; notBeforeMs?: number; delayMs?: number } = {},
): Promise<void> {
  const message: WebhookMessage = {
    v: MESSAGE_VERSION,
    kind: 'delivery',
    tenantId,
    deliveryId,
    attempt: afterAttempt + 1,
    ...(submissionId !== undefined && { submissionId }),
    ...(notBeforeMs !== undefined && { notBeforeMs }),
  };
  await sendOne(webhookQueue, message, delayMs);
}

/** The part of an id behind its prefix. */
const bare = (id: string): string => id.slice(id.indexOf('_') + 1);

export const deliveryIdOf = (eventId: string, endpointId: string): string => `dlv_${bare(eventId)}_${bare(endpointId)}`;

function newDelivery({ clock }: WebhookDeps, message: EventMessage, endpoint: Endpoint): WebhookDelivery {
  const { endpointId, disabledBecause } = endpoint;
  return {
    ...deliveryOf(message, endpointId, clock.now()),
    body: JSON.stringify(message.event),
    // Shown all the same, so that it can be sent once the endpoint is enabled again.
    ...(disabledBecause !== undefined && { state: 'disabled' }),
  };
}

/** A callback has the members of `data` at its root as well, as callbacks had before there were webhooks. */
function callbackDelivery({ clock }: WebhookDeps, message: EventMessage, url: string): WebhookDelivery {
  const { event } = message;
  const body = JSON.stringify({ ...event.data, ...event });
  return { ...deliveryOf(message, CALLBACK_ENDPOINT, clock.now()), url, body };
}

const deliveryOf = (
  { tenantId, submissionId, eventId, event, expiresAtSeconds }: EventMessage,
  endpointId: string,
  nowMs: number,
): Omit<WebhookDelivery, 'body'> => ({
  deliveryId: deliveryIdOf(eventId, endpointId),
  tenantId,
  endpointId,
  eventId,
  type: event.type,
  ...(submissionId !== undefined && { submissionId }),
  state: 'pending',
  attempts: 0,
  attemptsBefore: 0,
  createdAtMs: nowMs,
  updatedAtMs: nowMs,
  expiresAtSeconds,
});
