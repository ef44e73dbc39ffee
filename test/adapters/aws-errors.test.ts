import { describe, expect, test } from '@jest/globals';
import {
  DEPENDENCY_ERRORS,
  dependencyError,
  type AwsCall,
  type AwsService,
  type ErrorClass,
} from '../../lambdas/adapters/aws-errors.ts';
import {
  DependencyMisconfiguredError,
  DependencyUnavailableError,
  InvalidDataError,
  SluiceError,
} from '../../lambdas/domain/errors.ts';
import { connectionError, serviceError } from './service-errors.ts';

const CALLS: Readonly<Record<AwsService, AwsCall>> = {
  s3: { service: 's3', action: 'GetObject', resource: 'bucket/uploads/x' },
  dynamodb: { service: 'dynamodb', action: 'GetItem', resource: 'submissions' },
  sqs: { service: 'sqs', action: 'SendMessage', resource: 'https://sqs/queue' },
  secretsmanager: { service: 'secretsmanager', action: 'GetSecretValue', resource: 'secret' },
  kms: { service: 'kms', action: 'Decrypt', resource: 'key' },
};

const classOf = (error: unknown): ErrorClass => {
  if (error instanceof DependencyMisconfiguredError) return 'ours';
  return error instanceof DependencyUnavailableError ? 'passing' : 'final';
};

const named = (name: string): Error => Object.assign(new Error(name), { name });

type Row = [service: AwsService, name: string, status: number, expected: ErrorClass];

/** Every row of the table, with the status that the service gives it. */
const ROWS: readonly Row[] = [
  ['s3', 'NoSuchKey', 404, 'final'],
  ['s3', 'NotFound', 404, 'final'],
  ['s3', 'NoSuchUpload', 404, 'final'],
  ['s3', 'NoSuchVersion', 404, 'final'],
  ['s3', 'PreconditionFailed', 412, 'final'],
  ['s3', 'InvalidArgument', 400, 'final'],
  ['s3', 'InvalidRequest', 400, 'final'],
  ['s3', 'InvalidPart', 400, 'final'],
  ['s3', 'InvalidPartOrder', 400, 'final'],
  ['s3', 'EntityTooSmall', 400, 'final'],
  ['s3', 'EntityTooLarge', 400, 'final'],
  ['s3', 'InvalidRange', 416, 'final'],
  ['s3', 'InvalidObjectState', 403, 'ours'],
  ['s3', 'NoSuchBucket', 404, 'ours'],
  ['s3', 'AllAccessDisabled', 403, 'ours'],
  ['s3', 'AccountProblem', 403, 'ours'],
  ['s3', 'PermanentRedirect', 301, 'ours'],
  ['s3', 'ConditionalRequestConflict', 409, 'passing'],
  ['s3', 'OperationAborted', 409, 'passing'],
  ['s3', 'SlowDown', 503, 'passing'],
  ['dynamodb', 'ItemCollectionSizeLimitExceededException', 400, 'final'],
  ['dynamodb', 'ResourceNotFoundException', 400, 'ours'],
  ['dynamodb', 'ResourceInUseException', 400, 'passing'],
  ['dynamodb', 'ProvisionedThroughputExceededException', 400, 'passing'],
  ['dynamodb', 'LimitExceededException', 400, 'passing'],
  ['dynamodb', 'TransactionConflictException', 400, 'passing'],
  ['dynamodb', 'ReplicatedWriteConflictException', 400, 'passing'],
  ['sqs', 'InvalidMessageContents', 400, 'final'],
  ['sqs', 'InvalidParameterValue', 400, 'final'],
  ['sqs', 'InvalidParameterValueException', 400, 'final'],
  ['sqs', 'InvalidAttributeValue', 400, 'final'],
  ['sqs', 'BatchRequestTooLong', 400, 'final'],
  ['sqs', 'AWS.SimpleQueueService.BatchRequestTooLong', 400, 'final'],
  ['sqs', 'ReceiptHandleIsInvalid', 404, 'final'],
  ['sqs', 'MessageNotInflight', 400, 'final'],
  ['sqs', 'AWS.SimpleQueueService.MessageNotInflight', 400, 'final'],
  ['sqs', 'QueueDoesNotExist', 400, 'ours'],
  ['sqs', 'AWS.SimpleQueueService.NonExistentQueue', 400, 'ours'],
  ['sqs', 'QueueDeletedRecently', 400, 'ours'],
  ['sqs', 'InvalidAddress', 404, 'ours'],
  ['sqs', 'InvalidSecurity', 403, 'ours'],
  ['sqs', 'OverLimit', 403, 'passing'],
  ['sqs', 'RequestThrottled', 403, 'passing'],
  ['secretsmanager', 'ResourceNotFoundException', 400, 'ours'],
  ['secretsmanager', 'InvalidRequestException', 400, 'ours'],
  ['secretsmanager', 'InvalidParameterException', 400, 'ours'],
  ['secretsmanager', 'DecryptionFailure', 400, 'ours'],
  ['kms', 'KMSAccessDeniedException', 400, 'ours'],
  ['kms', 'KMSDisabledException', 400, 'ours'],
  ['kms', 'KMSInvalidStateException', 400, 'ours'],
  ['kms', 'KMSNotFoundException', 400, 'ours'],
  ['kms', 'KMSOptInRequired', 403, 'ours'],
  ['kms', 'KMSThrottlingException', 400, 'passing'],
  ['kms', 'KmsAccessDenied', 400, 'ours'],
  ['kms', 'KmsDisabled', 400, 'ours'],
  ['kms', 'KmsInvalidKeyUsage', 400, 'ours'],
  ['kms', 'KmsInvalidState', 400, 'ours'],
  ['kms', 'KmsNotFound', 400, 'ours'],
  ['kms', 'KmsOptInRequired', 403, 'ours'],
  ['kms', 'KmsThrottled', 400, 'passing'],
  ['kms', 'KMS.DisabledException', 400, 'ours'],
  ['kms', 'KMS.InvalidStateException', 400, 'ours'],
  ['kms', 'KMS.KMSInvalidStateException', 400, 'ours'],
  ['kms', 'KMS.NotFoundException', 400, 'ours'],
  ['kms', 'KMS.ThrottlingException', 400, 'passing'],
];

/** What every service may answer, and what has no name. */
const ANYWHERE: readonly [name: string, status: number, expected: ErrorClass][] = [
  ['AccessDenied', 403, 'ours'],
  ['AccessDeniedException', 400, 'ours'],
  ['UnauthorizedOperation', 403, 'ours'],
  ['OptInRequired', 403, 'ours'],
  ['UnrecognizedClientException', 400, 'ours'],
  ['InvalidClientTokenId', 403, 'ours'],
  ['InvalidAccessKeyId', 403, 'ours'],
  ['InvalidToken', 400, 'ours'],
  ['InvalidSignatureException', 400, 'ours'],
  ['SignatureDoesNotMatch', 403, 'ours'],
  ['ExpiredToken', 400, 'passing'],
  ['ExpiredTokenException', 400, 'passing'],
  ['RequestExpired', 400, 'passing'],
  ['RequestTimeTooSkewed', 403, 'passing'],
  ['RequestTimeout', 400, 'passing'],
  ['Throttling', 400, 'passing'],
  ['ThrottlingException', 400, 'passing'],
  ['ThrottledException', 400, 'passing'],
  ['RequestLimitExceeded', 400, 'passing'],
  ['InternalError', 500, 'passing'],
  ['InternalFailure', 500, 'passing'],
  ['InternalServerError', 500, 'passing'],
  ['InternalServiceError', 500, 'passing'],
  ['ServiceUnavailable', 503, 'passing'],
  ['SerializationException', 400, 'final'],
  ['ValidationException', 400, 'final'],
  ['403', 403, 'ours'],
  ['AnErrorOfNextYear', 400, 'ours'],
  ['AnErrorOfNextYear', 429, 'passing'],
  ['AnErrorOfNextYear', 502, 'passing'],
];

describe('the table of dependency errors', () => {
  test.each(ROWS)('%s %s (%i) is %s', (service, name, status, expected) => {
    expect(classOf(dependencyError(serviceError(name, status), 'reading', CALLS[service]))).toBe(expected);
  });

  test.each(ANYWHERE)('%s (%i) of any service is %s', (name, status, expected) => {
    const classes = Object.values(CALLS).map((call) =>
      classOf(dependencyError(serviceError(name, status), 'reading', call)),
    );
    expect(new Set(classes)).toEqual(new Set([expected]));
  });

  test('has a test for each of its rows', () => {
    const rows = Object.entries(DEPENDENCY_ERRORS).flatMap(([service, errors]) =>
      Object.keys(errors).map((name) => `${service} ${name}`),
    );
    expect(ROWS.map(([service, name]) => `${service} ${name}`)).toEqual(rows);
  });

  test.each(['s3', 'dynamodb', 'sqs', 'secretsmanager'] as const)('knows errors of a key behind %s', (service) => {
    expect(classOf(dependencyError(serviceError('KmsDisabled', 400), 'reading', CALLS[service]))).toBe('ours');
  });
});

describe('an error that needs a person', () => {
  test('names action and resource of the call', () => {
    const cause = serviceError('InvalidObjectState', 403);
    const error = dependencyError(cause, 'reading the object uploads/x', CALLS.s3);

    expect(error).toMatchObject({ action: 's3:GetObject', resource: 'bucket/uploads/x', retryable: true, cause });
    expect(String(error)).toBe(
      'DependencyMisconfiguredError: InvalidObjectState (HTTP 403) while reading the object uploads/x. ' +
        'Denied or misconfigured: s3:GetObject on bucket/uploads/x.',
    );
  });

  test('names what the service says was refused, where that is something else', () => {
    const cause = serviceError('AccessDenied', 403);
    cause.message =
      'User: arn:aws:sts::1:assumed-role/r/f is not authorized to perform: kms:Decrypt on resource: "arn:aws:kms:eu:1:key/k" because …';

    expect(dependencyError(cause, 'reading', CALLS.s3)).toMatchObject({
      action: 'kms:Decrypt',
      resource: 'arn:aws:kms:eu:1:key/k',
    });
  });
});

describe('errors without an answer of a service', () => {
  test.each([
    ['a broken connection', connectionError('ECONNRESET')],
    ['an unknown host', connectionError('ENOTFOUND')],
    ['no answer in time', named('TimeoutError')],
    ['no credentials', named('CredentialsProviderError')],
    ['an answer that cannot be read', Object.assign(new SyntaxError('Unexpected token <'), { $response: {} })],
  ])('%s passes, and says where', (_what, error) => {
    const mapped = dependencyError(error, 'reading sub_1/head', CALLS.dynamodb);

    expect(classOf(mapped)).toBe('passing');
    expect(mapped).toMatchObject({ retryable: true, cause: error });
    expect(String(mapped)).toMatch(/while reading sub_1\/head\.$/);
  });

  test.each([
    ['a mistake of ours', new TypeError('undefined is not a function')],
    ['an argument that Node refuses', Object.assign(new TypeError('bad'), { code: 'ERR_INVALID_ARG_TYPE' })],
    ['an error that has its meaning already', new InvalidDataError('The stored row is not valid.')],
    ['another of those', new SluiceError('Something.')],
    ['something that is no error', 'text'],
  ])('%s stays what it is', (_what, error) => {
    expect(dependencyError(error, 'reading', CALLS.dynamodb)).toBe(error);
  });
});
