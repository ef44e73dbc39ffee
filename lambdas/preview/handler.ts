import { PROVIDERS } from '../../config/providers.ts';
import recordSchema from '../../config/record.schema.json' with { type: 'json' };
import { createDynamoClient, createS3Client } from '../adapters/clients.ts';
import { createAdmissionStore } from '../adapters/dynamodb/admission-store.ts';
import { createProfileStore } from '../adapters/dynamodb/profile-store.ts';
import { createSubmissionStore } from '../adapters/dynamodb/submission-store.ts';
import { createConverter } from '../adapters/prepare/converter.ts';
import { createObjectStore } from '../adapters/s3/object-store.ts';
import { pacePerSecondOf } from '../domain/api/estimate.ts';
import { createPreview } from '../domain/api/previews.ts';
import { AcceptedSchemas, schemaSetOf } from '../domain/submissions/schemas.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { httpHandler } from '../runtime/http.ts';
import { createTelemetry } from '../runtime/telemetry.ts';
import { readPreviewEnvironment } from './env.ts';

const env = readPreviewEnvironment();
const dynamo = createDynamoClient();
const objects = createObjectStore(createS3Client(), env.BUCKET);
const telemetry = createTelemetry({
  service: env.POWERTOOLS_SERVICE_NAME,
  stage: env.STAGE,
  namespace: env.POWERTOOLS_METRICS_NAMESPACE,
  logLevel: env.POWERTOOLS_LOG_LEVEL,
});

const deps = {
  objects,
  converter: createConverter(objects),
  profiles: createProfileStore(dynamo, env.SUBMISSIONS_TABLE, clock),
  schemas: new AcceptedSchemas(
    createSubmissionStore(dynamo, env.SUBMISSIONS_TABLE, clock),
    schemaSetOf(recordSchema, PROVIDERS),
  ),
  lookups: Object.fromEntries(PROVIDERS.map(({ name, lookup }) => [name, lookup])),
  pricesPerCall: Object.fromEntries(
    PROVIDERS.flatMap(({ name, pricePerCall }) => (pricePerCall === undefined ? [] : [[name, pricePerCall]])),
  ),
  admission: createAdmissionStore(dynamo, env.TENANTS_TABLE, clock),
  clock,
  settings: {
    maxFileBytes: env.MAX_FILE_BYTES,
    maxRecordBytes: env.MAX_RECORD_BYTES,
    pacePerSecond: pacePerSecondOf(env.PROVIDER_RATES),
    smallLaneShare: env.SMALL_LANE_SHARE,
  },
};

/** Tells what would become of a file. It can write nothing. */
export const handler = httpHandler({
  answers: { createPreview: createPreview(deps) },
  corsOrigins: env.CORS_ORIGINS,
  telemetry,
  clock,
  // Unpacking takes as long as a file is large, up to the function's time.
  slowAnswerMs: Infinity,
});
