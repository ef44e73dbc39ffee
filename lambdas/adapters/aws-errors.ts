import {
  DependencyMisconfiguredError,
  DependencyUnavailableError,
  SluiceError,
  type Refusal,
} from '../domain/errors.ts';

/** A service that adapters call. KMS is never called directly: its errors come through the others. */
export type AwsService = 's3' | 'dynamodb' | 'sqs' | 'secretsmanager' | 'kms';

/**
 * What an error means for the work that met it:
 * - `final`: about the object, the message or the request itself. No repetition changes it.
 * - `passing`: a throttle, a fault, no answer. The same call may succeed later.
 * - `ours`: a permission, a key, a setting, a resource that is missing. Work waits until a person acts.
 */
export type ErrorClass = 'final' | 'passing' | 'ours';

/** Any service. What its own table says comes first. */
const ANY_SERVICE: Readonly<Record<string, ErrorClass>> = {
  AccessDenied: 'ours',
  AccessDeniedException: 'ours',
  UnauthorizedOperation: 'ours',
  OptInRequired: 'ours',
  UnrecognizedClientException: 'ours',
  InvalidClientTokenId: 'ours',
  InvalidAccessKeyId: 'ours',
  InvalidToken: 'ours',
  InvalidSignatureException: 'ours',
  SignatureDoesNotMatch: 'ours',
  // Credentials of an environment that is about to be replaced, and a clock that the SDK corrects.
  ExpiredToken: 'passing',
  ExpiredTokenException: 'passing',
  RequestExpired: 'passing',
  RequestTimeTooSkewed: 'passing',
  RequestTimeout: 'passing',
  Throttling: 'passing',
  ThrottlingException: 'passing',
  ThrottledException: 'passing',
  RequestLimitExceeded: 'passing',
  InternalError: 'passing',
  InternalFailure: 'passing',
  InternalServerError: 'passing',
  InternalServiceError: 'passing',
  ServiceUnavailable: 'passing',
  SerializationException: 'final',
  ValidationException: 'final',
};

/** Service × error. Names are those of the services' API references; the class of a name that is not here goes by its status. */
export const DEPENDENCY_ERRORS: Readonly<Record<AwsService, Readonly<Record<string, ErrorClass>>>> = {
  s3: {
    NoSuchKey: 'final',
    NotFound: 'final',
    NoSuchUpload: 'final',
    NoSuchVersion: 'final',
    PreconditionFailed: 'final',
    InvalidArgument: 'final',
    InvalidRequest: 'final',
    InvalidPart: 'final',
    InvalidPartOrder: 'final',
    EntityTooSmall: 'final',
    EntityTooLarge: 'final',
    // A position behind the end of the object.
    InvalidRange: 'final',
    // Archived: somebody must restore it, and correct the rule that archived it.
    InvalidObjectState: 'ours',
    NoSuchBucket: 'ours',
    AllAccessDisabled: 'ours',
    AccountProblem: 'ours',
    PermanentRedirect: 'ours',
    ConditionalRequestConflict: 'passing',
    OperationAborted: 'passing',
    SlowDown: 'passing',
  },
  dynamodb: {
    ItemCollectionSizeLimitExceededException: 'final',
    ResourceNotFoundException: 'ours',
    // While a table is created, changed or restored.
    ResourceInUseException: 'passing',
    ProvisionedThroughputExceededException: 'passing',
    LimitExceededException: 'passing',
    TransactionConflictException: 'passing',
    ReplicatedWriteConflictException: 'passing',
  },
  sqs: {
    InvalidMessageContents: 'final',
    InvalidParameterValue: 'final',
    InvalidParameterValueException: 'final',
    InvalidAttributeValue: 'final',
    BatchRequestTooLong: 'final',
    'AWS.SimpleQueueService.BatchRequestTooLong': 'final',
    // The message was received again by somebody else, or is gone.
    ReceiptHandleIsInvalid: 'final',
    MessageNotInflight: 'final',
    'AWS.SimpleQueueService.MessageNotInflight': 'final',
    QueueDoesNotExist: 'ours',
    'AWS.SimpleQueueService.NonExistentQueue': 'ours',
    QueueDeletedRecently: 'ours',
    InvalidAddress: 'ours',
    InvalidSecurity: 'ours',
    // The quota of messages in flight.
    OverLimit: 'passing',
    RequestThrottled: 'passing',
  },
  secretsmanager: {
    ResourceNotFoundException: 'ours',
    // Marked for deletion.
    InvalidRequestException: 'ours',
    InvalidParameterException: 'ours',
    DecryptionFailure: 'ours',
  },
  // As DynamoDB, SQS and S3 spell them.
  kms: {
    KMSAccessDeniedException: 'ours',
    KMSDisabledException: 'ours',
    KMSInvalidStateException: 'ours',
    KMSNotFoundException: 'ours',
    KMSOptInRequired: 'ours',
    KMSThrottlingException: 'passing',
    KmsAccessDenied: 'ours',
    KmsDisabled: 'ours',
    KmsInvalidKeyUsage: 'ours',
    KmsInvalidState: 'ours',
    KmsNotFound: 'ours',
    KmsOptInRequired: 'ours',
    KmsThrottled: 'passing',
    'KMS.DisabledException': 'ours',
    'KMS.InvalidStateException': 'ours',
    'KMS.KMSInvalidStateException': 'ours',
    'KMS.NotFoundException': 'ours',
    'KMS.ThrottlingException': 'passing',
  },
};

/** Errors that the SDK makes itself when it could not get an answer at all. */
const NO_ANSWER: ReadonlySet<string> = new Set([
  'TimeoutError',
  'AbortError',
  'NetworkingError',
  'CredentialsProviderError',
  'ProviderError',
]);

/** What the SDK's errors have in common, read without trusting their class: bundles may hold several copies of it. */
export interface AwsErrorFacts {
  name: string;
  status?: number;
}

/** The facts of an error that a service or the network caused; undefined for any other error. */
export function awsErrorFacts(error: unknown): AwsErrorFacts | undefined {
  if (!(error instanceof Error)) return undefined;
  const metadata: unknown = '$metadata' in error ? error.$metadata : undefined;
  const status: unknown =
    typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata
      ? metadata.httpStatusCode
      : undefined;
  const answered = metadata !== undefined || '$response' in error;
  if (!answered && !NO_ANSWER.has(error.name) && !isSystemError(error)) return undefined;
  return typeof status === 'number' ? { name: error.name, status } : { name: error.name };
}

/** Node's errors of sockets and DNS carry `syscall`; those of a destroyed request have only a code. */
const isSystemError = (error: Error): boolean =>
  'code' in error &&
  typeof error.code === 'string' &&
  ('syscall' in error || /^(ECONN|EPIPE|ETIMEDOUT|EAI_|ENOTFOUND|EPROTO|ERR_TLS|ERR_SSL|CERT_)/.test(error.code));

/** What an error means that `service` answered. */
export function classify(service: AwsService, { name, status }: AwsErrorFacts): ErrorClass {
  return knownClass(service, name) ?? byStatus(service, status);
}

/** What the table says; undefined for a name that is not in it. */
export const knownClass = (service: AwsService, name: string): ErrorClass | undefined =>
  DEPENDENCY_ERRORS[service][name] ?? DEPENDENCY_ERRORS.kms[name] ?? ANY_SERVICE[name];

/**
 * For errors without a name, as those of HEAD, and for names that are not in the tables: services get new ones. A refusal that nobody
 * knows is ours: to wait and to ring is right where a person must act, and harmless where it was about the object. Told as final it
 * would end work that could be done.
 */
function byStatus(service: AwsService, status: number | undefined): ErrorClass {
  if (status === undefined || status < 400 || status >= 500) return 'passing';
  if (status === 408 || status === 409 || status === 429) return 'passing';
  return service === 's3' && (status === 404 || status === 412) ? 'final' : 'ours';
}

/** A call to a service, as errors and alarms name it. */
export interface AwsCall {
  service: AwsService;
  /** As policies name it, without the service: `GetObject`. */
  action: string;
  /** Name of the table, bucket and key, queue or secret. */
  resource: string;
}

/**
 * What to throw instead of `error`: {@link DependencyMisconfiguredError} when a person must act, {@link DependencyUnavailableError}
 * when it passes, the error itself when it is final: then it is about what was asked for, or a mistake of ours.
 *
 * @param doing - What was being done, for the message: `reading the item head of sub_1`.
 */
export function dependencyError(error: unknown, doing: string, call: AwsCall): unknown {
  if (error instanceof SluiceError) return error;
  const facts = awsErrorFacts(error);
  if (facts === undefined) return error;
  const means = classify(call.service, facts);
  if (means === 'final') return error;
  const status = facts.status === undefined ? '' : ` (HTTP ${facts.status})`;
  const sentence = `${facts.name}${status} while ${doing}.`;
  if (means === 'passing') return new DependencyUnavailableError(sentence, { cause: error });
  return new DependencyMisconfiguredError(sentence, { ...refusalOf(error, call), cause: error });
}

/** The services' own sentence names what was really refused: `s3:ListBucket` for a missing object, `kms:Decrypt` for a key. */
const REFUSED = /not authorized to perform: (?<action>[a-z0-9-]+:\w+)(?: on resource: "?(?<resource>[^\s"]+))?/;

/** The action and the resource that an error is about. */
export function refusalOf(error: unknown, { service, action, resource }: AwsCall): Refusal {
  const named = error instanceof Error ? REFUSED.exec(error.message)?.groups : undefined;
  return { action: named?.['action'] ?? `${service}:${action}`, resource: named?.['resource'] ?? resource };
}

/** Runs a call; what it throws is what {@link dependencyError} makes of it. */
export async function callAws<T>(doing: string, call: AwsCall, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    throw dependencyError(error, doing, call);
  }
}
