import { noParametersSchema } from './schemas.ts';
import {
  deliveryListParametersSchema,
  deliveryPageSchema,
  deliverySchema,
  newWebhookSchema,
  rotationSchema,
  secretSchema,
  webhookChangeSchema,
  webhookListSchema,
  webhookRequestSchema,
  webhookSchema,
} from './webhook-schemas.ts';

const read = { handledBy: 'status', scope: 'read', tag: 'webhooks', query: noParametersSchema } as const;
const write = { handledBy: 'submit', scope: 'submit', tag: 'webhooks', query: noParametersSchema } as const;
const one = ['not_found'] as const;
const ofBody = ['invalid_json', 'body_too_large'] as const;

/** The calls about webhooks, see OPERATIONS. */
export const WEBHOOK_OPERATIONS = {
  createWebhook: {
    ...write,
    method: 'POST',
    path: '/v1/webhooks',
    summary: 'Name a URL that events are sent to; answers with its secret, once',
    body: { json: webhookRequestSchema },
    success: { status: 201, schema: newWebhookSchema, name: 'NewWebhook' },
    problems: [...ofBody, 'too_many_webhooks'],
  },
  listWebhooks: {
    ...read,
    method: 'GET',
    path: '/v1/webhooks',
    summary: 'Webhooks, oldest first',
    success: { status: 200, schema: webhookListSchema, name: 'WebhookList' },
    problems: [],
  },
  getWebhook: {
    ...read,
    method: 'GET',
    path: '/v1/webhooks/{webhookId}',
    summary: 'A webhook, without its secret',
    success: { status: 200, schema: webhookSchema, name: 'Webhook' },
    problems: one,
  },
  putWebhook: {
    ...write,
    method: 'PUT',
    path: '/v1/webhooks/{webhookId}',
    summary: 'Change all of a webhook but its secret; enable or disable it',
    body: { json: webhookChangeSchema },
    success: { status: 200, schema: webhookSchema, name: 'Webhook' },
    problems: [...one, ...ofBody],
  },
  deleteWebhook: {
    ...write,
    method: 'DELETE',
    path: '/v1/webhooks/{webhookId}',
    summary: 'Delete a webhook; answers with what it was',
    description: 'Deliveries that wait for their next attempt end as `disabled`.',
    success: { status: 200, schema: webhookSchema, name: 'Webhook' },
    problems: one,
  },
  rotateWebhookSecret: {
    ...write,
    method: 'POST',
    path: '/v1/webhooks/{webhookId}/rotate',
    summary: 'Make a new secret; answers with it, once',
    description:
      'The secret before signs as well for `overlapHours`. For `callback` this makes the secret of the URLs that submissions name: without it they are sent unsigned.',
    body: { json: rotationSchema },
    success: { status: 200, schema: secretSchema, name: 'WebhookSecret' },
    problems: [...one, ...ofBody],
  },
  testWebhook: {
    ...write,
    method: 'POST',
    path: '/v1/webhooks/{webhookId}/test',
    summary: 'Send an event of the type `webhook.test`',
    body: { json: noParametersSchema },
    success: { status: 202, schema: deliverySchema, name: 'WebhookDelivery' },
    problems: [...one, ...ofBody, 'webhook_disabled'],
  },
  listDeliveries: {
    ...read,
    method: 'GET',
    path: '/v1/webhook-deliveries',
    summary: 'Deliveries of events, newest first',
    query: deliveryListParametersSchema,
    success: { status: 200, schema: deliveryPageSchema, name: 'WebhookDeliveryPage' },
    problems: ['invalid_cursor'],
  },
  getDelivery: {
    ...read,
    method: 'GET',
    path: '/v1/webhook-deliveries/{deliveryId}',
    summary: 'A delivery, with its newest attempt',
    success: { status: 200, schema: deliverySchema, name: 'WebhookDelivery' },
    problems: one,
  },
  resendDelivery: {
    ...write,
    method: 'POST',
    path: '/v1/webhook-deliveries/{deliveryId}/resend',
    summary: 'Send a delivery again, now and with a new series of attempts',
    body: { json: noParametersSchema },
    success: { status: 202, schema: deliverySchema, name: 'WebhookDelivery' },
    problems: [...one, ...ofBody, 'webhook_disabled'],
  },
} as const;
