import { PROVIDERS } from '../../config/providers.ts';
import recordSchema from '../../config/record.schema.json' with { type: 'json' };
import { createAdmissionStore } from '../adapters/dynamodb/admission-store.ts';
import { createIdempotencyStore } from '../adapters/dynamodb/idempotency-store.ts';
import { createDynamoClient, createS3Client, createSqsClient } from '../adapters/clients.ts';
import { createObjectStore } from '../adapters/s3/object-store.ts';
import { createPresigner } from '../adapters/s3/presigner.ts';
import { createQueueSender } from '../adapters/queue.ts';
import { createProfileStore } from '../adapters/dynamodb/profile-store.ts';
import { createWebhookStore } from '../adapters/dynamodb/webhook-store.ts';
import { createSubmissionStore } from '../adapters/dynamodb/submission-store.ts';
import { pacePerSecondOf } from '../domain/api/estimate.ts';
import { cancelSubmission, createSubmission } from '../domain/api/submissions.ts';
import { deleteProfile, putProfile } from '../domain/api/profiles.ts';
import { createUpload } from '../domain/api/uploads.ts';
import {
  createWebhook,
  deleteWebhook,
  putWebhook,
  resendDelivery,
  rotateWebhookSecret,
  testWebhook,
} from '../domain/api/webhooks.ts';
import { createCountsCache } from '../domain/api/counts-cache.ts';
import { AcceptedSchemas, schemaSetOf } from '../domain/submissions/schemas.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { httpHandler } from '../runtime/http.ts';
import { secureRandom } from '../runtime/random.ts';
import { createTelemetry } from '../runtime/telemetry.ts';
import { readSubmitEnvironment } from './env.ts';

const env = readSubmitEnvironment();
const dynamo = createDynamoClient();
const s3 = createS3Client();
const sqs = createSqsClient();
const telemetry = createTelemetry({
  service: env.POWERTOOLS_SERVICE_NAME,
  stage: env.STAGE,
  namespace: env.POWERTOOLS_METRICS_NAMESPACE,
  logLevel: env.POWERTOOLS_LOG_LEVEL,
});

const submissions = createSubmissionStore(dynamo, env.SUBMISSIONS_TABLE, clock);

const deps = {
  countsCache: createCountsCache(clock),
  submissions,
  profiles: createProfileStore(dynamo, env.SUBMISSIONS_TABLE, clock),
  schemas: new AcceptedSchemas(submissions, schemaSetOf(recordSchema, PROVIDERS)),
  admission: createAdmissionStore(dynamo, env.TENANTS_TABLE, clock),
  answers: createIdempotencyStore(dynamo, env.IDEMPOTENCY_TABLE, env.RETENTION_DAYS * 86_400),
  objects: createObjectStore(s3, env.BUCKET),
  presigner: createPresigner(s3, env.BUCKET),
  fanOutQueue: createQueueSender(sqs, env.FANOUT_QUEUE_URL, clock),
  webhookQueue: createQueueSender(sqs, env.WEBHOOKS_QUEUE_URL, clock),
  webhooks: createWebhookStore(dynamo, env.WEBHOOKS_TABLE, clock),
  telemetry,
  clock,
  random: secureRandom,
  settings: {
    maxFileBytes: env.MAX_FILE_BYTES,
    maxRecords: env.MAX_RECORDS,
    maxRecordBytes: env.MAX_RECORD_BYTES,
    providers: Object.keys(env.PROVIDER_RATES),
    maxDirectBodyBytes: env.MAX_DIRECT_BODY_BYTES,
    admission: {
      maxOpenRecordsPerTenant: env.MAX_OPEN_RECORDS_PER_TENANT,
      maxOpenRecords: env.MAX_OPEN_RECORDS,
      maxOpenSubmissionsPerTenant: env.MAX_OPEN_SUBMISSIONS_PER_TENANT,
    },
    retentionDays: env.RETENTION_DAYS,
    deadlineHours: env.SUBMISSION_DEADLINE_HOURS,
    pacePerSecond: pacePerSecondOf(env.PROVIDER_RATES),
    smallLaneShare: env.SMALL_LANE_SHARE,
  },
};

/** Takes on uploads and submissions, and cancels them. */
export const handler = httpHandler({
  answers: {
    createUpload: createUpload(deps),
    createSubmission: createSubmission(deps),
    cancelSubmission: cancelSubmission(deps),
    putProfile: putProfile(deps),
    deleteProfile: deleteProfile(deps),
    createWebhook: createWebhook(deps),
    putWebhook: putWebhook(deps),
    deleteWebhook: deleteWebhook(deps),
    rotateWebhookSecret: rotateWebhookSecret(deps),
    testWebhook: testWebhook(deps),
    resendDelivery: resendDelivery(deps),
  },
  corsOrigins: env.CORS_ORIGINS,
  telemetry,
  clock,
});
