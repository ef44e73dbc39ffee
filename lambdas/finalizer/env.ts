import * as v from 'valibot';
import { readEnvironment, type EnvironmentSource } from '../runtime/environment.ts';
import { common, shared } from '../runtime/variables.ts';

/** Variables of the function that writes the results and announces them. */
export const finalizerEnvironment = v.object({
  ...common,
  SUBMISSIONS_TABLE: shared.SUBMISSIONS_TABLE,
  RECORDS_TABLE: shared.RECORDS_TABLE,
  TENANTS_TABLE: shared.TENANTS_TABLE,
  BUCKET: shared.BUCKET,
  FINALIZE_QUEUE_URL: shared.FINALIZE_QUEUE_URL,
  WEBHOOKS_QUEUE_URL: shared.WEBHOOKS_QUEUE_URL,
});

export type FinalizerEnvironment = v.InferOutput<typeof finalizerEnvironment>;

/** Reads and checks the variables. Throws InvalidDataError naming each wrong one. */
export const readFinalizerEnvironment = (source: EnvironmentSource = process.env): FinalizerEnvironment =>
  readEnvironment('finalizer', finalizerEnvironment, source);
