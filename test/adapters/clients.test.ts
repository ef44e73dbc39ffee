import { describe, expect, jest, test } from '@jest/globals';
import {
  createDynamoClient,
  createS3Client,
  createSecretsClient,
  createSqsClient,
} from '../../lambdas/adapters/clients.ts';
import { SETTLE_RESERVE_MS } from '../../lambdas/domain/limits.ts';

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

  test.each([
    ['hangs', 'TRANSIENT'],
    ['is throttled', 'THROTTLING'],
  ] as const)('a write of which every try %s ends within the time that is kept for it', async (_name, errorType) => {
    const { config } = createDynamoClient(region);
    const tries = await config.maxAttempts();
    const { requestTimeout = Infinity } = await settingsOf(config.requestHandler);
    const waitsMs = await longestWaitsMs(await config.retryStrategy(), tries, errorType);

    const longestMs = (errorType === 'TRANSIENT' ? tries * requestTimeout : 0) + waitsMs;

    expect(waitsMs).toBeGreaterThan(0);
    expect(longestMs).toBeLessThanOrEqual(SETTLE_RESERVE_MS - 900);
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

type Strategy = Awaited<ReturnType<ReturnType<typeof createDynamoClient>['config']['retryStrategy']>>;

/** What the SDK waits between the tries of one call, where chance lets it wait as long as it ever does. */
async function longestWaitsMs(
  strategy: Strategy,
  tries: number,
  errorType: 'TRANSIENT' | 'THROTTLING',
): Promise<number> {
  if (!('acquireInitialRetryToken' in strategy)) throw new Error('The SDK repeats calls in another way.');
  jest.spyOn(Math, 'random').mockReturnValue(1 - Number.EPSILON);
  const sleep = jest.spyOn(globalThis, 'setTimeout').mockImplementation((wake) => {
    wake();
    return {} as NodeJS.Timeout;
  });
  let token = await strategy.acquireInitialRetryToken('writes');
  for (let again = 1; again < tries; again++) token = await strategy.refreshRetryTokenForRetry(token, { errorType });
  const waitsMs = sleep.mock.calls.reduce((sum, [, ms = 0]) => sum + ms, 0);
  jest.restoreAllMocks();
  return waitsMs;
}

async function settingsOf(handler: object): Promise<{ requestTimeout?: number }> {
  const settings: unknown = await Reflect.get(handler, 'configProvider');
  return settings as { requestTimeout?: number };
}
