import { randomUUID } from 'node:crypto';
import { LocalCloudError } from '../../errors.ts';

/** An answer to a caller that refuses the call, in the service's own words. */
export class AwsError extends LocalCloudError {
  readonly status: number;
  /** The service's error code, for example `QueueDoesNotExist`. */
  readonly code: string;
  /** Further members of the error's body, for example the `Item` of a failed condition. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(status: number, code: string, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** An HTTP answer whose body is in memory. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

interface CommonError {
  readonly status: number;
  readonly code: string;
}

/** How a service says things that every service says. */
export interface Dialect {
  readonly protocol: 'json-1.0' | 'json-1.1' | 'sqs' | 'rest-json' | 'query' | 's3';
  readonly accessDenied: CommonError;
  readonly throttled: CommonError;
  readonly unavailable: CommonError;
}

/** By the service's name in the credential scope. Source: each service's API reference, "Common errors". */
export const dialects: Readonly<Record<string, Dialect>> = {
  sqs: {
    protocol: 'sqs',
    accessDenied: { status: 403, code: 'AccessDeniedException' },
    throttled: { status: 400, code: 'RequestThrottled' },
    unavailable: { status: 503, code: 'ServiceUnavailable' },
  },
  dynamodb: {
    protocol: 'json-1.0',
    accessDenied: { status: 400, code: 'AccessDeniedException' },
    throttled: { status: 400, code: 'ProvisionedThroughputExceededException' },
    unavailable: { status: 503, code: 'ServiceUnavailable' },
  },
  secretsmanager: {
    protocol: 'json-1.1',
    accessDenied: { status: 400, code: 'AccessDeniedException' },
    throttled: { status: 400, code: 'ThrottlingException' },
    unavailable: { status: 503, code: 'ServiceUnavailable' },
  },
  lambda: {
    protocol: 'rest-json',
    accessDenied: { status: 403, code: 'AccessDeniedException' },
    throttled: { status: 429, code: 'TooManyRequestsException' },
    unavailable: { status: 503, code: 'ServiceUnavailable' },
  },
  sns: {
    protocol: 'query',
    accessDenied: { status: 403, code: 'AuthorizationError' },
    throttled: { status: 400, code: 'Throttling' },
    unavailable: { status: 503, code: 'ServiceUnavailable' },
  },
  sts: {
    protocol: 'query',
    accessDenied: { status: 403, code: 'AccessDenied' },
    throttled: { status: 400, code: 'Throttling' },
    unavailable: { status: 503, code: 'ServiceUnavailable' },
  },
  s3: {
    protocol: 's3',
    accessDenied: { status: 403, code: 'AccessDenied' },
    throttled: { status: 503, code: 'SlowDown' },
    unavailable: { status: 503, code: 'ServiceUnavailable' },
  },
};

/** Codes that SQS called differently before it spoke JSON; clients still get both. */
const QUERY_CODES: Readonly<Record<string, string>> = {
  AccessDeniedException: 'AccessDenied',
  QueueDoesNotExist: 'AWS.SimpleQueueService.NonExistentQueue',
};

export const DEFAULT_DIALECT: Dialect = {
  protocol: 'json-1.0',
  accessDenied: { status: 403, code: 'AccessDeniedException' },
  throttled: { status: 400, code: 'ThrottlingException' },
  unavailable: { status: 503, code: 'ServiceUnavailable' },
};

/** Puts an error into the form in which the service's clients expect it. */
export function errorReply(error: AwsError, { protocol }: Dialect): Reply {
  const { status, code, message, details } = error;
  const requestId = randomUUID();
  switch (protocol) {
    case 's3': {
      const rest = Object.entries({ ...details, RequestId: requestId }).map(([name, value]) => element(name, value));
      const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${element('Code', code)}${element('Message', message)}${rest.join('')}</Error>`;
      return { status, headers: { 'content-type': 'application/xml', 'x-amz-request-id': requestId }, body };
    }
    case 'query': {
      const type = status < 500 ? 'Sender' : 'Receiver';
      const body = `<ErrorResponse><Error>${element('Type', type)}${element('Code', code)}${element('Message', message)}</Error>${element('RequestId', requestId)}</ErrorResponse>`;
      return { status, headers: { 'content-type': 'text/xml', 'x-amzn-requestid': requestId }, body };
    }
    case 'rest-json': {
      const headers = jsonHeaders('application/json', requestId, { 'x-amzn-errortype': code });
      return { status, headers, body: JSON.stringify({ Type: status < 500 ? 'User' : 'Service', Message: message }) };
    }
    case 'sqs': {
      const fault = status < 500 ? 'Sender' : 'Receiver';
      const queryCode = QUERY_CODES[code] ?? code;
      const headers = jsonHeaders('application/x-amz-json-1.0', requestId, {
        'x-amzn-query-error': `${queryCode};${fault}`,
      });
      return { status, headers, body: JSON.stringify({ __type: `com.amazonaws.sqs#${code}`, message }) };
    }
    default: {
      const headers = jsonHeaders(`application/x-amz-${protocol}`, requestId);
      const body = JSON.stringify({ __type: `com.amazon.coral.service#${code}`, message, ...details });
      return { status, headers, body };
    }
  }
}

/** A JSON answer of a service that speaks JSON. */
export function jsonReply(body: unknown, contentType: string, status = 200): Reply {
  return { status, headers: jsonHeaders(contentType, randomUUID()), body: JSON.stringify(body) };
}

export function element(name: string, value: unknown): string {
  return `<${name}>${escapeXml(String(value))}</${name}>`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function jsonHeaders(
  contentType: string,
  requestId: string,
  more: Record<string, string> = {},
): Record<string, string> {
  return { 'content-type': contentType, 'x-amzn-requestid': requestId, ...more };
}
