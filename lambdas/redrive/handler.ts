import { createDynamoClient, createS3Client, createSqsClient } from '../adapters/clients.ts';
import { createLedgerStore } from '../adapters/dynamodb/ledger-store.ts';
import { createProviderStore } from '../adapters/dynamodb/provider-store.ts';
import { createRecordStore } from '../adapters/dynamodb/record-store.ts';
import { createSubmissionStore } from '../adapters/dynamodb/submission-store.ts';
import { createQueueReceiver, createQueueSender } from '../adapters/queue.ts';
import { createObjectStore } from '../adapters/s3/object-store.ts';
import { answerRedrive } from '../domain/redrive/redrive.ts';
import { REDRIVE_DEFAULTS, type RedriveDeps } from '../domain/redrive/run.ts';
import { readRedriveEnvironment } from './env.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { eventHandler } from '../runtime/event.ts';
import { createTelemetry } from '../runtime/telemetry.ts';

const HOUR_MS = 3_600_000;

const env = readRedriveEnvironment();
const dynamo = createDynamoClient();
const sqs = createSqsClient();
const telemetry = createTelemetry({
  service: env.POWERTOOLS_SERVICE_NAME,
  stage: env.STAGE,
  namespace: env.POWERTOOLS_METRICS_NAMESPACE,
  logLevel: env.POWERTOOLS_LOG_LEVEL,
});

const deps: RedriveDeps = {
  submissions: createSubmissionStore(dynamo, env.SUBMISSIONS_TABLE, clock),
  ledger: createLedgerStore(dynamo, env.SUBMISSIONS_TABLE, clock),
  records: createRecordStore(dynamo, env.RECORDS_TABLE, clock),
  objects: createObjectStore(createS3Client(), env.BUCKET),
  lanes: {
    small: createQueueSender(sqs, env.SMALL_QUEUE_URL, clock),
    bulk: createQueueSender(sqs, env.BULK_QUEUE_URL, clock),
  },
  deadLetters: {
    small: createQueueReceiver(sqs, env.SMALL_DLQ_URL, clock),
    bulk: createQueueReceiver(sqs, env.BULK_DLQ_URL, clock),
  },
  telemetry,
  clock,
  providers: createProviderStore(dynamo, env.PROVIDERS_TABLE, clock),
  apis: Object.entries(env.PROVIDER_RATES).map(([name, ratePerSecond]) => ({ name, ratePerSecond })),
  settings: { ...REDRIVE_DEFAULTS, deadlineMs: env.SUBMISSION_DEADLINE_HOURS * HOUR_MS },
};

/** Replays failed records: `{"submissionId": "sub_…"}` counts them, with `"dryRun": false` it does it. */
export const handler = eventHandler({ telemetry, work: async (event, budget) => answerRedrive(deps, event, budget) });
