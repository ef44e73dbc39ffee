import { createDynamoClient, createSqsClient } from '../adapters/clients.ts';
import { createWebhookStore } from '../adapters/dynamodb/webhook-store.ts';
import { createForwardingTransport, createWebhookTransport } from '../adapters/http/webhook-transport.ts';
import { createQueueAcknowledger, createQueueSender } from '../adapters/queue.ts';
import { parseWebhookMessage } from '../domain/queues/messages.ts';
import { eachDelivery } from '../domain/submissions/deliveries.ts';
import { WEBHOOK_DEFAULTS, type WebhookDeps } from '../domain/webhooks/deps.ts';
import { handleWebhookMessage } from '../domain/webhooks/handle.ts';
import { sqsHandler } from '../runtime/batch.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { createTelemetry } from '../runtime/telemetry.ts';
import { readWebhooksEnvironment } from './env.ts';

const env = readWebhooksEnvironment();
const sqs = createSqsClient();
const telemetry = createTelemetry({
  service: env.POWERTOOLS_SERVICE_NAME,
  stage: env.STAGE,
  namespace: env.POWERTOOLS_METRICS_NAMESPACE,
  logLevel: env.POWERTOOLS_LOG_LEVEL,
});

const deps: WebhookDeps = {
  webhooks: createWebhookStore(createDynamoClient(), env.WEBHOOKS_TABLE, clock),
  webhookQueue: createQueueSender(sqs, env.WEBHOOKS_QUEUE_URL, clock),
  transport: env.DELIVER_TO === 'public' ? createWebhookTransport() : createForwardingTransport(env.DELIVER_TO),
  telemetry,
  clock,
  random: Math.random,
  settings: WEBHOOK_DEFAULTS,
};

const queue = { queue: deps.webhookQueue, acknowledger: createQueueAcknowledger(sqs, env.WEBHOOKS_QUEUE_URL, clock) };

/** Tells customers' endpoints of events. */
export const handler = sqsHandler({
  telemetry,
  process: async (deliveries) =>
    eachDelivery({ ...deps, ...queue }, deliveries, async (body) =>
      handleWebhookMessage(deps, parseWebhookMessage(body)),
    ),
});
