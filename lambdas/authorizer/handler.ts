import { createApiKeyStore } from '../adapters/api-keys.ts';
import { createDynamoClient } from '../adapters/clients.ts';
import { authorize } from '../domain/api/authorization.ts';
import { systemClock } from '../runtime/clock.ts';
import { readAuthorizerEnvironment } from './env.ts';

const env = readAuthorizerEnvironment();
const keys = createApiKeyStore(createDynamoClient(), env.TENANTS_TABLE, systemClock);

/** Tells by the API key which tenant calls. */
export const handler = async (event: unknown) => authorize(keys, event);
