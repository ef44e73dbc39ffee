import { randomBytes } from 'node:crypto';
import { PROVIDERS } from '../../config/providers.ts';
import recordSchema from '../../config/record.schema.json' with { type: 'json' };
import { createDynamoClient, createSecretsClient, createSqsClient } from '../adapters/clients.ts';
import { createCredentialSource } from '../adapters/credentials.ts';
import { createHttpTransport } from '../adapters/http/http-transport.ts';
import { createAnswerCache } from '../adapters/dynamodb/answer-cache.ts';
import { createLedgerStore } from '../adapters/dynamodb/ledger-store.ts';
import { createProviderStore } from '../adapters/dynamodb/provider-store.ts';
import { createQueueAcknowledger, createQueueSender } from '../adapters/queue.ts';
import { createRecordStore } from '../adapters/dynamodb/record-store.ts';
import { createSubmissionStore } from '../adapters/dynamodb/submission-store.ts';
import { createTokenStore } from '../adapters/dynamodb/token-store.ts';
import { withOverrides } from '../domain/providers/config.ts';
import { createTokenSource } from '../domain/providers/tokens.ts';
import { newOwner } from '../domain/submissions/slices.ts';
import { prepareWorker, processBatch } from '../domain/worker/process-batch.ts';
import { sqsHandler } from '../runtime/batch.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { createTelemetry } from '../runtime/telemetry.ts';
import { readWorkerEnvironment } from './env.ts';

const env = readWorkerEnvironment();
const dynamo = createDynamoClient();
const sqs = createSqsClient();
const telemetry = createTelemetry({
  service: env.POWERTOOLS_SERVICE_NAME,
  stage: env.STAGE,
  namespace: env.POWERTOOLS_METRICS_NAMESPACE,
  logLevel: env.POWERTOOLS_LOG_LEVEL,
  successShare: env.SUCCESS_LOG_SHARE,
  lane: env.LANE,
});

const providers = withOverrides(PROVIDERS, {
  baseUrls: env.PROVIDER_BASE_URLS,
  ratesPerSecond: env.PROVIDER_RATES,
  bursts: env.PROVIDER_BURSTS,
});
const transport = createHttpTransport();
const owner = newOwner(Math.random);
const credentials = createTokenSource(
  {
    secrets: createCredentialSource(createSecretsClient(), env.PROVIDERS_SECRET_ARN, clock),
    store: createTokenStore(dynamo, env.PROVIDERS_TABLE, clock),
    transport,
    clock,
    owner,
    randomBytes,
  },
  providers,
);

const worker = prepareWorker(
  {
    lane: env.LANE,
    submissions: createSubmissionStore(dynamo, env.SUBMISSIONS_TABLE, clock),
    ledger: createLedgerStore(dynamo, env.SUBMISSIONS_TABLE, clock),
    records: createRecordStore(dynamo, env.RECORDS_TABLE, clock),
    providers: createProviderStore(dynamo, env.PROVIDERS_TABLE, clock),
    answerCache: createAnswerCache(dynamo, env.SUBMISSIONS_TABLE, clock),
    laneQueue: createQueueSender(sqs, env.LANE_QUEUE_URL, clock),
    deadLetterQueue: createQueueSender(sqs, env.LANE_DLQ_URL, clock),
    finalizeQueue: createQueueSender(sqs, env.FINALIZE_QUEUE_URL, clock),
    acknowledger: createQueueAcknowledger(sqs, env.LANE_QUEUE_URL, clock),
    transport,
    credentials,
    telemetry,
    clock,
    random: Math.random,
    owner,
  },
  {
    providers,
    callsPerWorker: env.PROVIDER_CALLS_PER_WORKER,
    recordSchema,
  },
);

/** Works batches of one lane's queue. */
export const handler = sqsHandler({
  telemetry,
  process: async (deliveries, budget) => processBatch(worker, deliveries, budget),
});
