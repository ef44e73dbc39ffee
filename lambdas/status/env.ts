import * as v from 'valibot';
import { readEnvironment, type EnvironmentSource } from '../runtime/environment.ts';
import { common, shared } from '../runtime/variables.ts';

/** Variables of the function that answers what became of submissions and records. */
export const statusEnvironment = v.object({
  ...common,
  SUBMISSIONS_TABLE: shared.SUBMISSIONS_TABLE,
  RECORDS_TABLE: shared.RECORDS_TABLE,
  TENANTS_TABLE: shared.TENANTS_TABLE,
  WEBHOOKS_TABLE: shared.WEBHOOKS_TABLE,
  BUCKET: shared.BUCKET,
  CORS_ORIGINS: shared.CORS_ORIGINS,
  /** For the estimate of when a submission will be complete. */
  PROVIDER_RATES: shared.PROVIDER_RATES,
  SMALL_LANE_SHARE: shared.SMALL_LANE_SHARE,
});

export type StatusEnvironment = v.InferOutput<typeof statusEnvironment>;

/** Reads and checks the variables. Throws InvalidDataError naming each wrong one. */
export const readStatusEnvironment = (source: EnvironmentSource = process.env): StatusEnvironment =>
  readEnvironment('status', statusEnvironment, source);
