import * as v from 'valibot';
import { readEnvironment, type EnvironmentSource } from '../runtime/environment.ts';
import { common, shared, wholeNumber } from '../runtime/variables.ts';

/** Variables of the function that turns files into messages. */
export const fanOutEnvironment = v.object({
  ...common,
  SUBMISSIONS_TABLE: shared.SUBMISSIONS_TABLE,
  TENANTS_TABLE: shared.TENANTS_TABLE,
  BUCKET: shared.BUCKET,
  FANOUT_QUEUE_URL: shared.FANOUT_QUEUE_URL,
  PREPARE_QUEUE_URL: shared.PREPARE_QUEUE_URL,
  SMALL_QUEUE_URL: shared.SMALL_QUEUE_URL,
  BULK_QUEUE_URL: shared.BULK_QUEUE_URL,
  FINALIZE_QUEUE_URL: shared.FINALIZE_QUEUE_URL,
  WEBHOOKS_QUEUE_URL: shared.WEBHOOKS_QUEUE_URL,
  /** Files of up to this many records go to the small lane. */
  SMALL_LANE_THRESHOLD: wholeNumber(1),
});

export type FanOutEnvironment = v.InferOutput<typeof fanOutEnvironment>;

/** Reads and checks the variables. Throws InvalidDataError naming each wrong one. */
export const readFanOutEnvironment = (source: EnvironmentSource = process.env): FanOutEnvironment =>
  readEnvironment('fan-out', fanOutEnvironment, source);
