import * as v from 'valibot';
import { readEnvironment, type EnvironmentSource } from '../runtime/environment.ts';
import { common, shared, share, text } from '../runtime/variables.ts';

/** Variables of the function that enriches the records of one lane. */
export const workerEnvironment = v.object({
  ...common,
  SUBMISSIONS_TABLE: shared.SUBMISSIONS_TABLE,
  RECORDS_TABLE: shared.RECORDS_TABLE,
  PROVIDERS_TABLE: shared.PROVIDERS_TABLE,
  PROVIDERS_SECRET_ARN: text,
  PROVIDER_BASE_URLS: shared.PROVIDER_BASE_URLS,
  PROVIDER_RATES: shared.PROVIDER_RATES,
  PROVIDER_BURSTS: shared.PROVIDER_BURSTS,
  PROVIDER_CALLS_PER_WORKER: shared.PROVIDER_CALLS_PER_WORKER,
  LANE: v.picklist(['small', 'bulk'], 'small or bulk is required'),
  LANE_QUEUE_URL: text,
  LANE_DLQ_URL: text,
  FINALIZE_QUEUE_URL: shared.FINALIZE_QUEUE_URL,
  /** Share of the log lines about successes that is written; failures always are. */
  SUCCESS_LOG_SHARE: share,
});

export type WorkerEnvironment = v.InferOutput<typeof workerEnvironment>;

/** Reads and checks the variables. Throws InvalidDataError naming each wrong one. */
export const readWorkerEnvironment = (source: EnvironmentSource = process.env): WorkerEnvironment =>
  readEnvironment('worker', workerEnvironment, source);
