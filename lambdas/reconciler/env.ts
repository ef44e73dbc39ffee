import * as v from 'valibot';
import { readEnvironment, type EnvironmentSource } from '../runtime/environment.ts';
import { common, shared, toggle, wholeNumber } from '../runtime/variables.ts';

/** Variables of the function that looks every minute for what got stuck. */
export const reconcilerEnvironment = v.object({
  ...common,
  SUBMISSIONS_TABLE: shared.SUBMISSIONS_TABLE,
  RECORDS_TABLE: shared.RECORDS_TABLE,
  PROVIDERS_TABLE: shared.PROVIDERS_TABLE,
  TENANTS_TABLE: shared.TENANTS_TABLE,
  BUCKET: shared.BUCKET,
  FANOUT_QUEUE_URL: shared.FANOUT_QUEUE_URL,
  SMALL_QUEUE_URL: shared.SMALL_QUEUE_URL,
  BULK_QUEUE_URL: shared.BULK_QUEUE_URL,
  FINALIZE_QUEUE_URL: shared.FINALIZE_QUEUE_URL,
  PROVIDER_RATES: shared.PROVIDER_RATES,
  /** How long the lanes hide a delivered message. */
  LANE_VISIBILITY_SECONDS: wholeNumber(1),
  /** The least silence after which a record's message counts as lost. */
  LOST_AFTER_SECONDS: wholeNumber(1),
  PREPARE_DLQ_URL: shared.PREPARE_DLQ_URL,
  FANOUT_DLQ_URL: shared.FANOUT_DLQ_URL,
  FINALIZE_DLQ_URL: shared.FINALIZE_DLQ_URL,
  WEBHOOKS_DLQ_URL: shared.WEBHOOKS_DLQ_URL,
  SMALL_DLQ_URL: shared.SMALL_DLQ_URL,
  BULK_DLQ_URL: shared.BULK_DLQ_URL,
  /** Whether records that an outage dead-lettered are replayed once every provider works again. */
  AUTOMATIC_REDRIVE: toggle,
  /** A replayed submission gets a new deadline of this many hours. */
  SUBMISSION_DEADLINE_HOURS: wholeNumber(1),
});

export type ReconcilerEnvironment = v.InferOutput<typeof reconcilerEnvironment>;

/** Reads and checks the variables. Throws InvalidDataError naming each wrong one. */
export const readReconcilerEnvironment = (source: EnvironmentSource = process.env): ReconcilerEnvironment =>
  readEnvironment('reconciler', reconcilerEnvironment, source);
