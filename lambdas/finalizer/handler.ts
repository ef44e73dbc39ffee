import { PROVIDERS } from '../../config/providers.ts';
import recordSchema from '../../config/record.schema.json' with { type: 'json' };
import { createAdmissionStore } from '../adapters/dynamodb/admission-store.ts';
import { createDynamoClient, createS3Client, createSqsClient } from '../adapters/clients.ts';
import { createLedgerStore } from '../adapters/dynamodb/ledger-store.ts';
import { createObjectStore } from '../adapters/s3/object-store.ts';
import { createQueueAcknowledger, createQueueSender } from '../adapters/queue.ts';
import { createRecordStore } from '../adapters/dynamodb/record-store.ts';
import { createSubmissionStore } from '../adapters/dynamodb/submission-store.ts';
import { FINALIZE_DEFAULTS, type FinalizeDeps } from '../domain/finalize/deps.ts';
import { PartTurns } from '../domain/finalize/part-turns.ts';
import { finalizeSlice } from '../domain/finalize/finalize-slice.ts';
import { parseFinalizeMessage } from '../domain/queues/messages.ts';
import { AcceptedSchemas, schemaSetOf } from '../domain/submissions/schemas.ts';
import { eachDelivery } from '../domain/submissions/deliveries.ts';
import { sqsHandler } from '../runtime/batch.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { createTelemetry } from '../runtime/telemetry.ts';
import { readFinalizerEnvironment } from './env.ts';

const env = readFinalizerEnvironment();
const dynamo = createDynamoClient();
const sqs = createSqsClient();
const telemetry = createTelemetry({
  service: env.POWERTOOLS_SERVICE_NAME,
  stage: env.STAGE,
  namespace: env.POWERTOOLS_METRICS_NAMESPACE,
  logLevel: env.POWERTOOLS_LOG_LEVEL,
});

const submissions = createSubmissionStore(dynamo, env.SUBMISSIONS_TABLE, clock);

const deps: FinalizeDeps = {
  submissions,
  ledger: createLedgerStore(dynamo, env.SUBMISSIONS_TABLE, clock),
  records: createRecordStore(dynamo, env.RECORDS_TABLE, clock),
  admission: createAdmissionStore(dynamo, env.TENANTS_TABLE, clock),
  objects: createObjectStore(createS3Client(), env.BUCKET),
  finalizeQueue: createQueueSender(sqs, env.FINALIZE_QUEUE_URL, clock),
  webhookQueue: createQueueSender(sqs, env.WEBHOOKS_QUEUE_URL, clock),
  schemas: new AcceptedSchemas(submissions, schemaSetOf(recordSchema, PROVIDERS)),
  turns: new PartTurns(clock),
  telemetry,
  clock,
  random: Math.random,
  settings: FINALIZE_DEFAULTS,
};

const queue = { queue: deps.finalizeQueue, acknowledger: createQueueAcknowledger(sqs, env.FINALIZE_QUEUE_URL, clock) };

/** Writes the results of submissions whose records are all done, and announces them. */
export const handler = sqsHandler({
  telemetry,
  process: async (deliveries, budget) =>
    eachDelivery({ ...deps, ...queue }, deliveries, async (body) =>
      finalizeSlice(deps, parseFinalizeMessage(body), budget),
    ),
});
