import { PROVIDERS } from '../../config/providers.ts';
import recordSchema from '../../config/record.schema.json' with { type: 'json' };
import { createAdmissionStore } from '../adapters/dynamodb/admission-store.ts';
import { createDynamoClient, createS3Client, createSqsClient } from '../adapters/clients.ts';
import { createLedgerStore } from '../adapters/dynamodb/ledger-store.ts';
import { createObjectStore } from '../adapters/s3/object-store.ts';
import { createQueueAcknowledger, createQueueSender } from '../adapters/queue.ts';
import { createSubmissionStore } from '../adapters/dynamodb/submission-store.ts';
import { FAN_OUT_DEFAULTS, type FanOutDeps } from '../domain/fan-out/deps.ts';
import { fanOutSlice } from '../domain/fan-out/fan-out-slice.ts';
import { parseFanOutMessage } from '../domain/queues/messages.ts';
import { AcceptedSchemas, schemaSetOf } from '../domain/submissions/schemas.ts';
import { eachDelivery } from '../domain/submissions/deliveries.ts';
import { sqsHandler } from '../runtime/batch.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { createTelemetry } from '../runtime/telemetry.ts';
import { readFanOutEnvironment } from './env.ts';

const env = readFanOutEnvironment();
const dynamo = createDynamoClient();
const sqs = createSqsClient();
const telemetry = createTelemetry({
  service: env.POWERTOOLS_SERVICE_NAME,
  stage: env.STAGE,
  namespace: env.POWERTOOLS_METRICS_NAMESPACE,
  logLevel: env.POWERTOOLS_LOG_LEVEL,
});

const submissions = createSubmissionStore(dynamo, env.SUBMISSIONS_TABLE, clock);

const deps: FanOutDeps = {
  submissions,
  schemas: new AcceptedSchemas(submissions, schemaSetOf(recordSchema, PROVIDERS)),
  ledger: createLedgerStore(dynamo, env.SUBMISSIONS_TABLE, clock),
  admission: createAdmissionStore(dynamo, env.TENANTS_TABLE, clock),
  objects: createObjectStore(createS3Client(), env.BUCKET),
  lanes: {
    small: createQueueSender(sqs, env.SMALL_QUEUE_URL, clock),
    bulk: createQueueSender(sqs, env.BULK_QUEUE_URL, clock),
  },
  fanOutQueue: createQueueSender(sqs, env.FANOUT_QUEUE_URL, clock),
  prepareQueue: createQueueSender(sqs, env.PREPARE_QUEUE_URL, clock),
  finalizeQueue: createQueueSender(sqs, env.FINALIZE_QUEUE_URL, clock),
  webhookQueue: createQueueSender(sqs, env.WEBHOOKS_QUEUE_URL, clock),
  telemetry,
  clock,
  random: Math.random,
  settings: {
    ...FAN_OUT_DEFAULTS,
    smallLaneThreshold: env.SMALL_LANE_THRESHOLD,
  },
};

const queue = { queue: deps.fanOutQueue, acknowledger: createQueueAcknowledger(sqs, env.FANOUT_QUEUE_URL, clock) };

/** Reads accepted files and sends a message for every record. */
export const handler = sqsHandler({
  telemetry,
  process: async (deliveries, budget) =>
    eachDelivery({ ...deps, ...queue }, deliveries, async (body) =>
      fanOutSlice(deps, parseFanOutMessage(body), budget),
    ),
});
