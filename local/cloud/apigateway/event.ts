import type { IncomingMessage } from 'node:http';
import type { GatewayContext } from './context.ts';
import type { ApiDefinition } from './definition.ts';
import type { Match } from './router.ts';

/** The headers of a request as they came, each name with all its values. */
export type MultiValues = Record<string, string[]>;

/** Values by name, whatever names a client thinks of: also those that every object has already. */
function grouped(pairs: Iterable<readonly [string, string]>): MultiValues {
  const groups = new Map<string, string[]>();
  for (const [name, value] of pairs) groups.set(name, [...(groups.get(name) ?? []), value]);
  return Object.fromEntries(groups);
}

/** Names keep the client's case. */
export function headersOf({ rawHeaders }: IncomingMessage): MultiValues {
  const pairs: [string, string][] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name, value] = [rawHeaders[index], rawHeaders[index + 1]];
    if (name !== undefined && value !== undefined) pairs.push([name, value]);
  }
  return grouped(pairs);
}

export interface ProxyRequest {
  readonly api: ApiDefinition;
  readonly match: Match;
  readonly context: GatewayContext;
  readonly headers: MultiValues;
  /** Without the stage. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Buffer;
}

/** The event of a Lambda proxy integration, version 1.0 (https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html). */
export function proxyEvent(request: ProxyRequest): object {
  const { api, match, context, headers, path, query, body } = request;
  const forwarded = { ...headers, ...forwardedHeaders(context) };
  const queryValues = grouped(query);
  const binary = body.length > 0 && isBinary(api.binaryMediaTypes, context.requestHeader('content-type'));
  return {
    resource: match.route.resourcePath,
    path,
    httpMethod: context.httpMethod,
    headers: lastValues(forwarded),
    multiValueHeaders: forwarded,
    queryStringParameters: orNull(lastValues(queryValues)),
    multiValueQueryStringParameters: orNull(queryValues),
    pathParameters: match.pathParameters,
    stageVariables: orNull(api.stageVariables),
    requestContext: requestContextOf(context),
    body: body.length === 0 ? null : body.toString(binary ? 'base64' : 'utf8'),
    isBase64Encoded: binary,
  };
}

const forwardedHeaders = (context: GatewayContext): MultiValues => ({
  'X-Amzn-Trace-Id': [
    `Root=1-${Math.floor(context.requestTimeEpoch / 1000).toString(16)}-${context.extendedRequestId}`,
  ],
  'X-Forwarded-For': [context.identity.sourceIp],
  // What the client really used, so that links made from these work.
  'X-Forwarded-Port': [context.domainName.split(':')[1] ?? '80'],
  'X-Forwarded-Proto': ['http'],
});

function requestContextOf(context: GatewayContext): object {
  const { accountId, apiId, authorizer, deploymentId, domainName, domainPrefix, extendedRequestId, httpMethod } =
    context;
  const { identity, path, protocol, requestId, requestTime, requestTimeEpoch, resourceId, resourcePath, stage } =
    context;
  return {
    accountId,
    apiId,
    ...(authorizer === undefined ? {} : { authorizer }),
    deploymentId,
    domainName,
    domainPrefix,
    extendedRequestId,
    httpMethod,
    identity,
    path,
    protocol,
    requestId,
    requestTime,
    requestTimeEpoch,
    resourceId,
    resourcePath,
    stage,
  };
}

/** Whether a content type is among the API's binary media types, which may hold `*` wildcards. */
export function isBinary(binaryMediaTypes: readonly string[], contentType: string | undefined): boolean {
  const type = (contentType ?? 'application/json').split(';')[0]?.trim().toLowerCase() ?? '';
  return binaryMediaTypes.some((pattern) => {
    const [major, minor] = pattern.toLowerCase().split('/');
    const [ownMajor, ownMinor] = type.split('/');
    return (major === '*' || major === ownMajor) && (minor === '*' || minor === ownMinor);
  });
}

const lastValues = (values: MultiValues): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, all]) => [name, all.at(-1) ?? '']));

const orNull = <T extends object>(values: T): T | null => (Object.keys(values).length === 0 ? null : values);
