import * as v from 'valibot';
import dev from '../../config/stages/dev.ts';
import prod from '../../config/stages/prod.ts';
import { OPERATIONS, type Operation } from '../../lambdas/domain/api/operations.ts';
import { synthesize, type Synthesized } from './synthesized.ts';
import { PROBLEMS, WWW_AUTHENTICATE, type ProblemCode } from '../../lambdas/domain/api/problems.ts';

const methodSchema = v.object({
  HttpMethod: v.string(),
  ResourceId: v.unknown(),
  AuthorizationType: v.string(),
  AuthorizerId: v.optional(v.unknown()),
  Integration: v.object({ Type: v.literal('AWS_PROXY'), Uri: v.unknown() }),
});
const resourceSchema = v.object({ PathPart: v.string(), ParentId: v.unknown() });

/** `GET /v1/submissions` and so on, with what answers it. */
function methodsOf({ ofType, referenced, resources }: Synthesized) {
  const parts = new Map(
    ofType('AWS::ApiGateway::Resource', resourceSchema).map(({ id, properties }) => [id, properties]),
  );
  const pathOf = (value: unknown): string => {
    const part = parts.get(referenced(value));
    return part === undefined ? '' : `${pathOf(part.ParentId)}/${part.PathPart}`;
  };
  const functions = resources.filter(({ type }) => type === 'AWS::Lambda::Function');
  return ofType('AWS::ApiGateway::Method', methodSchema).map(({ properties }) => ({
    route: `${properties.HttpMethod} ${pathOf(properties.ResourceId)}`,
    authorization: properties.AuthorizationType,
    authorizer: properties.AuthorizerId === undefined ? undefined : referenced(properties.AuthorizerId),
    handler: functions
      .find(({ id }) => JSON.stringify(properties.Integration.Uri).includes(`"${id}"`))
      ?.id.replace(/Function\w{8}$/, ''),
  }));
}

const operations = Object.values<Operation>(OPERATIONS);
const paths = [...new Set(operations.map(({ path }) => path))];
const isOf =
  (kind: 'operations' | 'ANY' | 'OPTIONS') =>
  ({ route }: { route: string }) => {
    const [method = ''] = route.split(' ');
    return kind === 'operations' ? method !== 'ANY' && method !== 'OPTIONS' : method === kind;
  };

const stages = { dev: synthesize(dev), prod: synthesize(prod) };

describe('the API', () => {
  it('has the routes of its description and no others', () => {
    const routes = methodsOf(stages.prod).filter(isOf('operations'));
    expect(routes.map(({ route }) => route).sort()).toEqual(
      operations.map(({ method, path }) => `${method} ${path}`).sort(),
    );
  });

  it('hands each operation to the function that answers it', () => {
    const handlers = { submit: 'SubmissionSubmit', status: 'Status', preview: 'PreviewsPreview' };
    for (const { method, path, handledBy } of operations) {
      const found = methodsOf(stages.prod).find(({ route }) => route === `${method} ${path}`);
      expect([method, path, found?.handler]).toEqual([method, path, handlers[handledBy]]);
    }
  });

  it('lets the status function answer HEAD, and methods that a path does not have', () => {
    const others = methodsOf(stages.prod).filter(isOf('ANY'));
    expect(others.map(({ route }) => route).sort()).toEqual(paths.map((path) => `ANY ${path}`).sort());
    expect(new Set(others.map(({ handler }) => handler))).toEqual(new Set(['Status']));
  });

  it('asks for a key on every route but its own description', () => {
    const open = methodsOf(stages.prod).filter(({ authorization }) => authorization !== 'CUSTOM');
    expect(open.map(({ route }) => route).sort()).toEqual(['ANY /v1/openapi.json', 'GET /v1/openapi.json']);
    const authorizers = methodsOf(stages.prod).flatMap(({ authorizer }) => authorizer ?? []);
    expect(authorizers).toHaveLength(operations.length + paths.length - 2);
    expect(new Set(authorizers).size).toBe(1);
  });

  it('answers browsers that ask before they call, where there are origins, and only then', () => {
    const asked = methodsOf(stages.dev).filter(isOf('OPTIONS'));
    expect(asked.map(({ route }) => route.replace('OPTIONS ', '')).sort()).toEqual([...paths].sort());
    expect(new Set(asked.map(({ authorization, handler }) => `${authorization} ${handler}`))).toEqual(
      new Set(['NONE Status']),
    );
    expect(methodsOf(stages.prod).filter(isOf('OPTIONS'))).toEqual([]);
  });

  it('hands every body over as it came', () => {
    const schema = v.object({ BinaryMediaTypes: v.array(v.string()) });
    expect(stages.prod.ofType('AWS::ApiGateway::RestApi', schema)[0]?.properties.BinaryMediaTypes).toEqual(['*/*']);
  });

  it('refuses what is no bearer token by itself, and keeps decisions as long as the stage says', () => {
    const schema = v.object({
      Type: v.string(),
      IdentitySource: v.string(),
      IdentityValidationExpression: v.string(),
      AuthorizerResultTtlInSeconds: v.number(),
    });
    const authorizer = stages.prod.ofType('AWS::ApiGateway::Authorizer', schema)[0]?.properties;
    expect(authorizer).toMatchObject({
      Type: 'TOKEN',
      IdentitySource: 'method.request.header.Authorization',
      AuthorizerResultTtlInSeconds: prod.api.authorizerCacheSeconds,
    });
    const expression = new RegExp(authorizer?.IdentityValidationExpression ?? '');
    expect(expression.test('Bearer slc_dGVzdA-_.~+/=')).toBe(true);
    for (const refused of [
      '',
      'Bearer',
      'Bearer ',
      'Basic dGVzdA==',
      'Bearer a b',
      `Bearer ${'x'.repeat(513)}`,
      'xBearer a',
    ]) {
      expect(expression.test(refused)).toBe(false);
    }
  });
});

describe('the stage of the API', () => {
  const schema = v.object({
    StageName: v.string(),
    AccessLogSetting: v.object({ Format: v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.string())) }),
    MethodSettings: v.array(v.record(v.string(), v.unknown())),
  });
  const properties = stages.prod.ofType('AWS::ApiGateway::Stage', schema)[0]?.properties;

  it('is throttled', () => {
    expect(properties?.MethodSettings).toEqual([
      expect.objectContaining({
        HttpMethod: '*',
        ResourcePath: '/*',
        ThrottlingRateLimit: prod.api.ratePerSecond,
        ThrottlingBurstLimit: prod.api.burst,
        DataTraceEnabled: false,
      }),
    ]);
  });

  it('logs the route and the outcome of every request, and neither credentials nor parameters', () => {
    const logged = Object.values(properties?.AccessLogSetting.Format ?? {});
    expect(logged).toEqual(
      expect.arrayContaining(['$context.resourcePath', '$context.status', '$context.authorizer.tenantId']),
    );
    expect(
      logged.filter((value) => /header|querystring|\$context\.path$|sourceIp|principalId|apiKey/i.test(value)),
    ).toEqual([]);
  });

  it('sets the role of the account that access logs need, unless something else does', () => {
    const count = (of: Synthesized) => of.resources.filter(({ type }) => type === 'AWS::ApiGateway::Account').length;
    expect(count(stages.prod)).toBe(1);
    expect(count(synthesize({ ...prod, api: { ...prod.api, setsAccountLogRole: false } }))).toBe(0);
  });

  it('is guarded by a web ACL where the stage names one', () => {
    const webAclArn = 'arn:aws:wafv2:eu-west-1:123456789012:regional/webacl/test/1';
    const guarded = synthesize({ ...prod, api: { ...prod.api, webAclArn } });
    const associations = guarded.ofType('AWS::WAFv2::WebACLAssociation', v.object({ WebACLArn: v.string() }));
    expect(associations.map(({ properties: association }) => association.WebACLArn)).toEqual([webAclArn]);
    expect(stages.prod.resources.filter(({ type }) => type === 'AWS::WAFv2::WebACLAssociation')).toEqual([]);
  });
});

describe('the gateway’s own errors', () => {
  const schema = v.object({
    ResponseType: v.string(),
    StatusCode: v.optional(v.string()),
    ResponseParameters: v.record(v.string(), v.string()),
    ResponseTemplates: v.object({
      'application/json': v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.unknown())),
    }),
  });
  const responses = (of: Synthesized) =>
    of.ofType('AWS::ApiGateway::GatewayResponse', schema).map((response) => response.properties);

  it.each(responses(stages.prod))('$ResponseType is a problem document with a stable code', (response) => {
    const document = response.ResponseTemplates['application/json'];
    const { title, status } = PROBLEMS[document['code'] as ProblemCode];
    expect(document).toMatchObject({
      type: `urn:sluice:problem:${String(document['code'])}`,
      title,
      requestId: '$context.requestId',
    });
    if (document['status'] !== undefined) expect(document['status']).toBe(status);
    if (response.StatusCode !== undefined) expect(document['status']).toBe(Number(response.StatusCode));
    expect(response.ResponseParameters).toMatchObject({
      'gatewayresponse.header.Content-Type': "'application/problem+json'",
      'gatewayresponse.header.X-Request-Id': 'context.requestId',
    });
    expect(response.ResponseParameters['gatewayresponse.header.WWW-Authenticate']).toBe(
      status === 401 ? `'${WWW_AUTHENTICATE}'` : undefined,
    );
  });

  it('leave nothing to the gateway’s defaults', () => {
    const types = responses(stages.prod).map(({ ResponseType }) => ResponseType);
    expect(types).toEqual(
      expect.arrayContaining(['DEFAULT_4XX', 'DEFAULT_5XX', 'UNAUTHORIZED', 'THROTTLED', 'REQUEST_TOO_LARGE']),
    );
  });

  it('say when to come back where that helps', () => {
    const retry = responses(stages.prod).filter(
      (response) => 'gatewayresponse.header.Retry-After' in response.ResponseParameters,
    );
    expect(retry.map(({ StatusCode }) => StatusCode ?? 'none').sort()).toEqual(['429', '503', '503', '503', '504']);
  });

  it('can be read by pages of the one origin there is, and by none where there are several', () => {
    const origins = (of: Synthesized) =>
      new Set(
        responses(of).map(
          (response) => response.ResponseParameters['gatewayresponse.header.Access-Control-Allow-Origin'],
        ),
      );
    expect(origins(stages.dev)).toEqual(new Set(["'http://localhost:3000'"]));
    const several = synthesize({
      ...dev,
      api: { ...dev.api, corsOrigins: ['https://a.example', 'https://b.example'] },
    });
    expect(origins(several)).toEqual(new Set([undefined]));
    expect(origins(stages.prod)).toEqual(new Set([undefined]));
  });
});
