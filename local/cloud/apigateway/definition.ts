import * as v from 'valibot';
import type { Cloud, DeployedResource } from '../contract.ts';
import { LocalCloudError } from '../errors.ts';
import { numeric, readProperties } from '../properties.ts';
import { readAuthorizer, type AuthorizerDefinition } from './authorizer-definition.ts';
import { readGatewayResponses, type GatewayResponses } from './gateway-responses.ts';

/** The gateway's own limit, https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html */
const DEFAULT_TIMEOUT_MS = 29_000;

/** One method of one resource. */
export interface Route {
  readonly method: string;
  /** `/orders/{id}`; `{name+}` at the end takes all that is left. */
  readonly resourcePath: string;
  readonly resourceId: string;
  readonly authorizer: AuthorizerDefinition | undefined;
  readonly functionArn: string;
  readonly timeoutMs: number;
}

export interface Throttle {
  readonly ratePerSecond: number;
  readonly burst: number;
}

/** A REST API with its one stage, as the templates declare it. */
export interface ApiDefinition {
  readonly apiId: string;
  readonly apiName: string;
  readonly stageName: string;
  readonly stageVariables: Readonly<Record<string, string>>;
  readonly deploymentId: string;
  readonly binaryMediaTypes: readonly string[];
  readonly routes: readonly Route[];
  readonly responses: GatewayResponses;
  readonly throttle: Throttle | undefined;
  readonly accessLog: { readonly format: string; readonly logGroup: string } | undefined;
}

type ResourceSource = Pick<Cloud, 'byType' | 'find'>;

const apiSchema = v.object({
  Name: v.optional(v.string(), ''),
  BinaryMediaTypes: v.optional(v.array(v.string()), []),
  Policy: v.optional(v.undefined('resource policies of APIs are not supported here')),
  MinimumCompressionSize: v.optional(v.undefined('compression is not supported here')),
});
const resourceSchema = v.object({ ParentId: v.string(), PathPart: v.string() });
const methodSchema = v.object({
  HttpMethod: v.string(),
  ResourceId: v.string(),
  AuthorizationType: v.picklist(['NONE', 'CUSTOM']),
  AuthorizerId: v.optional(v.string()),
  ApiKeyRequired: v.optional(v.literal(false, 'API keys of usage plans are not supported here'), false),
  RequestValidatorId: v.optional(v.undefined('request validators are not supported here')),
  Integration: v.object({
    Type: v.literal('AWS_PROXY', 'only Lambda proxy integrations are supported here'),
    Uri: v.string(),
    TimeoutInMillis: v.optional(numeric, DEFAULT_TIMEOUT_MS),
  }),
});
const stageSchema = v.object({
  StageName: v.string(),
  DeploymentId: v.optional(v.string(), ''),
  Variables: v.optional(v.record(v.string(), v.string()), {}),
  AccessLogSetting: v.optional(v.object({ DestinationArn: v.string(), Format: v.string() })),
  MethodSettings: v.optional(
    v.array(
      v.object({
        HttpMethod: v.literal('*', 'settings of single methods are not supported here'),
        ResourcePath: v.literal('/*', 'settings of single methods are not supported here'),
        ThrottlingRateLimit: v.optional(numeric),
        ThrottlingBurstLimit: v.optional(numeric),
        CachingEnabled: v.optional(v.literal(false, 'caching is not supported here')),
      }),
    ),
    [],
  ),
});

/**
 * Reads every REST API of the templates.
 *
 * @throws LocalCloudError naming the resource and the property that is not supported
 */
export function readApis(cloud: ResourceSource): ApiDefinition[] {
  return cloud.byType('AWS::ApiGateway::RestApi').map((api) => readApi(api, cloud));
}

function readApi(api: DeployedResource, cloud: ResourceSource): ApiDefinition {
  const own = (type: string): DeployedResource[] =>
    cloud.byType(`AWS::ApiGateway::${type}`).filter(({ properties }) => properties['RestApiId'] === api.physicalId);
  const stages = own('Stage');
  const [stageResource] = stages;
  if (stageResource === undefined || stages.length > 1) {
    throw new LocalCloudError(`${api.path} (${api.type}) has ${stages.length} stages; exactly one is supported here.`);
  }
  const stage = readProperties(stageSchema, stageResource);
  const settings = stage.MethodSettings[0];
  const properties = readProperties(apiSchema, api);
  return {
    apiId: api.physicalId,
    apiName: properties.Name,
    stageName: stage.StageName,
    stageVariables: stage.Variables,
    deploymentId: stage.DeploymentId,
    binaryMediaTypes: properties.BinaryMediaTypes,
    routes: readRoutes(api, own),
    responses: readGatewayResponses(own('GatewayResponse')),
    throttle:
      settings?.ThrottlingRateLimit === undefined
        ? undefined
        : {
            ratePerSecond: settings.ThrottlingRateLimit,
            burst: settings.ThrottlingBurstLimit ?? settings.ThrottlingRateLimit,
          },
    accessLog:
      stage.AccessLogSetting === undefined
        ? undefined
        : {
            format: stage.AccessLogSetting.Format,
            logGroup: logGroupName(stage.AccessLogSetting.DestinationArn),
          },
  };
}

const logGroupName = (arn: string): string => /:log-group:([^:]+)/.exec(arn)?.[1] ?? arn;

function readRoutes(api: DeployedResource, own: (type: string) => DeployedResource[]): Route[] {
  const resources = own('Resource');
  const authorizers = new Map(own('Authorizer').map((resource) => [resource.physicalId, readAuthorizer(resource)]));
  return own('Method').map((method) => {
    const { HttpMethod, ResourceId, AuthorizationType, AuthorizerId, Integration } = readProperties(
      methodSchema,
      method,
    );
    const functionArn = /\/functions\/(arn:[^/]+)\/invocations$/.exec(Integration.Uri)?.[1];
    if (functionArn === undefined) {
      throw new LocalCloudError(`${method.path} (${method.type}): ${Integration.Uri} does not invoke a function.`);
    }
    const authorizer = AuthorizationType === 'CUSTOM' ? authorizers.get(AuthorizerId ?? '') : undefined;
    if (AuthorizationType === 'CUSTOM' && authorizer === undefined) {
      throw new LocalCloudError(
        `${method.path} (${method.type}): its authorizer ${AuthorizerId} is not in the templates.`,
      );
    }
    return {
      method: HttpMethod,
      resourcePath: pathOf(ResourceId, api, resources),
      resourceId: ResourceId,
      authorizer,
      functionArn,
      timeoutMs: Integration.TimeoutInMillis,
    };
  });
}

function pathOf(resourceId: string, api: DeployedResource, resources: readonly DeployedResource[]): string {
  if (resourceId === api.attributes['RootResourceId']) return '/';
  const resource = resources.find(({ physicalId }) => physicalId === resourceId);
  if (resource === undefined) throw new LocalCloudError(`${api.path}: there is no API resource ${resourceId}.`);
  const { ParentId, PathPart } = readProperties(resourceSchema, resource);
  const parent = pathOf(ParentId, api, resources);
  return `${parent === '/' ? '' : parent}/${PathPart}`;
}
