import type { Endpoint, WebhookDelivery } from '../webhooks/model.ts';
import type { DeliveryView, WebhookView } from './webhook-schemas.ts';

const ULID = '[0-9A-HJKMNP-TV-Z]{26}';
const WEBHOOK_ID = new RegExp(`^we_${ULID}$`);
const DELIVERY_ID = new RegExp(`^dlv_${ULID}_\\d{1,9}_(?:${ULID}|callback)$`);
export const isWebhookId = (id: string): boolean => WEBHOOK_ID.test(id);
export const isDeliveryId = (id: string): boolean => DELIVERY_ID.test(id);

const iso = (ms: number): string => new Date(ms).toISOString();

export const webhookView = (endpoint: Endpoint): WebhookView => ({
  id: endpoint.endpointId,
  url: endpoint.url,
  events: [...endpoint.events],
  ...(endpoint.description !== undefined && { description: endpoint.description }),
  enabled: endpoint.disabledBecause === undefined,
  ...(endpoint.disabledBecause !== undefined && { disabledBecause: endpoint.disabledBecause }),
  createdAt: iso(endpoint.createdAtMs),
  updatedAt: iso(endpoint.updatedAtMs),
});

export function deliveryView(delivery: WebhookDelivery): DeliveryView {
  const { lastAttempt, nextAttemptAtMs, submissionId } = delivery;
  return {
    id: delivery.deliveryId,
    webhookId: delivery.endpointId,
    eventId: delivery.eventId,
    type: delivery.type,
    ...(submissionId !== undefined && { submissionId }),
    state: delivery.state,
    attempts: delivery.attempts,
    ...(lastAttempt && { lastAttempt: { at: iso(lastAttempt.atMs), ...withoutTime(lastAttempt) } }),
    ...(nextAttemptAtMs !== undefined && { nextAttemptAt: iso(nextAttemptAtMs) }),
    createdAt: iso(delivery.createdAtMs),
    updatedAt: iso(delivery.updatedAtMs),
  };
}

const withoutTime = ({ atMs: _atMs, ...rest }: NonNullable<WebhookDelivery['lastAttempt']>) => rest;
