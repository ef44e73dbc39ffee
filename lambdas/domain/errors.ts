/**
 * Base of every error that Sluice throws. `retryable` says whether the same call may succeed later; callers decide by it
 * and never by the message.
 */
export class SluiceError extends Error {
  readonly retryable: boolean;

  constructor(message: string, options: { cause?: unknown; retryable?: boolean } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.retryable = options.retryable ?? false;
  }
}

/** A value at a boundary (message, item, variable, request) does not have the shape it must have. */
export class InvalidDataError extends SluiceError {}

/** A cursor is not one that the list gave: the caller's mistake, unlike anything stored that cannot be read. */
export class InvalidCursorError extends InvalidDataError {}

/** A dependency (queue, table, object store, secret) throttled, failed or did not answer: the same call may succeed later. */
export class DependencyUnavailableError extends SluiceError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { ...options, retryable: true });
  }
}

/** What a dependency refused. */
export interface Refusal {
  /** As policies name it: `s3:GetObject`. */
  action: string;
  /** The table, object, queue, secret or key. */
  resource: string;
}

/**
 * A dependency refuses or lacks something until a person acts: a permission, a key, a secret, a setting, a table. Work waits as for
 * any dependency that is unavailable, but longer between tries, and an alarm of the function rings.
 */
export class DependencyMisconfiguredError extends DependencyUnavailableError {
  readonly action: string;
  readonly resource: string;

  constructor(message: string, { action, resource, cause }: Refusal & { cause?: unknown }) {
    super(`${message} Denied or misconfigured: ${action} on ${resource}.`, { cause });
    this.action = action;
    this.resource = resource;
  }
}

/** The providers' secret holds no usable credential of a provider: until a person adds it, it is a refused one. */
export class CredentialMissingError extends DependencyMisconfiguredError {}

/** Another owner holds the lease, or took it over: whoever sees this must stop without writing anything more. */
export class LeaseLostError extends SluiceError {}

/** The source object is not there. */
export class ObjectMissingError extends SluiceError {}

/** The source object is not the one that was accepted: its ETag differs. */
export class ObjectChangedError extends SluiceError {}

/** The body ended before the length that was announced. Read again from the last position. */
export class ShortReadError extends SluiceError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { ...options, retryable: true });
  }
}

/**
 * What was read again is not what fan-out sent, or is not there although the record succeeded. Nothing may be made of it: the work waits,
 * everything is kept, and an alarm rings. Retryable, because the file can be restored.
 */
export class UnverifiedInputError extends SluiceError {
  constructor(message: string) {
    super(message, { retryable: true });
  }
}

/** True for a failure that is expected to pass: a dependency that throttled, failed or did not answer. */
export const isPassingFailure = (error: unknown): error is SluiceError =>
  error instanceof SluiceError && error.retryable;

/** The error, or the one among its causes, of a class. */
function causeOf<E extends Error>(error: unknown, Wanted: new (...args: never[]) => E): E | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof Wanted) return at;
  return undefined;
}

/** The error, or the one among its causes, that a person must do something about. */
export const misconfigurationIn = (error: unknown): DependencyMisconfiguredError | undefined =>
  causeOf(error, DependencyMisconfiguredError);

export const unverifiedInputIn = (error: unknown): UnverifiedInputError | undefined =>
  causeOf(error, UnverifiedInputError);
