import { createAdmissionStore } from '../adapters/dynamodb/admission-store.ts';
import { createDynamoClient, createS3Client } from '../adapters/clients.ts';
import { createLedgerStore } from '../adapters/dynamodb/ledger-store.ts';
import { createObjectStore } from '../adapters/s3/object-store.ts';
import { createPresigner } from '../adapters/s3/presigner.ts';
import { createRecordStore } from '../adapters/dynamodb/record-store.ts';
import { createProfileStore } from '../adapters/dynamodb/profile-store.ts';
import { createWebhookStore } from '../adapters/dynamodb/webhook-store.ts';
import { createSubmissionStore } from '../adapters/dynamodb/submission-store.ts';
import { pacePerSecondOf } from '../domain/api/estimate.ts';
import { getDescription } from '../domain/api/openapi.ts';
import { getProfile, listProfiles } from '../domain/api/profiles.ts';
import { listRecords } from '../domain/api/records-page.ts';
import { getRecord } from '../domain/api/records.ts';
import { getResults } from '../domain/api/results.ts';
import { getSubmission, listSubmissions } from '../domain/api/status.ts';
import { getDelivery, getWebhook, listDeliveries, listWebhooks } from '../domain/api/webhook-reads.ts';
import { createCountsCache } from '../domain/api/counts-cache.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { httpHandler } from '../runtime/http.ts';
import { createTelemetry } from '../runtime/telemetry.ts';
import { readStatusEnvironment } from './env.ts';

const env = readStatusEnvironment();
const dynamo = createDynamoClient();
const s3 = createS3Client();
const telemetry = createTelemetry({
  service: env.POWERTOOLS_SERVICE_NAME,
  stage: env.STAGE,
  namespace: env.POWERTOOLS_METRICS_NAMESPACE,
  logLevel: env.POWERTOOLS_LOG_LEVEL,
});

const deps = {
  countsCache: createCountsCache(clock),
  submissions: createSubmissionStore(dynamo, env.SUBMISSIONS_TABLE, clock),
  profiles: createProfileStore(dynamo, env.SUBMISSIONS_TABLE, clock),
  records: createRecordStore(dynamo, env.RECORDS_TABLE, clock),
  ledger: createLedgerStore(dynamo, env.SUBMISSIONS_TABLE, clock),
  webhooks: createWebhookStore(dynamo, env.WEBHOOKS_TABLE, clock),
  telemetry,
  admission: createAdmissionStore(dynamo, env.TENANTS_TABLE, clock),
  objects: createObjectStore(s3, env.BUCKET),
  presigner: createPresigner(s3, env.BUCKET),
  clock,
  settings: { pacePerSecond: pacePerSecondOf(env.PROVIDER_RATES), smallLaneShare: env.SMALL_LANE_SHARE },
};

/** Tells what became of submissions and records. */
export const handler = httpHandler({
  answers: {
    getDescription: getDescription(),
    getSubmission: getSubmission(deps),
    listSubmissions: listSubmissions(deps),
    getRecord: getRecord(deps),
    listRecords: listRecords(deps),
    getResults: getResults(deps),
    getProfile: getProfile(deps),
    listProfiles: listProfiles(deps),
    listWebhooks: listWebhooks(deps),
    getWebhook: getWebhook(deps),
    listDeliveries: listDeliveries(deps),
    getDelivery: getDelivery(deps),
  },
  corsOrigins: env.CORS_ORIGINS,
  telemetry,
  clock,
});
