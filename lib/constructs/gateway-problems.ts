import { ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway';

interface Problem {
  readonly id: string;
  readonly type: ResponseType;
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly retryAfterSeconds?: number;
}

/** What the gateway answers by itself, before or instead of a function: codes and titles of lambdas/domain/api/problems.ts. */
const PROBLEMS: readonly Problem[] = [
  {
    id: 'Unauthorized',
    type: ResponseType.UNAUTHORIZED,
    status: 401,
    code: 'unauthorized',
    title: 'A valid API key is required',
  },
  // The authorizer denies keys that are not good, and nothing else: what a good key may do, the functions decide.
  {
    id: 'AccessDenied',
    type: ResponseType.ACCESS_DENIED,
    status: 401,
    code: 'unauthorized',
    title: 'A valid API key is required',
  },
  // The gateway's words for a path or method that does not exist.
  {
    id: 'NoRoute',
    type: ResponseType.MISSING_AUTHENTICATION_TOKEN,
    status: 404,
    code: 'not_found',
    title: 'There is nothing at this path',
  },
  {
    id: 'TooLarge',
    type: ResponseType.REQUEST_TOO_LARGE,
    status: 413,
    code: 'body_too_large',
    title: 'The request body is too large: upload the file instead',
  },
  {
    id: 'Throttled',
    type: ResponseType.THROTTLED,
    status: 429,
    code: 'too_many_requests',
    title: 'Too many requests at once',
    retryAfterSeconds: 1,
  },
  {
    id: 'AuthorizerFailed',
    type: ResponseType.AUTHORIZER_FAILURE,
    status: 503,
    code: 'unavailable',
    title: 'A part of the system does not answer at the moment',
    retryAfterSeconds: 5,
  },
  {
    id: 'AuthorizerMisconfigured',
    type: ResponseType.AUTHORIZER_CONFIGURATION_ERROR,
    status: 503,
    code: 'unavailable',
    title: 'A part of the system does not answer at the moment',
    retryAfterSeconds: 5,
  },
  {
    id: 'FunctionFailed',
    type: ResponseType.INTEGRATION_FAILURE,
    status: 503,
    code: 'unavailable',
    title: 'A part of the system does not answer at the moment',
    retryAfterSeconds: 5,
  },
  {
    id: 'FunctionTimedOut',
    type: ResponseType.INTEGRATION_TIMEOUT,
    status: 504,
    code: 'timed_out',
    title: 'The request took too long',
    retryAfterSeconds: 5,
  },
];

/**
 * Makes the gateway's own errors problem documents (RFC 9457), like those of the functions.
 *
 * A gateway response cannot choose between origins: with exactly one it names that, with several it names none, and a page of
 * another origin sees a failed request instead of the problem.
 */
export function answerWithProblems(api: RestApi, corsOrigins: readonly string[]): void {
  const cors: Record<string, string> =
    corsOrigins.length === 1 ? { 'Access-Control-Allow-Origin': `'${corsOrigins[0]}'` } : {};
  for (const { id, type, status, code, title, retryAfterSeconds } of PROBLEMS) {
    api.addGatewayResponse(id, {
      type,
      statusCode: String(status),
      responseHeaders: {
        'Content-Type': "'application/problem+json'",
        'Cache-Control': "'no-store'",
        ...(retryAfterSeconds === undefined ? {} : { 'Retry-After': `'${retryAfterSeconds}'` }),
        ...cors,
      },
      templates: { 'application/json': problem({ title, status, code }) },
    });
  }
  // Everything else keeps the status that the gateway chose.
  for (const [id, type, title, code] of [
    ['OtherClientError', ResponseType.DEFAULT_4XX, 'The request is not valid', 'invalid_request'],
    ['OtherServerError', ResponseType.DEFAULT_5XX, 'The request could not be processed', 'internal_error'],
  ] as const) {
    api.addGatewayResponse(id, {
      type,
      responseHeaders: { 'Content-Type': "'application/problem+json'", 'Cache-Control': "'no-store'", ...cors },
      templates: { 'application/json': problem({ title, code }) },
    });
  }
}

/** A problem document; the gateway puts its request's id into it. */
const problem = (members: { title: string; code: string; status?: number }): string =>
  JSON.stringify({ type: `urn:sluice:problem:${members.code}`, ...members, requestId: '$context.requestId' });
