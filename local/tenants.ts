import { randomInt } from 'node:crypto';
import { createApiKeyRegistry } from '../lambdas/adapters/dynamodb/api-keys.ts';
import { createDynamoClient } from '../lambdas/adapters/clients.ts';
import { generateKey } from '../lambdas/domain/tenants/api-keys.ts';
import { systemClock } from '../lambdas/runtime/clock.ts';
import type { Cloud } from './cloud/contract.ts';

/** A tenant with a key that works. */
export interface LocalTenant {
  readonly tenantId: string;
  readonly apiKey: string;
}

const RANDOM_STEPS = 2 ** 32;
const cryptographicRandom = (): number => randomInt(RANDOM_STEPS) / RANDOM_STEPS;

/** Gives every tenant a key that may do everything, through the store that the command line uses. */
export async function createTenants(
  cloud: Pick<Cloud, 'awsEndpoint' | 'operatorCredentials' | 'region'>,
  tableName: string,
  tenantIds: readonly string[],
): Promise<LocalTenant[]> {
  const client = createDynamoClient({
    endpoint: cloud.awsEndpoint,
    region: cloud.region,
    credentials: { ...cloud.operatorCredentials },
  });
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
