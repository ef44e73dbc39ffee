import * as v from 'valibot';
import { readEnvironment, type EnvironmentSource } from '../runtime/environment.ts';
import { common, text } from '../runtime/variables.ts';

/** Variables of the function that stands in for the providers. */
export const standInsEnvironment = v.object({
  ...common,
  /** What callers must send as their credential: it keeps strangers out, and opens nothing else. */
  STAND_IN_CREDENTIAL: text,
});

/** Reads and checks the variables. Throws InvalidDataError naming each wrong one. */
export const readStandInsEnvironment = (
  source: EnvironmentSource = process.env,
): v.InferOutput<typeof standInsEnvironment> => readEnvironment('stand-ins', standInsEnvironment, source);
