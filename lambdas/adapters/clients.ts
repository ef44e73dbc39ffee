import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { SecretsManagerClient, type SecretsManagerClientConfig } from '@aws-sdk/client-secrets-manager';
import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient, type TranslateConfig } from '@aws-sdk/lib-dynamodb';
import { AWS_TRIES, DYNAMO_TRY_MS } from '../domain/limits.ts';

/*
 * Clients as the functions use them. A handler makes each one once, when its module is loaded: connections are kept alive
 * between invocations. Region, credentials and endpoint come from the environment, which the SDK reads itself.
 *
 * Timeouts are short, because a call that hangs costs more than one that is repeated: the SDK's default is to wait for ever.
 * The attempts below add up to well under the shortest function timeout; what is still failing then goes back to a queue.
 */

/** Standard mode: exponential backoff with jitter, and a token bucket that stops repeating when a service is down. */
const RETRY = { retryMode: 'standard', maxAttempts: AWS_TRIES } as const;

const handler = (requestTimeout: number) => ({
  connectionTimeout: 1000,
  requestTimeout,
  // Without this the SDK only writes a warning when the time is over.
  throwOnRequestTimeout: true,
});

/** Longer than the longest poll, see queue.ts. */
const SQS_TIMEOUT_MS = 4000;
/** Time to the response's headers; for a part of a results file that includes sending 8 MiB. */
const S3_TIMEOUT_MS = 20_000;
const SECRETS_TIMEOUT_MS = 3000;

/** How values become attributes: an absent optional member is no attribute, and sets stay sets. */
export const DOCUMENT_OPTIONS: TranslateConfig = { marshallOptions: { removeUndefinedValues: true } };

export function createDynamoClient(overrides: DynamoDBClientConfig = {}): DynamoDBDocumentClient {
  const client = new DynamoDBClient({ ...RETRY, requestHandler: handler(DYNAMO_TRY_MS), ...overrides });
  return DynamoDBDocumentClient.from(client, DOCUMENT_OPTIONS);
}

export function createSqsClient(overrides: SQSClientConfig = {}): SQSClient {
  return new SQSClient({ ...RETRY, requestHandler: handler(SQS_TIMEOUT_MS), ...overrides });
}

/**
 * Checksums only where S3 requires them: a presigned URL must not contain the checksum of a body that is not there yet,
 * and a stream that is read in ranges has none to compare with.
 */
export function createS3Client(overrides: S3ClientConfig = {}): S3Client {
  return new S3Client({
    ...RETRY,
    requestHandler: handler(S3_TIMEOUT_MS),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...overrides,
  });
}

export function createSecretsClient(overrides: SecretsManagerClientConfig = {}): SecretsManagerClient {
  return new SecretsManagerClient({ ...RETRY, requestHandler: handler(SECRETS_TIMEOUT_MS), ...overrides });
}
