import { randomBytes, randomInt } from 'node:crypto';
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { createDynamoClient } from '../lambdas/adapters/clients.ts';
import { createApiKeyRegistry } from '../lambdas/adapters/dynamodb/api-keys.ts';
import { generateKey } from '../lambdas/domain/tenants/api-keys.ts';
import { systemClock } from '../lambdas/runtime/clock.ts';
import type { Cloud } from './cloud/index.ts';

/** What an operator does once after the first deployment: fill the providers' secret, make API keys. */

type Endpoint = Pick<Cloud, 'awsEndpoint' | 'region' | 'operatorCredentials'>;

/** Settings of an AWS client that acts as the operator. */
export const asOperator = ({ awsEndpoint: endpoint, region, operatorCredentials }: Endpoint) => ({
  endpoint,
  region,
  credentials: { ...operatorCredentials },
});

/** A random credential for each provider: a key, and as well `user:password` or `client_id:client_secret`. */
export const randomCredentials = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, `local-${name}:${randomBytes(18).toString('base64url')}`]));

/** Writes the providers' secret. */
export async function putProvidersSecret(
  cloud: Endpoint,
  secretArn: string,
  credentials: Readonly<Record<string, string>>,
): Promise<void> {
  const client = new SecretsManagerClient(asOperator(cloud));
  try {
    await client.send(new PutSecretValueCommand({ SecretId: secretArn, SecretString: JSON.stringify(credentials) }));
  } finally {
    client.destroy();
  }
}

/** A tenant with a key that works. */
export interface LocalTenant {
  readonly tenantId: string;
  readonly apiKey: string;
}

const RANDOM_STEPS = 2 ** 32;
const cryptographicRandom = (): number => randomInt(RANDOM_STEPS) / RANDOM_STEPS;

/** Gives every tenant a key with all permissions, through the store that the command line uses. */
export async function createTenants(
  cloud: Endpoint,
  tableName: string,
  tenantIds: readonly string[],
): Promise<LocalTenant[]> {
  const client = createDynamoClient(asOperator(cloud));
  try {
    const registry = createApiKeyRegistry(client, tableName, systemClock);
    const tenants: LocalTenant[] = [];
    for (const tenantId of tenantIds) {
      const { key, stored } = generateKey({ tenantId, name: 'local' }, systemClock.now(), cryptographicRandom);
      await registry.add(stored);
      tenants.push({ tenantId, apiKey: key });
    }
    return tenants;
  } finally {
    client.destroy();
  }
}
