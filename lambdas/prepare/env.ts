import * as v from 'valibot';
import { readEnvironment, type EnvironmentSource } from '../runtime/environment.ts';
import { common, shared } from '../runtime/variables.ts';

/** Variables of the function that unpacks and decodes files. */
export const prepareEnvironment = v.object({
  ...common,
  SUBMISSIONS_TABLE: shared.SUBMISSIONS_TABLE,
  BUCKET: shared.BUCKET,
  PREPARE_QUEUE_URL: shared.PREPARE_QUEUE_URL,
  FANOUT_QUEUE_URL: shared.FANOUT_QUEUE_URL,
});

export type PrepareEnvironment = v.InferOutput<typeof prepareEnvironment>;

/** Reads and checks the variables. Throws InvalidDataError naming each wrong one. */
export const readPrepareEnvironment = (source: EnvironmentSource = process.env): PrepareEnvironment =>
  readEnvironment('prepare', prepareEnvironment, source);
