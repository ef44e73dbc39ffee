import { OPERATION_IDS, OPERATIONS, type Operation, type OperationId } from '../domain/api/operations.ts';
import { ProblemError } from '../domain/api/problems.ts';
import type { Answer, ApiResponse, Caller } from '../domain/api/request.ts';
import { DependencyUnavailableError } from '../domain/errors.ts';
import type { EventFields } from '../domain/telemetry.ts';
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
}

const UNAVAILABLE_RETRY_SECONDS = 5;
const NOBODY: Caller = { tenantId: '', keyId: '', scopes: [] };

/**
 * A function behind an API Gateway proxy integration: finds the operation, checks the caller's scope, and turns whatever is
 * thrown into a problem document. It never throws itself for what a client sends.
 */
export function httpHandler(options: HttpOptions): HttpHandler {
  const { telemetry } = options;
  return async (rawEvent, context) => {
    telemetry.begin(context);
    try {
      const event = parseEvent(rawEvent);
      const cors = corsHeaders(options.corsOrigins, headerOf(event, 'origin'));
      return await answer(options, event, context)
        .then((response) => toResult(response, cors))
        .catch((error: unknown) => toProblemResult(options, event, error, cors));
    } finally {
      telemetry.flush();
    }
  };
}

async function answer(options: HttpOptions, event: ProxyEvent, context: InvocationContext): Promise<ApiResponse> {
  const candidates = operationsAt(event.resource);
  if (candidates.length === 0) throw new ProblemError('not_found', 'There is nothing at this path.');
  const allow = candidates.map(([, { method }]) => method);
  if (event.httpMethod === 'OPTIONS') return preflight(allow);
  const [id, operation] = candidates.find(([, { method }]) => method === event.httpMethod) ?? [];
  const respond = id && options.answers[id];
  if (operation === undefined || respond === undefined) {
    throw new ProblemError('method_not_allowed', `The path answers to ${allow.join(' and ')}.`, { allow });
  }
  const caller = operation.scope === undefined ? NOBODY : mustHaveScope(event, operation.scope);
  return respond(requestOf(event, invocationBudget(context)), caller);
}

function operationsAt(resource: string): [OperationId, Operation][] {
  return OPERATION_IDS.filter((id) => OPERATIONS[id].path === resource).map((id) => [id, OPERATIONS[id]]);
}

const preflight = (methods: readonly string[]): ApiResponse => ({
  status: 204,
  headers: { ...preflightHeaders(methods), Allow: [...methods, 'OPTIONS'].join(', ') },
  body: undefined,
});

function mustHaveScope(event: ProxyEvent, scope: string): Caller {
  const caller = callerOf(event);
  if (caller === undefined) throw new ProblemError('unauthorized', 'Send an API key: Authorization: Bearer KEY.');
  if (caller.scopes.includes(scope)) return caller;
  throw new ProblemError('missing_scope', `The API key ${caller.keyId} lacks the scope ${scope}. Use one that has it.`);
}

const toResult = ({ status, headers, body }: ApiResponse, cors: Record<string, string>): ProxyResult => ({
  statusCode: status,
  headers: {
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    'Cache-Control': 'no-store',
    ...headers,
    ...cors,
  },
  body: body === undefined ? '' : JSON.stringify(body),
  isBase64Encoded: false,
});

function toProblemResult(
  { telemetry }: HttpOptions,
  event: ProxyEvent,
  error: unknown,
  cors: Record<string, string>,
): ProxyResult {
  const problem = asProblem(error);
  const isOurs = problem.status >= 500 && problem.code !== 'system_busy';
  if (isOurs) {
    const { resource, httpMethod } = event;
    const level = problem.code === 'internal_error' ? 'error' : 'warn';
    telemetry.emit({
      name: 'unexpected_error',
      level,
      outcome: problem.code,
      detail: `${httpMethod} ${resource}`,
      ...aboutRequest(event),
      error,
    });
  }
  const result = toResult(
    {
      status: problem.status,
      headers: { 'Content-Type': 'application/problem+json', ...problem.headers() },
      body: problem.toProblem(isOurs ? event.requestContext.requestId : undefined),
    },
    cors,
  );
  return result;
}

/** Whose request it is and what it is about; nothing of a path that is not of the form of our ids. */
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
  return new ProblemError('internal_error', 'We have been told. Name the requestId when you ask about it.', {
    cause: error,
  });
}
