import { randomBytes } from 'node:crypto';
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Cloud } from './cloud/contract.ts';

/** A credential for each provider, as nobody could guess it. */
export const randomCredentials = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, `local-${name}-${randomBytes(18).toString('base64url')}`]));

/** Writes the providers' secret: what an operator does once after the first deployment. */
export async function putProvidersSecret(
  cloud: Pick<Cloud, 'awsEndpoint' | 'region' | 'operatorCredentials'>,
  secretArn: string,
  credentials: Readonly<Record<string, string>>,
): Promise<void> {
  const client = new SecretsManagerClient({
    endpoint: cloud.awsEndpoint,
    region: cloud.region,
    credentials: { ...cloud.operatorCredentials },
  });
  try {
    await client.send(new PutSecretValueCommand({ SecretId: secretArn, SecretString: JSON.stringify(credentials) }));
  } finally {
    client.destroy();
  }
}
