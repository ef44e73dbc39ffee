import type { DeliveryView, WebhookView } from './webhook-schemas.ts';

const WEBHOOK_ID = 'we_01KE9Q5XW0V4T3Z8M2N6P7R1SE';
const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;

const webhook: WebhookView = {
  id: WEBHOOK_ID,
  url: 'https://hooks.example.com/sluice',
  events: ['submission.completed'],
  description: 'CRM',
  enabled: true,
  createdAt: '2026-01-05T09:00:00.000Z',
  updatedAt: '2026-01-05T09:00:00.000Z',
};

const delivery: DeliveryView = {
  id: 'dlv_01KE9Q5XW0V4T3Z8M2N6P7R1SD_0_01KE9Q5XW0V4T3Z8M2N6P7R1SE',
  webhookId: WEBHOOK_ID,
  eventId: 'evt_01KE9Q5XW0V4T3Z8M2N6P7R1SD_0',
  type: 'submission.completed',
  submissionId: 'sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD',
  state: 'pending',
  attempts: 1,
  lastAttempt: { at: '2026-01-05T09:00:09.000Z', durationMs: 212, status: 503, excerpt: 'Down for maintenance' },
  nextAttemptAt: '2026-01-05T09:00:14.000Z',
  createdAt: '2026-01-05T09:00:09.000Z',
  updatedAt: '2026-01-05T09:00:09.000Z',
};

/** By name of the schema. */
export const WEBHOOK_ANSWER_EXAMPLES = {
  Webhook: webhook,
  NewWebhook: { ...webhook, secret: SECRET },
  WebhookList: { items: [webhook] },
  WebhookSecret: { secret: SECRET, previousUntil: '2026-01-06T09:00:00.000Z' },
  WebhookDelivery: delivery,
  WebhookDeliveryPage: { items: [delivery], nextCursor: null },
};

/** By operation and content type. */
export const WEBHOOK_REQUEST_EXAMPLES = {
  createWebhook: { 'application/json': { url: webhook.url, events: webhook.events, description: 'CRM' } },
  putWebhook: { 'application/json': { url: webhook.url, enabled: true } },
  rotateWebhookSecret: { 'application/json': { overlapHours: 24 } },
  testWebhook: { 'application/json': {} },
  resendDelivery: { 'application/json': {} },
};

/** What is sent, for the document's section about webhooks. */
export const EVENT_EXAMPLE = {
  type: 'submission.completed',
  timestamp: '2026-01-05T09:00:09.000Z',
  data: {
    submissionId: delivery.submissionId,
    state: 'complete',
    counts: { total: 200, pending: 0, succeeded: 200, failed: 0, cancelled: 0 },
    reference: 'customers of January',
    resultsVersion: 1,
  },
};
