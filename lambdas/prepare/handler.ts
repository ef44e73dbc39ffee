import { createDynamoClient, createS3Client, createSqsClient } from '../adapters/clients.ts';
import { createSubmissionStore } from '../adapters/dynamodb/submission-store.ts';
import { createConverter } from '../adapters/prepare/converter.ts';
import { createQueueAcknowledger, createQueueSender } from '../adapters/queue.ts';
import { createObjectStore } from '../adapters/s3/object-store.ts';
import { PREPARE_DEFAULTS, prepareSlice, type PrepareDeps } from '../domain/prepare/prepare-slice.ts';
import { parseFanOutMessage } from '../domain/queues/messages.ts';
import { eachDelivery } from '../domain/submissions/deliveries.ts';
import { sqsHandler } from '../runtime/batch.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { createTelemetry } from '../runtime/telemetry.ts';
import { readPrepareEnvironment } from './env.ts';

const env = readPrepareEnvironment();
const sqs = createSqsClient();
const objects = createObjectStore(createS3Client(), env.BUCKET);
const telemetry = createTelemetry({
  service: env.POWERTOOLS_SERVICE_NAME,
  stage: env.STAGE,
  namespace: env.POWERTOOLS_METRICS_NAMESPACE,
  logLevel: env.POWERTOOLS_LOG_LEVEL,
});

const deps: PrepareDeps = {
  submissions: createSubmissionStore(createDynamoClient(), env.SUBMISSIONS_TABLE, clock),
  objects,
  converter: createConverter(objects),
  prepareQueue: createQueueSender(sqs, env.PREPARE_QUEUE_URL, clock),
  fanOutQueue: createQueueSender(sqs, env.FANOUT_QUEUE_URL, clock),
  telemetry,
  clock,
  random: Math.random,
  settings: PREPARE_DEFAULTS,
};

const queue = { queue: deps.prepareQueue, acknowledger: createQueueAcknowledger(sqs, env.PREPARE_QUEUE_URL, clock) };

/** Unpacks and decodes accepted files that are no text in UTF-8, and hands them to the fan-out. */
export const handler = sqsHandler({
  telemetry,
  process: async (deliveries, budget) =>
    eachDelivery({ ...deps, ...queue }, deliveries, async (body) =>
      prepareSlice(deps, parseFanOutMessage(body), budget),
    ),
});
