import { DependencyUnavailableError, SluiceError } from '../domain/errors.ts';

/**
 * Errors by which a service says that the request is wrong: our mistake, which no repetition mends. Everything else that a
 * service or the network answers (throttles, faults, timeouts, also a missing permission or resource, which the operator
 * mends) is a dependency that does not work at the moment, and never the fault of a record.
 */
const OUR_MISTAKES: ReadonlySet<string> = new Set([
  'ValidationException',
  'SerializationException',
  'ItemCollectionSizeLimitExceededException',
  'InvalidArgument',
  'InvalidRequest',
  'EntityTooSmall',
  'InvalidPart',
  'InvalidPartOrder',
]);

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

/**
 * What to throw instead of `error`: {@link DependencyUnavailableError} when a service or the network caused it, the error
 * itself when it is a mistake of ours.
 *
 * @param doing - What was being done, for the message: `reading the item meta of sub_1`.
 */
export function dependencyError(error: unknown, doing: string): unknown {
  if (error instanceof SluiceError) return error;
  const facts = awsErrorFacts(error);
  if (facts === undefined || OUR_MISTAKES.has(facts.name)) return error;
  const status = facts.status === undefined ? '' : ` (HTTP ${facts.status})`;
  return new DependencyUnavailableError(`${facts.name}${status} while ${doing}.`, { cause: error });
}
