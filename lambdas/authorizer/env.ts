import * as v from 'valibot';
import { readEnvironment, type EnvironmentSource } from '../runtime/environment.ts';
import { common, shared } from '../runtime/variables.ts';

/** Variables of the function that tells tenants by their API key. */
export const authorizerEnvironment = v.object({
  ...common,
  TENANTS_TABLE: shared.TENANTS_TABLE,
});

export type AuthorizerEnvironment = v.InferOutput<typeof authorizerEnvironment>;

/** Reads and checks the variables. Throws InvalidDataError naming each wrong one. */
export const readAuthorizerEnvironment = (source: EnvironmentSource = process.env): AuthorizerEnvironment =>
  readEnvironment('authorizer', authorizerEnvironment, source);
