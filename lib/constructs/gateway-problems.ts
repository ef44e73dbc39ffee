import { ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { PROBLEMS, problemType, WWW_AUTHENTICATE, type ProblemCode } from '../../lambdas/domain/api/problems.ts';

interface GatewayProblem {
  readonly type: ResponseType;
  readonly code: ProblemCode;
  readonly retryAfterSeconds?: number;
}

/** What the gateway answers by itself, before or instead of a function, by the id of its construct. */
const GATEWAY_PROBLEMS: Readonly<Record<string, GatewayProblem>> = {
  Unauthorized: { type: ResponseType.UNAUTHORIZED, code: 'unauthorized' },
  // The authorizer denies keys that are not good, and nothing else: what a good key may do, the functions decide.
  AccessDenied: { type: ResponseType.ACCESS_DENIED, code: 'unauthorized' },
  // The gateway's name for a path that does not exist.
  NoRoute: { type: ResponseType.MISSING_AUTHENTICATION_TOKEN, code: 'not_found' },
  TooLarge: { type: ResponseType.REQUEST_TOO_LARGE, code: 'body_too_large' },
  Throttled: { type: ResponseType.THROTTLED, code: 'too_many_requests', retryAfterSeconds: 1 },
  AuthorizerFailed: { type: ResponseType.AUTHORIZER_FAILURE, code: 'unavailable', retryAfterSeconds: 5 },
  AuthorizerMisconfigured: {
    type: ResponseType.AUTHORIZER_CONFIGURATION_ERROR,
    code: 'unavailable',
    retryAfterSeconds: 5,
  },
  FunctionFailed: { type: ResponseType.INTEGRATION_FAILURE, code: 'unavailable', retryAfterSeconds: 5 },
  FunctionTimedOut: { type: ResponseType.INTEGRATION_TIMEOUT, code: 'timed_out', retryAfterSeconds: 5 },
};

/** Everything else keeps the status that the gateway chose. */
const DEFAULT_PROBLEMS: Readonly<Record<string, GatewayProblem>> = {
  OtherClientError: { type: ResponseType.DEFAULT_4XX, code: 'invalid_request' },
  OtherServerError: { type: ResponseType.DEFAULT_5XX, code: 'internal_error' },
};

/**
 * Makes the gateway's own errors problem documents (RFC 9457), like those of the functions.
 *
 * A gateway response cannot choose between origins: with exactly one it names that, with several it names none, and a page of
 * another origin sees a failed request instead of the problem.
 */
export function answerWithProblems(api: RestApi, corsOrigins: readonly string[]): void {
  const [origin] = corsOrigins.length === 1 ? corsOrigins : [];
  const add = (id: string, { type, code, retryAfterSeconds }: GatewayProblem, hasStatus: boolean): void => {
    const { status, title } = PROBLEMS[code];
    const members = { type: problemType(code), title, ...(hasStatus && { status }), code };
    api.addGatewayResponse(id, {
      type,
      ...(hasStatus && { statusCode: String(status) }),
      responseHeaders: {
        'Content-Type': "'application/problem+json'",
        'Cache-Control': "'no-store'",
        'X-Request-Id': 'context.requestId',
        ...(code === 'unauthorized' && { 'WWW-Authenticate': `'${WWW_AUTHENTICATE}'` }),
        ...(retryAfterSeconds !== undefined && { 'Retry-After': `'${retryAfterSeconds}'` }),
        ...(origin !== undefined && { 'Access-Control-Allow-Origin': `'${origin}'` }),
      },
      templates: { 'application/json': JSON.stringify({ ...members, requestId: '$context.requestId' }) },
    });
  };
  for (const [id, problem] of Object.entries(GATEWAY_PROBLEMS)) add(id, problem, true);
  for (const [id, problem] of Object.entries(DEFAULT_PROBLEMS)) add(id, problem, false);
}
