import * as v from 'valibot';
import type { DeployedResource } from '../contract.ts';
import { numeric, readProperties, refuse } from '../properties.ts';

/** The service's default, https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-apigateway-authorizer.html */
const DEFAULT_TTL_SECONDS = 300;

/** A function that decides who may call. */
export interface AuthorizerDefinition {
  readonly id: string;
  readonly type: 'TOKEN' | 'REQUEST';
  readonly functionArn: string;
  /** Headers that identify the caller, in lower case: the cache key, and what must be there at all. */
  readonly identityHeaders: readonly string[];
  /** What a token must look like to be shown to the function. */
  readonly validation: RegExp | undefined;
  readonly cacheMs: number;
}

const schema = v.object({
  Type: v.picklist(['TOKEN', 'REQUEST']),
  AuthorizerUri: v.string(),
  AuthorizerCredentials: v.optional(v.undefined('a role for invoking the authorizer is not supported here')),
  IdentitySource: v.optional(v.string(), ''),
  IdentityValidationExpression: v.optional(v.string()),
  AuthorizerResultTtlInSeconds: v.optional(numeric, DEFAULT_TTL_SECONDS),
});

/** @throws LocalCloudError naming the authorizer and what about it is not supported */
export function readAuthorizer(resource: DeployedResource): AuthorizerDefinition {
  const { Type, AuthorizerUri, IdentitySource, IdentityValidationExpression, AuthorizerResultTtlInSeconds } =
    readProperties(schema, resource);
  const functionArn = /\/functions\/(arn:[^/]+)\/invocations$/.exec(AuthorizerUri)?.[1];
  if (functionArn === undefined) return refuse(resource, `${AuthorizerUri} does not invoke a function`);
  const sources = IdentitySource.split(',').map((source) => source.trim());
  return {
    id: resource.physicalId,
    type: Type,
    functionArn,
    identityHeaders: sources
      .filter((source) => source !== '')
      .map((source) => {
        const header = /^method\.request\.header\.([\w-]+)$/.exec(source)?.[1];
        return header?.toLowerCase() ?? refuse(resource, `the identity source ${source} is not a header`);
      }),
    // The gateway matches the whole token.
    validation:
      IdentityValidationExpression === undefined ? undefined : new RegExp(`^(?:${IdentityValidationExpression})$`),
    cacheMs: AuthorizerResultTtlInSeconds * 1000,
  };
}
