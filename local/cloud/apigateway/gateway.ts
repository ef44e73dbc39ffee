import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readAll } from '../aws/front/read-all.ts';
import type { Cloud, FunctionInvoker, InvokeResult } from '../contract.ts';
import { TokenBucket } from './token-bucket.ts';
import { AuthorizerCache } from './authorizer.ts';
import { commonLogTime, render, type GatewayContext } from './context.ts';
import type { ApiDefinition } from './definition.ts';
import { headersOf, proxyEvent, type MultiValues, type ProxyRequest } from './event.ts';
import { answerError, GatewayError } from './gateway-responses.ts';
import { httpAnswerOf, type HttpAnswer } from './proxy-response.ts';
import { Router, type Match } from './router.ts';

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html */
const MAX_BODY_BYTES = 10 * 1024 * 1024;

const PRINCIPAL = 'apigateway.amazonaws.com';

/** What the gateway reports about one request. */
export interface RequestReport {
  readonly atMs: number;
  readonly apiName: string;
  readonly stageName: string;
  readonly method: string;
  /** Undefined where no route matched. */
  readonly resourcePath: string | undefined;
  readonly status: number;
  readonly latencyMs: number;
  /** Time of the function alone; undefined where it was not reached. */
  readonly integrationLatencyMs: number | undefined;
}

export interface GatewayOptions {
  readonly api: ApiDefinition;
  readonly cloud: Pick<Cloud, 'authorize' | 'region' | 'accountId'>;
  readonly invoker: FunctionInvoker;
  readonly onRequest: (report: RequestReport) => void;
  readonly onAccessLog: (logGroup: string, line: string) => void;
}

/** One REST API: routing, throttling, authorizer, proxy integration and the answers that the gateway gives by itself. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #router: Router;
  readonly #authorizers: AuthorizerCache;
  readonly #bucket = new TokenBucket();

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#router = new Router(options.api.routes);
    this.#authorizers = new AuthorizerCache(
      (functionArn, sourceArn, payload) => this.#invoke(functionArn, sourceArn, payload),
      (authorizerId) => this.#arn(`authorizers/${authorizerId}`),
    );
  }

  /** Answers one request. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedAt = performance.now();
    const [rawPath = '/', search = ''] = (request.url ?? '/').split('?', 2);
    const context = this.#contextOf(request, rawPath);
    let answer: HttpAnswer;
    try {
      answer = await this.#answer(request, context, rawPath, new URLSearchParams(search));
    } catch (error) {
      // The client is gone.
      if (response.destroyed) return;
      const known = error instanceof GatewayError ? error : new GatewayError('API_CONFIGURATION_ERROR');
      if (known !== error) this.#options.onAccessLog('gateway', `Unexpected error: ${String(error)}`);
      const { status, headers, body } = answerError(known, this.#options.api.responses, context);
      answer = { status, headers: multi(headers), body: Buffer.from(body) };
    }
    send(response, answer, context);
    this.#report(context, answer, performance.now() - startedAt);
  }

  async #answer(
    request: IncomingMessage,
    context: GatewayContext,
    rawPath: string,
    query: URLSearchParams,
  ): Promise<HttpAnswer> {
    const { api } = this.#options;
    const prefix = `/${api.stageName}`;
    if (rawPath !== prefix && !rawPath.startsWith(`${prefix}/`)) return FORBIDDEN;
    const path = rawPath.slice(prefix.length) || '/';
    const match = this.#match(context.httpMethod, path);
    Object.assign(context, { resourceId: match.route.resourceId, resourcePath: match.route.resourcePath });
    if (api.throttle !== undefined && this.#bucket.take(api.throttle, performance.now()) > 0) {
      throw new GatewayError('THROTTLED');
    }
    const body = await readAll(request, MAX_BODY_BYTES, () => new GatewayError('REQUEST_TOO_LARGE'));
    const proxied: ProxyRequest = { api, match, context, headers: headersOf(request), path, query, body };
    await this.#authorize(proxied);
    return this.#integrate(proxied);
  }

  #match(method: string, path: string): Match {
    try {
      const match = this.#router.match(method, path);
      if (match !== undefined) return match;
    } catch (error) {
      if (!(error instanceof URIError)) throw error;
      throw new GatewayError('BAD_REQUEST');
    }
    throw new GatewayError('MISSING_AUTHENTICATION_TOKEN');
  }

  async #authorize(request: ProxyRequest): Promise<void> {
    const { match, context, path } = request;
    const { authorizer } = match.route;
    if (authorizer === undefined) return;
    context.authorizer = await this.#authorizers.authorize({
      definition: authorizer,
      methodArn: this.#arn(`${context.stage}/${context.httpMethod}${path}`),
      header: (name) => context.requestHeader(name),
      event: () => proxyEvent(request),
    });
  }

  async #integrate(request: ProxyRequest): Promise<HttpAnswer> {
    const { api, match, context } = request;
    const { route } = match;
    const startedAt = performance.now();
    const sourceArn = this.#arn(`${context.stage}/${route.method === 'ANY' ? '*' : route.method}${route.resourcePath}`);
    const invoked = this.#invoke(route.functionArn, sourceArn, JSON.stringify(proxyEvent(request)));
    const result = await withTimeout(invoked, route.timeoutMs);
    context.integrationLatency = Math.round(performance.now() - startedAt);
    if (result === undefined) throw new GatewayError('INTEGRATION_TIMEOUT');
    context.integration = { status: result.statusCode, latency: context.integrationLatency };
    return httpAnswerOf(result, api.binaryMediaTypes, context.requestHeader('accept'));
  }

  async #invoke(functionArn: string, sourceArn: string, payload: string): Promise<InvokeResult> {
    const { cloud, invoker } = this.#options;
    const decision = await cloud.authorize({
      principal: PRINCIPAL,
      action: 'lambda:InvokeFunction',
      resource: functionArn,
      context: { 'aws:SourceArn': sourceArn },
    });
    if (!decision.allowed) throw new GatewayError('API_CONFIGURATION_ERROR');
    return invoker.invoke({
      functionName: functionArn,
      payload,
      invocationType: 'RequestResponse',
      principal: PRINCIPAL,
      logType: 'None',
    });
  }

  /** An ARN of the execution of this API. */
  #arn(resource: string): string {
    const { cloud, api } = this.#options;
    return `arn:aws:execute-api:${cloud.region}:${cloud.accountId}:${api.apiId}/${resource}`;
  }

  #contextOf(request: IncomingMessage, path: string): GatewayContext {
    const { api, cloud } = this.#options;
    const now = new Date();
    const header = (name: string): string | undefined => {
      const value = request.headers[name.toLowerCase()];
      return Array.isArray(value) ? value.at(-1) : value;
    };
    const domainName = header('host') ?? '127.0.0.1';
    return {
      accountId: cloud.accountId,
      apiId: api.apiId,
      deploymentId: api.deploymentId,
      domainName,
      domainPrefix: domainName.split('.')[0] ?? domainName,
      extendedRequestId: randomBytes(12).toString('hex'),
      httpMethod: request.method ?? 'GET',
      identity: { sourceIp: request.socket.remoteAddress ?? '127.0.0.1', userAgent: header('user-agent') ?? null },
      path,
      protocol: `HTTP/${request.httpVersion}`,
      requestId: randomUUID(),
      requestTime: commonLogTime(now),
      requestTimeEpoch: now.getTime(),
      stage: api.stageName,
      requestHeader: header,
    };
  }

  #report(context: GatewayContext, answer: HttpAnswer, latencyMs: number): void {
    const { api, onRequest, onAccessLog } = this.#options;
    Object.assign(context, {
      status: answer.status,
      responseLatency: Math.round(latencyMs),
      responseLength: answer.body.length,
    });
    if (api.accessLog !== undefined) onAccessLog(api.accessLog.logGroup, render(api.accessLog.format, context, '-'));
    onRequest({
      atMs: context.requestTimeEpoch,
      apiName: api.apiName,
      stageName: api.stageName,
      method: context.httpMethod,
      resourcePath: context.resourcePath,
      status: answer.status,
      latencyMs,
      integrationLatencyMs: context.integrationLatency,
    });
  }
}

/** What the service answers where there is no such stage; no gateway response of the API applies. */
const FORBIDDEN: HttpAnswer = {
  status: 403,
  headers: { 'content-type': ['application/json'], 'x-amzn-errortype': ['ForbiddenException'] },
  body: Buffer.from('{"message":"Forbidden"}'),
};

const multi = (headers: Record<string, string>): MultiValues =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));

function send(response: ServerResponse, answer: HttpAnswer, context: GatewayContext): void {
  response.statusCode = answer.status;
  for (const [name, values] of Object.entries(answer.headers)) response.setHeader(name, values);
  response.setHeader('x-amzn-requestid', context.requestId);
  response.setHeader('x-amz-apigw-id', context.extendedRequestId);
  const bodiless = answer.status === 204 || answer.status === 304;
  if (bodiless) response.removeHeader('content-type');
  else response.setHeader('content-length', answer.body.length);
  response.end(bodiless ? undefined : answer.body);
}

/** Undefined when the time is over first; what was started goes on, as it does in the service. */
async function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((done) => (timer = setTimeout(() => done(undefined), ms)));
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
