import { SluiceError } from '../errors.ts';

interface ProblemKind {
  status: number;
  /** The same for every occurrence. */
  title: string;
  /** Where it does not come from a function but from the gateway before it. */
  gateway?: true;
}

/** Every error of the API by its stable code: what clients decide by. Codes are never renamed; new ones may be added. */
export const PROBLEMS = {
  invalid_request: { status: 400, title: 'The request is not valid' },
  invalid_json: { status: 400, title: 'The body is not the JSON object that was expected' },
  invalid_cursor: { status: 400, title: 'The cursor is not one that this list gave' },
  unauthorized: { status: 401, title: 'A valid API key is required' },
  missing_scope: { status: 403, title: 'The API key lacks the scope for this' },
  not_found: { status: 404, title: 'There is nothing at this path' },
  method_not_allowed: { status: 405, title: 'The path does not answer to this method' },
  not_ready: { status: 409, title: 'The submission is still being processed' },
  no_results: { status: 409, title: 'The submission has no results' },
  already_closed: { status: 409, title: 'The submission has already ended' },
  request_in_progress: { status: 409, title: 'A request with this idempotency key is still being processed' },
  body_too_large: { status: 413, title: 'The request body is too large: upload the file instead' },
  file_too_large: { status: 413, title: 'The file is too large' },
  unsupported_media_type: { status: 415, title: 'The content type is not one that this accepts' },
  upload_missing: { status: 422, title: 'Nothing was uploaded under this upload id' },
  too_large_to_preview: { status: 422, title: 'The file is too large to be previewed' },
  profile_missing: { status: 422, title: 'There is no profile of this name' },
  too_many_profiles: { status: 422, title: 'The tenant has as many profiles as it may have' },
  too_many_webhooks: { status: 422, title: 'The tenant has as many webhooks as it may have' },
  webhook_disabled: { status: 409, title: 'The webhook is disabled' },
  upload_expired: { status: 422, title: 'The upload is too old to be submitted' },
  too_many_records: { status: 422, title: 'The file has more records than a file may have' },
  idempotency_key_reused: { status: 422, title: 'The idempotency key was used for another request' },
  too_many_open_records: { status: 429, title: 'Too many records of this tenant are still open' },
  too_many_open_submissions: { status: 429, title: 'Too many submissions of this tenant are still open' },
  too_many_requests: { status: 429, title: 'Too many requests at once', gateway: true },
  internal_error: { status: 500, title: 'The request could not be processed' },
  system_busy: { status: 503, title: 'The system has more work than it can take on' },
  unavailable: { status: 503, title: 'A part of the system does not answer at the moment' },
  timed_out: { status: 504, title: 'The request took too long', gateway: true },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;

const isProblemCode = (code: string): code is ProblemCode => Object.hasOwn(PROBLEMS, code);
export const PROBLEM_CODES: readonly ProblemCode[] = Object.keys(PROBLEMS).filter(isProblemCode);

/** The `type` of a problem document. */
export const problemType = (code: ProblemCode): string => `urn:sluice:problem:${code}`;

/** What a 401 asks for (RFC 6750). */
export const WWW_AUTHENTICATE = 'Bearer realm="sluice"';

/** What is wrong with one part of a request. */
export interface RequestIssue {
  /** JSON pointer into the body. */
  pointer?: string;
  /** Name of a query or path parameter. */
  parameter?: string;
  /** Name of a header. */
  header?: string;
  detail: string;
}

/** Body of every error answer, by RFC 9457. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  code: ProblemCode;
  detail: string;
  errors?: RequestIssue[];
  retryAfterSeconds?: number;
  /** Of the answer; the operator finds the cause by it. */
  requestId?: string;
}

interface ProblemOptions {
  errors?: readonly RequestIssue[];
  /** Also sent as `Retry-After`. */
  retryAfterSeconds?: number;
  /** Methods that the path answers to, for `Allow`. */
  allow?: readonly string[];
  cause?: unknown;
}

/** A request is answered with a problem. The detail is a sentence for the customer, with the remedy, without a tenant's data. */
export class ProblemError extends SluiceError {
  readonly code: ProblemCode;
  readonly errors: readonly RequestIssue[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly allow: readonly string[] | undefined;

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(detail, { cause: options.cause });
    this.code = code;
    this.errors = options.errors;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.allow = options.allow;
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }

  toProblem(requestId?: string): Problem {
    const { status, title } = PROBLEMS[this.code];
    return {
      type: problemType(this.code),
      title,
      status,
      code: this.code,
      detail: this.message,
      ...(this.errors && { errors: [...this.errors] }),
      ...(this.retryAfterSeconds !== undefined && { retryAfterSeconds: this.retryAfterSeconds }),
      ...(requestId !== undefined && { requestId }),
    };
  }

  /** Headers that belong to the answer. */
  headers(): Record<string, string> {
    return {
      ...(this.retryAfterSeconds !== undefined && { 'Retry-After': String(this.retryAfterSeconds) }),
      ...(this.allow && { Allow: this.allow.join(', ') }),
      ...(this.code === 'unauthorized' && { 'WWW-Authenticate': WWW_AUTHENTICATE }),
    };
  }
}

/** The one answer to everything that is not there or belongs to another tenant: it is the same for both. */
export const notFound = (detail = 'There is no such submission or record, or it has expired.'): ProblemError =>
  new ProblemError('not_found', detail);

/** A request with one wrong part. */
export const invalidPart = (issue: RequestIssue): ProblemError =>
  new ProblemError('invalid_request', issue.detail, { errors: [issue] });
