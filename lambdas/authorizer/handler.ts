import { createApiKeyStore } from '../adapters/dynamodb/api-keys.ts';
import { createDynamoClient } from '../adapters/clients.ts';
import { authorize, type AuthorizerAnswer } from '../domain/api/authorization.ts';
import { systemClock } from '../runtime/clock.ts';
import { sanitizeError } from '../runtime/sanitize-error.ts';
import { readAuthorizerEnvironment } from './env.ts';

const env = readAuthorizerEnvironment();
const keys = createApiKeyStore(createDynamoClient(), env.TENANTS_TABLE, systemClock);

/** Tells by the API key which tenant calls. */
export const handler = async (event: unknown): Promise<AuthorizerAnswer> => {
  try {
    return await authorize(keys, event);
  } catch (error) {
    throw sanitizeError(error);
  }
};
