import * as v from 'valibot';
import { readEnvironment, type EnvironmentSource } from '../runtime/environment.ts';
import { common, shared, text, wholeNumber } from '../runtime/variables.ts';

/** Variables of the function that accepts uploads and submissions and cancels them. */
export const submitEnvironment = v.object({
  ...common,
  SUBMISSIONS_TABLE: shared.SUBMISSIONS_TABLE,
  TENANTS_TABLE: shared.TENANTS_TABLE,
  IDEMPOTENCY_TABLE: text,
  WEBHOOKS_TABLE: shared.WEBHOOKS_TABLE,
  WEBHOOKS_QUEUE_URL: shared.WEBHOOKS_QUEUE_URL,
  BUCKET: shared.BUCKET,
  FANOUT_QUEUE_URL: shared.FANOUT_QUEUE_URL,
  CORS_ORIGINS: shared.CORS_ORIGINS,
  MAX_FILE_BYTES: shared.MAX_FILE_BYTES,
  MAX_RECORDS: shared.MAX_RECORDS,
  MAX_RECORD_BYTES: shared.MAX_RECORD_BYTES,
  /** Bytes of a file in the body of POST /v1/submissions. */
  MAX_DIRECT_BODY_BYTES: wholeNumber(1),
  /** Admission: records without an outcome that one tenant, and all of them together, may have. */
  MAX_OPEN_RECORDS_PER_TENANT: wholeNumber(1),
  MAX_OPEN_RECORDS: wholeNumber(1),
  MAX_OPEN_SUBMISSIONS_PER_TENANT: wholeNumber(1),
  RETENTION_DAYS: wholeNumber(1),
  SUBMISSION_DEADLINE_HOURS: wholeNumber(1),
  /** For the estimate of when a submission will be complete. */
  PROVIDER_RATES: shared.PROVIDER_RATES,
  SMALL_LANE_SHARE: shared.SMALL_LANE_SHARE,
});

export type SubmitEnvironment = v.InferOutput<typeof submitEnvironment>;

/** Reads and checks the variables. Throws InvalidDataError naming each wrong one. */
export const readSubmitEnvironment = (source: EnvironmentSource = process.env): SubmitEnvironment =>
  readEnvironment('submit', submitEnvironment, source);
