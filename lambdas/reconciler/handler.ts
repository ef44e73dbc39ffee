import { createDynamoClient, createS3Client, createSqsClient } from '../adapters/clients.ts';
import { createAdmissionStore } from '../adapters/dynamodb/admission-store.ts';
import { createLedgerStore } from '../adapters/dynamodb/ledger-store.ts';
import { createProviderStore } from '../adapters/dynamodb/provider-store.ts';
import { createRecordStore } from '../adapters/dynamodb/record-store.ts';
import { createSubmissionStore } from '../adapters/dynamodb/submission-store.ts';
import { createQueueDepth, createQueueReceiver, createQueueSender } from '../adapters/queue.ts';
import { createObjectStore } from '../adapters/s3/object-store.ts';
import { RECONCILE_DEFAULTS, type ReconcileDeps } from '../domain/reconcile/deps.ts';
import { reconcile } from '../domain/reconcile/reconcile.ts';
import { REDRIVE_DEFAULTS, type RedriveDeps } from '../domain/redrive/run.ts';
import { readReconcilerEnvironment } from './env.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { eventHandler } from '../runtime/event.ts';
import { createTelemetry } from '../runtime/telemetry.ts';

const env = readReconcilerEnvironment();
const dynamo = createDynamoClient();
const sqs = createSqsClient();
const telemetry = createTelemetry({
  service: env.POWERTOOLS_SERVICE_NAME,
  stage: env.STAGE,
  namespace: env.POWERTOOLS_METRICS_NAMESPACE,
  logLevel: env.POWERTOOLS_LOG_LEVEL,
});

const HOUR_MS = 3_600_000;

const stores = {
  submissions: createSubmissionStore(dynamo, env.SUBMISSIONS_TABLE, clock),
  ledger: createLedgerStore(dynamo, env.SUBMISSIONS_TABLE, clock),
  records: createRecordStore(dynamo, env.RECORDS_TABLE, clock),
  objects: createObjectStore(createS3Client(), env.BUCKET),
  lanes: {
    small: createQueueSender(sqs, env.SMALL_QUEUE_URL, clock),
    bulk: createQueueSender(sqs, env.BULK_QUEUE_URL, clock),
  },
  telemetry,
  clock,
  providers: createProviderStore(dynamo, env.PROVIDERS_TABLE, clock),
  apis: Object.entries(env.PROVIDER_RATES).map(([name, ratePerSecond]) => ({ name, ratePerSecond })),
};

const automaticRedrive: RedriveDeps = {
  ...stores,
  deadLetters: {
    small: createQueueReceiver(sqs, env.SMALL_DLQ_URL, clock),
    bulk: createQueueReceiver(sqs, env.BULK_DLQ_URL, clock),
  },
  settings: { ...REDRIVE_DEFAULTS, deadlineMs: env.SUBMISSION_DEADLINE_HOURS * HOUR_MS },
};

const deps: ReconcileDeps = {
  ...stores,
  admission: createAdmissionStore(dynamo, env.TENANTS_TABLE, clock),
  fanOutQueue: createQueueSender(sqs, env.FANOUT_QUEUE_URL, clock),
  deadLetterQueues: {
    small: createQueueDepth(sqs, env.SMALL_DLQ_URL),
    bulk: createQueueDepth(sqs, env.BULK_DLQ_URL),
    prepare: createQueueDepth(sqs, env.PREPARE_DLQ_URL),
    fanOut: createQueueDepth(sqs, env.FANOUT_DLQ_URL),
    finalize: createQueueDepth(sqs, env.FINALIZE_DLQ_URL),
    webhooks: createQueueDepth(sqs, env.WEBHOOKS_DLQ_URL),
  },
  finalizeQueue: createQueueSender(sqs, env.FINALIZE_QUEUE_URL, clock),
  settings: {
    ...RECONCILE_DEFAULTS,
    visibilityMs: env.LANE_VISIBILITY_SECONDS * 1000,
    lostMs: env.LOST_AFTER_SECONDS * 1000,
  },
  ...(env.AUTOMATIC_REDRIVE && { automaticRedrive }),
};

/** Looks every minute for what got stuck, and moves it on. */
export const handler = eventHandler({ telemetry, work: async (_event, budget) => reconcile(deps, budget) });
