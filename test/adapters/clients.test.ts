import { describe, expect, test } from '@jest/globals';
import {
  createDynamoClient,
  createS3Client,
  createSecretsClient,
  createSqsClient,
} from '../../lambdas/adapters/clients.ts';

const region = { region: 'us-east-1' };

describe('clients', () => {
  test.each([
    ['DynamoDB', createDynamoClient(region)],
    ['SQS', createSqsClient(region)],
    ['S3', createS3Client(region)],
    ['Secrets Manager', createSecretsClient(region)],
  ])('a call to %s that hangs is given up and repeated a few times', async (_name, client) => {
    const handler = client.config.requestHandler;
    // The handler reads its options when it is first used.
    await expect(client.config.maxAttempts()).resolves.toBe(4);
    expect(await settingsOf(handler)).toMatchObject({ throwOnRequestTimeout: true, connectionTimeout: 1000 });
    const { requestTimeout } = await settingsOf(handler);
    expect(requestTimeout).toBeGreaterThan(0);
    expect(requestTimeout).toBeLessThanOrEqual(20_000);
  });

  test('S3 sends checksums only where the service requires them', async () => {
    const { config } = createS3Client(region);

    expect(await config.requestChecksumCalculation()).toBe('WHEN_REQUIRED');
    expect(await config.responseChecksumValidation()).toBe('WHEN_REQUIRED');
  });

  test('what a caller gives comes last', async () => {
    expect(await createSqsClient({ ...region, maxAttempts: 1 }).config.maxAttempts()).toBe(1);
  });
});

async function settingsOf(handler: object): Promise<{ requestTimeout?: number }> {
  const settings: unknown = await Reflect.get(handler, 'configProvider');
  return settings as { requestTimeout?: number };
}
