import { matchesEtag } from '../domain/api/etag.ts';
import { OPERATION_IDS, OPERATIONS, type Operation, type OperationId } from '../domain/api/operations.ts';
import { ProblemError } from '../domain/api/problems.ts';
import type { Answer, ApiRequest, ApiResponse, Caller } from '../domain/api/request.ts';
import { DependencyUnavailableError } from '../domain/errors.ts';
import type { EventFields } from '../domain/telemetry.ts';
import type { Clock } from '../domain/time.ts';
import { invocationBudget, type InvocationContext } from './budget.ts';
import { corsHeaders, preflightHeaders } from './cors.ts';
import { callerOf, headerOf, parseEvent, requestOf, type ProxyEvent } from './http-event.ts';
import type { InvocationTelemetry } from './telemetry.ts';

/** What a proxy integration answers with. */
export interface ProxyResult {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
  isBase64Encoded: false;
}

export type HttpHandler = (event: unknown, context: InvocationContext) => Promise<ProxyResult>;

export interface HttpOptions {
  /** Answers of the operations that this function handles. An open operation's caller has no tenant. */
  answers: Partial<Record<OperationId, Answer>>;
  /** Origins that browsers may call from; `*` for any. */
  corsOrigins: readonly string[];
  telemetry: InvocationTelemetry;
  clock: Clock;
  /** From when on an answer is counted as a slow one. Default: 5,000. */
  slowAnswerMs?: number;
}

const UNAVAILABLE_RETRY_SECONDS = 5;
/** What callers need not put up with; a cold start with the largest direct body takes less. */
const SLOW_ANSWER_MS = 5_000;
const NOBODY: Caller = { tenantId: '', keyId: '', scopes: [] };

/**
 * A function behind an API Gateway proxy integration: finds the operation, checks the caller's scope, and turns errors into
 * problem documents. It throws for no request that a client can send.
 */
export function httpHandler(options: HttpOptions): HttpHandler {
  const { telemetry, clock, slowAnswerMs = SLOW_ANSWER_MS } = options;
  return async (rawEvent, context) => {
    telemetry.begin(context);
    const startMs = clock.now();
    try {
      const event = parseEvent(rawEvent);
      const cors = corsHeaders(options.corsOrigins, headerOf(event, 'origin'));
      const response = await answer(options, event, context).catch((error: unknown) =>
        toProblem(options, event, error),
      );
      const durationMs = clock.now() - startMs - (response.waitedMs ?? 0);
      if (durationMs >= slowAnswerMs) {
        telemetry.emit({
          name: 'slow_answer',
          level: 'warn',
          durationMs,
          detail: routeOf(event),
          ...aboutRequest(event),
        });
      }
      return toResult(event, response, cors);
    } finally {
      telemetry.flush();
    }
  };
}

async function answer(options: HttpOptions, event: ProxyEvent, context: InvocationContext): Promise<ApiResponse> {
  const candidates = OPERATION_IDS.filter((id) => OPERATIONS[id].path === event.resource);
  if (candidates.length === 0) throw new ProblemError('not_found', 'There is nothing at this path.');
  const allow = candidates.map((id) => OPERATIONS[id].method).flatMap((method) => METHODS_OF[method]);
  if (event.httpMethod === 'OPTIONS') return preflight(allow);
  const id = candidates.find((candidate) => METHODS_OF[OPERATIONS[candidate].method].includes(event.httpMethod));
  const respond = id && options.answers[id];
  if (id === undefined || respond === undefined) {
    throw new ProblemError('method_not_allowed', `This path has the methods ${allow.join(', ')}.`, { allow });
  }
  const { scope }: Operation = OPERATIONS[id];
  const caller = scope === undefined ? NOBODY : mustHaveScope(event, scope);
  const request = requestOf(event, invocationBudget(context));
  return unlessUnchanged(request, await respond(request, caller));
}

/** A path with GET has HEAD as well. */
const METHODS_OF: Record<Operation['method'], readonly string[]> = {
  GET: ['GET', 'HEAD'],
  POST: ['POST'],
  PUT: ['PUT'],
  DELETE: ['DELETE'],
};

const preflight = (methods: readonly string[]): ApiResponse => ({
  status: 204,
  headers: { ...preflightHeaders(methods), Allow: [...methods, 'OPTIONS'].join(', ') },
  body: undefined,
});

function unlessUnchanged({ headers }: ApiRequest, response: ApiResponse): ApiResponse {
  const etag = response.headers?.['ETag'];
  if (etag === undefined || !matchesEtag(headers['if-none-match'], etag)) return response;
  return { status: 304, headers: { ETag: etag }, body: undefined };
}

function mustHaveScope(event: ProxyEvent, scope: string): Caller {
  const caller = callerOf(event);
  if (caller === undefined) throw new ProblemError('unauthorized', 'Send an API key: Authorization: Bearer KEY.');
  if (caller.scopes.includes(scope)) return caller;
  throw new ProblemError('missing_scope', `The API key ${caller.keyId} lacks the scope ${scope}. Use one that has it.`);
}

function toResult(
  event: ProxyEvent,
  { status, headers, body }: ApiResponse,
  cors: Record<string, string>,
): ProxyResult {
  return {
    statusCode: status,
    headers: {
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      'Cache-Control': 'no-store',
      'X-Request-Id': event.requestContext.requestId,
      ...headers,
      ...cors,
    },
    body: body === undefined || event.httpMethod === 'HEAD' ? '' : JSON.stringify(body),
    isBase64Encoded: false,
  };
}

/** The problem that an error is for the caller. Errors that are not the caller's are logged. */
function toProblem({ telemetry }: HttpOptions, event: ProxyEvent, error: unknown): ApiResponse {
  const problem = asProblem(error);
  const isOurs = problem.status >= 500 && problem.code !== 'system_busy';
  if (isOurs) {
    telemetry.emit({
      name: 'unexpected_error',
      level: problem.code === 'internal_error' ? 'error' : 'warn',
      outcome: problem.code,
      detail: routeOf(event),
      ...aboutRequest(event),
      error,
    });
  }
  return {
    status: problem.status,
    headers: { 'Content-Type': 'application/problem+json', ...problem.headers() },
    body: problem.toProblem(isOurs ? event.requestContext.requestId : undefined),
  };
}

const routeOf = ({ httpMethod, resource }: ProxyEvent): string => `${httpMethod} ${resource}`;

/** Tenant, submission and record of a request, where they have the form of our ids. */
function aboutRequest(event: ProxyEvent): EventFields {
  const tenantId = callerOf(event)?.tenantId;
  const { id = '', recordNo = '' } = event.pathParameters ?? {};
  return {
    ...(tenantId !== undefined && { tenantId }),
    ...(/^sub_\w{26}$/.test(id) && { submissionId: id }),
    ...(/^\d{1,9}$/.test(recordNo) && { recordNo: Number(recordNo) }),
  };
}

function asProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  if (error instanceof DependencyUnavailableError) {
    return new ProblemError('unavailable', 'Repeat the request in a few seconds.', {
      retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS,
      cause: error,
    });
  }
  return new ProblemError('internal_error', 'The error was logged. Name the requestId when you ask about it.', {
    cause: error,
  });
}
