import { request as httpRequest } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { startApiGateway, type ApiGateway, type RequestReport } from '../../apigateway/start.ts';
import type { AuthorizationRequest, Cloud, DeployedResource, InvokeResult, JsonObject } from '../../contract.ts';
import { functionArn, resource } from '../support/functions.ts';

const REST_API_ID = 'api1';
const part = (type: string, logicalId: string, properties: JsonObject): DeployedResource =>
  resource(`AWS::ApiGateway::${type}`, logicalId, { properties: { RestApiId: REST_API_ID, ...properties } });
const uri = (name: string): string =>
  `arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/${functionArn(name)}/invocations`;

interface Shape {
  binary?: string[];
  throttle?: { rate: number; burst: number };
  method?: JsonObject;
  authorizer?: JsonObject;
  others?: DeployedResource[];
  timeoutMs?: number;
  mayLog?: boolean;
}

function resourcesOf(shape: Shape): DeployedResource[] {
  const settings = { HttpMethod: '*', ResourcePath: '/*' };
  return [
    resource('AWS::ApiGateway::RestApi', REST_API_ID, {
      attributes: { RootResourceId: 'root' },
      properties: { BinaryMediaTypes: shape.binary ?? [] },
    }),
    resource('AWS::ApiGateway::Account', 'Account', { properties: { CloudWatchRoleArn: 'arn:logs-role' } }),
    part('Stage', 'Stage', {
      StageName: 'dev',
      AccessLogSetting: {
        DestinationArn: 'arn:aws:logs:us-east-1:1:log-group:access',
        Format: '{"route":"$context.resourcePath","status":"$context.status","plan":"$context.authorizer.plan"}',
      },
      MethodSettings: [
        shape.throttle === undefined
          ? settings
          : {
              ...settings,
              ThrottlingRateLimit: shape.throttle.rate,
              ThrottlingBurstLimit: shape.throttle.burst,
            },
      ],
    }),
    part('Resource', 'Things', { ParentId: 'root', PathPart: 'things' }),
    part('Resource', 'Thing', { ParentId: 'Things', PathPart: '{id}' }),
    part('Authorizer', 'Keys', {
      Type: 'TOKEN',
      AuthorizerUri: uri('authorizer'),
      IdentitySource: 'method.request.header.Authorization',
      IdentityValidationExpression: 'Bearer [a-z]+',
      AuthorizerResultTtlInSeconds: 300,
      ...shape.authorizer,
    }),
    part('Method', 'AnyThing', {
      HttpMethod: 'ANY',
      ResourceId: 'Thing',
      AuthorizationType: 'NONE',
      Integration: {
        Type: 'AWS_PROXY',
        Uri: uri('things'),
        ...(shape.timeoutMs === undefined ? {} : { TimeoutInMillis: shape.timeoutMs }),
      },
      ...shape.method,
    }),
    ...(shape.others ?? []),
  ];
}

/** What functions answer, by name; the events they got. */
class Functions {
  readonly events: Record<string, unknown>[] = [];
  readonly asked: AuthorizationRequest[] = [];
  readonly answers = new Map<string, (event: Record<string, unknown>) => InvokeResult | Promise<InvokeResult>>();
  allowed = true;

  answer(name: string, value: unknown): void {
    this.answers.set(functionArn(name), () => ({ statusCode: 200, payload: JSON.stringify(value) }));
  }
}

const ALLOW = {
  principalId: 'someone',
  policyDocument: {
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Action: 'execute-api:Invoke', Resource: '*' }],
  },
  context: { plan: 'gold', admin: true, level: 3 },
};
const WITH_AUTHORIZER = { AuthorizationType: 'CUSTOM', AuthorizerId: 'Keys' };

let gateway: ApiGateway | undefined;
const logs: string[] = [];
const reports: RequestReport[] = [];
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

async function start(shape: Shape = {}): Promise<{ functions: Functions; apiUrl: string }> {
  const functions = new Functions();
  functions.answer('things', { statusCode: 200, body: 'ok' });
  functions.answer('authorizer', ALLOW);
  const resources = resourcesOf(shape);
  logs.length = 0;
  reports.length = 0;
  const cloud = {
    region: 'us-east-1',
    accountId: '123456789012',
    byType: (type: string) => resources.filter((candidate) => candidate.type === type),
    find: () => undefined,
    authorize: async (call: AuthorizationRequest) => {
      if (call.principal === 'arn:logs-role') return { allowed: shape.mayLog ?? true, message: '' };
      functions.asked.push(call);
      return { allowed: functions.allowed, message: '' };
    },
  };
  const started = await startApiGateway({
    cloud: cloud as unknown as Cloud,
    invoker: {
      invoke: async ({ functionName, payload }) => {
        const event = JSON.parse(payload) as Record<string, unknown>;
        functions.events.push(event);
        return functions.answers.get(functionName)?.(event) ?? { statusCode: 500, payload: '' };
      },
    },
    onAccessLog: (_, line) => logs.push(line),
    onRequest: (report) => reports.push(report),
  });
  if (started === undefined) throw new Error('The resources declare no REST API.');
  gateway = started;
  return { functions, apiUrl: gateway.apiUrl };
}

const outcome = async (response: Response): Promise<[number, string]> => [response.status, await response.text()];

describe('a request', () => {
  test('reaches the function as a proxy event, and its answer comes back', async () => {
    const { functions, apiUrl } = await start();
    functions.answer('things', {
      statusCode: 201,
      headers: { Location: '/new/x' },
      multiValueHeaders: { 'set-cookie': ['a=1', 'b=2'] },
      body: '{"ok":true}',
    });
    const response = await fetch(`${apiUrl}/things/a%20b?q=1&q=2&r=%C3%BC`, {
      method: 'POST',
      headers: { 'X-Custom': 'yes', 'content-type': 'application/json' },
      body: '{"ü":1}',
    });
    expect([response.headers.get('location'), response.headers.getSetCookie()]).toEqual(['/new/x', ['a=1', 'b=2']]);
    expect(response.headers.get('x-amzn-requestid')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await outcome(response)).toEqual([201, '{"ok":true}']);
    expect(functions.events).toEqual([
      expect.objectContaining({
        resource: '/things/{id}',
        path: '/things/a%20b',
        httpMethod: 'POST',
        headers: expect.objectContaining({ 'X-Custom': 'yes', 'X-Forwarded-For': '127.0.0.1' }),
        multiValueHeaders: expect.objectContaining({ 'X-Custom': ['yes'] }),
        queryStringParameters: { q: '2', r: 'ü' },
        multiValueQueryStringParameters: { q: ['1', '2'], r: ['ü'] },
        pathParameters: { id: 'a b' },
        stageVariables: null,
        body: '{"ü":1}',
        isBase64Encoded: false,
        requestContext: expect.objectContaining({
          accountId: '123456789012',
          apiId: REST_API_ID,
          stage: 'dev',
          path: '/dev/things/a%20b',
          resourcePath: '/things/{id}',
          identity: expect.objectContaining({ sourceIp: '127.0.0.1' }),
        }),
      }),
    ]);
    expect(functions.asked[0]).toEqual({
      principal: 'apigateway.amazonaws.com',
      action: 'lambda:InvokeFunction',
      resource: functionArn('things'),
      context: { 'aws:SourceArn': `arn:aws:execute-api:us-east-1:123456789012:${REST_API_ID}/dev/*/things/{id}` },
    });
  });

  test('without a body has none, and a binary one is base64', async () => {
    const { functions, apiUrl } = await start({ binary: ['*/*'] });
    await fetch(`${apiUrl}/things/1`);
    await fetch(`${apiUrl}/things/1`, { method: 'PUT', body: Buffer.from([0, 255, 10]) });
    expect(functions.events.map(({ body, isBase64Encoded }) => [body, isBase64Encoded])).toEqual([
      [null, false],
      ['AP8K', true],
    ]);
  });

  test('may have parameters and headers of any name', async () => {
    const { functions, apiUrl } = await start();
    await fetch(`${apiUrl}/things/1?constructor=1&__proto__=2&toString=3`, { headers: { constructor: 'x' } });
    const [event] = functions.events;
    expect(JSON.stringify(event)).toContain(
      '"queryStringParameters":{"constructor":"1","__proto__":"2","toString":"3"}',
    );
    expect(event).toMatchObject({ multiValueHeaders: { constructor: ['x'] } });
  });

  test.each([
    ['another stage', '/prod/things/1', 403, 'Forbidden'],
    ['no resource', '/dev/other', 403, 'Missing Authentication Token'],
    ['no method', '/dev/things', 403, 'Missing Authentication Token'],
    ['bad percent-encoding', '/dev/things/%zz', 400, 'Bad Request'],
  ])('to %s is answered by the gateway', async (_, path, status, message) => {
    const { functions, apiUrl } = await start();
    const response = await fetch(new URL(path, apiUrl));
    expect(await outcome(response)).toEqual([status, JSON.stringify({ message })]);
    expect(functions.events).toEqual([]);
  });

  test.each(['declared', 'streamed'])('with a body above 10 MB is refused, %s', async (kind) => {
    const { functions, apiUrl } = await start();
    const size = 10 * 1024 * 1024 + 1;
    const status = await new Promise<number | undefined>((done, failed) => {
      const headers = kind === 'declared' ? { 'content-length': size } : { 'transfer-encoding': 'chunked' };
      const request = httpRequest(`${apiUrl}/things/1`, { method: 'POST', headers }, (response) => {
        response.resume();
        done(response.statusCode);
      });
      request.on('error', failed);
      request.end(Buffer.alloc(size));
    });
    expect([status, functions.events]).toEqual([413, []]);
  });

  test('above the rate of the stage is throttled', async () => {
    const { apiUrl } = await start({ throttle: { rate: 0.001, burst: 2 } });
    const statuses = [];
    for (let count = 0; count < 3; count++) statuses.push((await fetch(`${apiUrl}/things/1`)).status);
    expect(statuses).toEqual([200, 200, 429]);
  });
});

describe('a function that does not answer well', () => {
  test('for too long is a timeout', async () => {
    const { functions, apiUrl } = await start({ timeoutMs: 50 });
    functions.answers.set(functionArn('things'), () => new Promise(() => undefined));
    expect(await outcome(await fetch(`${apiUrl}/things/1`))).toEqual([504, '{"message":"Endpoint request timed out"}']);
  });

  test.each([
    ['failed', { statusCode: 200, payload: '{}', functionError: 'Unhandled' as const }, 502],
    ['answers no proxy response', { statusCode: 200, payload: '"hello"' }, 502],
    ['is throttled', { statusCode: 429, payload: '' }, 500],
    ['would get too much', { statusCode: 413, payload: '' }, 413],
  ])('because it %s', async (_, result, status) => {
    const { functions, apiUrl } = await start();
    functions.answers.set(functionArn('things'), () => result);
    expect((await fetch(`${apiUrl}/things/1`)).status).toBe(status);
  });

  test('because the gateway may not invoke it', async () => {
    const { functions, apiUrl } = await start();
    functions.allowed = false;
    expect((await fetch(`${apiUrl}/things/1`)).status).toBe(500);
    expect(functions.events).toEqual([]);
  });
});

describe('the authorizer', () => {
  const call = (apiUrl: string, authorization?: string): Promise<Response> =>
    fetch(`${apiUrl}/things/1`, { headers: authorization === undefined ? {} : { authorization } });

  test('gives the function its context, and is asked once while its answer is kept', async () => {
    const { functions, apiUrl } = await start({ method: WITH_AUTHORIZER });
    expect((await call(apiUrl, 'Bearer abc')).status).toBe(200);
    expect((await call(apiUrl, 'Bearer abc')).status).toBe(200);
    expect((await call(apiUrl, 'Bearer xyz')).status).toBe(200);
    const [first, , , asked] = functions.events;
    expect(functions.events).toHaveLength(5);
    expect(first).toEqual({
      type: 'TOKEN',
      authorizationToken: 'Bearer abc',
      methodArn: `arn:aws:execute-api:us-east-1:123456789012:${REST_API_ID}/dev/GET/things/1`,
    });
    expect(asked).toMatchObject({ authorizationToken: 'Bearer xyz' });
    expect(functions.events[1]).toMatchObject({
      requestContext: { authorizer: { principalId: 'someone', plan: 'gold', admin: 'true', level: '3' } },
    });
    expect(functions.asked[0]?.context).toEqual({
      'aws:SourceArn': `arn:aws:execute-api:us-east-1:123456789012:${REST_API_ID}/authorizers/Keys`,
    });
  });

  test('is asked again when nothing is kept', async () => {
    const { functions, apiUrl } = await start({
      method: WITH_AUTHORIZER,
      authorizer: { AuthorizerResultTtlInSeconds: 0 },
    });
    await call(apiUrl, 'Bearer abc');
    await call(apiUrl, 'Bearer abc');
    expect(functions.events.filter((event) => event['type'] === 'TOKEN')).toHaveLength(2);
  });

  test.each([undefined, 'Basic abc', 'Bearer ABC'])('is not asked about %p', async (authorization) => {
    const { functions, apiUrl } = await start({ method: WITH_AUTHORIZER });
    expect(await outcome(await call(apiUrl, authorization))).toEqual([401, '{"message":"Unauthorized"}']);
    expect(functions.events).toEqual([]);
  });

  test.each([
    ['refuses the token', { functionError: 'Unhandled' as const, payload: '{"errorMessage":"Unauthorized"}' }, 401],
    ['fails', { functionError: 'Unhandled' as const, payload: '{"errorMessage":"boom"}' }, 500],
    ['answers no policy', { payload: '{"principalId":"x"}' }, 500],
    ['answers a context with objects', { payload: JSON.stringify({ ...ALLOW, context: { a: {} } }) }, 500],
    ['denies', { payload: JSON.stringify(ALLOW).replace('Allow', 'Deny') }, 403],
    ['allows something else', { payload: JSON.stringify(ALLOW).replace('"*"', '"arn:other"') }, 403],
  ])('that %s', async (_, result, status) => {
    const { functions, apiUrl } = await start({ method: WITH_AUTHORIZER });
    functions.answers.set(functionArn('authorizer'), () => ({ statusCode: 200, ...result }));
    expect((await call(apiUrl, 'Bearer abc')).status).toBe(status);
    expect(functions.events).toHaveLength(1);
  });
});

describe("the gateway's own answers", () => {
  const others = [
    part('GatewayResponse', 'NoRoute', {
      ResponseType: 'MISSING_AUTHENTICATION_TOKEN',
      StatusCode: '404',
      ResponseParameters: {
        'gatewayresponse.header.Content-Type': "'application/problem+json'",
        'gatewayresponse.header.X-Origin': 'method.request.header.Origin',
      },
      ResponseTemplates: {
        'application/json': '{"requestId":"$context.requestId","why":$context.error.messageString}',
      },
    }),
    part('GatewayResponse', 'Server', {
      ResponseType: 'DEFAULT_5XX',
      ResponseTemplates: { 'application/json': '{"type":"$context.error.responseType"}' },
    }),
  ];

  test('have the form that the template gives them', async () => {
    const { apiUrl } = await start({ others });
    const response = await fetch(`${apiUrl}/nowhere`, { headers: { origin: 'https://a.example' } });
    expect([response.status, response.headers.get('content-type'), response.headers.get('x-origin')]).toEqual([
      404,
      'application/problem+json',
      'https://a.example',
    ]);
    expect(await response.json()).toEqual({
      requestId: response.headers.get('x-amzn-requestid'),
      why: 'Missing Authentication Token',
    });
  });

  test('fall back to the default of their class and keep their own status', async () => {
    const { functions, apiUrl } = await start({ others, timeoutMs: 20 });
    functions.answers.set(functionArn('things'), () => new Promise(() => undefined));
    expect(await outcome(await fetch(`${apiUrl}/things/1`))).toEqual([504, '{"type":"INTEGRATION_TIMEOUT"}']);
  });

  test('may not use what is not imitated', async () => {
    const template = part('GatewayResponse', 'Fancy', {
      ResponseType: 'THROTTLED',
      ResponseTemplates: { 'application/json': '#set($x = 1)' },
    });
    await expect(start({ others: [template] })).rejects.toThrow('Test/Fancy');
  });
});

test('every request is in the access log and is reported', async () => {
  const { apiUrl } = await start({ method: WITH_AUTHORIZER });
  await fetch(`${apiUrl}/things/1`, { headers: { authorization: 'Bearer abc' } });
  await fetch(`${apiUrl}/things/1`);
  expect(logs.map((line): unknown => JSON.parse(line))).toEqual([
    { route: '/things/{id}', status: '200', plan: 'gold' },
    { route: '/things/{id}', status: '401', plan: '-' },
  ]);
  expect(reports).toEqual([
    expect.objectContaining({ method: 'GET', status: 200, integrationLatencyMs: expect.any(Number) }),
    expect.objectContaining({ method: 'GET', status: 401, integrationLatencyMs: undefined }),
  ]);
});

test('without a role that may write it, the access log stays empty', async () => {
  const { apiUrl } = await start({ mayLog: false });
  expect((await fetch(`${apiUrl}/things/1`)).status).toBe(200);
  expect([logs, reports]).toEqual([[], [expect.anything()]]);
});

test.each([
  ['a mock integration', { Integration: { Type: 'MOCK' } }, /Test\/AnyThing .*only Lambda proxy/],
  ['an IAM authorization', { AuthorizationType: 'AWS_IAM' }, /Test\/AnyThing .*AuthorizationType/],
  ['an unknown authorizer', { AuthorizationType: 'CUSTOM', AuthorizerId: 'x' }, /its authorizer x/],
])('%s is refused by name', async (_, method, message) => {
  await expect(start({ method })).rejects.toThrow(message);
});
