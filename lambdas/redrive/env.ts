import * as v from 'valibot';
import { readEnvironment, type EnvironmentSource } from '../runtime/environment.ts';
import { common, shared, wholeNumber } from '../runtime/variables.ts';

/** Variables of the function that replays dead-lettered and failed records. */
export const redriveEnvironment = v.object({
  ...common,
  SUBMISSIONS_TABLE: shared.SUBMISSIONS_TABLE,
  RECORDS_TABLE: shared.RECORDS_TABLE,
  PROVIDERS_TABLE: shared.PROVIDERS_TABLE,
  BUCKET: shared.BUCKET,
  SMALL_QUEUE_URL: shared.SMALL_QUEUE_URL,
  BULK_QUEUE_URL: shared.BULK_QUEUE_URL,
  SMALL_DLQ_URL: shared.SMALL_DLQ_URL,
  BULK_DLQ_URL: shared.BULK_DLQ_URL,
  PROVIDER_RATES: shared.PROVIDER_RATES,
  /** A replayed submission gets a new deadline of this many hours, within its retention. */
  SUBMISSION_DEADLINE_HOURS: wholeNumber(1),
});

export type RedriveEnvironment = v.InferOutput<typeof redriveEnvironment>;

/** Reads and checks the variables. Throws InvalidDataError naming each wrong one. */
export const readRedriveEnvironment = (source: EnvironmentSource = process.env): RedriveEnvironment =>
  readEnvironment('redrive', redriveEnvironment, source);
