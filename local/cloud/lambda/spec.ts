import * as v from 'valibot';
import type { DeployedResource } from '../contract.ts';
import { numeric, readProperties, refuse } from '../properties.ts';

/** Defaults of the service, https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
const DEFAULT_TIMEOUT_SECONDS = 3;
const DEFAULT_MEMORY_MB = 128;

/** A function to run: what the template says, with its code on this disk. */
export interface FunctionSpec {
  readonly name: string;
  readonly arn: string;
  readonly logicalId: string;
  readonly roleArn: string;
  /** `index.handler` */
  readonly handler: string;
  readonly codeDirectory: string;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly logFormat: 'Text' | 'JSON';
  readonly logGroup: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Invocations at the same time; undefined where none are reserved. */
  readonly reservedConcurrency: number | undefined;
}

const variable = v.pipe(
  v.union([v.string(), v.number(), v.boolean()]),
  v.transform((value) => String(value)),
);

const propertiesSchema = v.object({
  Handler: v.string(),
  Role: v.string(),
  Runtime: v.pipe(v.string(), v.startsWith('nodejs', 'only Node.js functions run here')),
  Timeout: v.optional(numeric, DEFAULT_TIMEOUT_SECONDS),
  MemorySize: v.optional(numeric, DEFAULT_MEMORY_MB),
  ReservedConcurrentExecutions: v.optional(numeric),
  Environment: v.optional(v.object({ Variables: v.optional(v.record(v.string(), variable), {}) }), {}),
  LoggingConfig: v.optional(
    v.object({ LogFormat: v.optional(v.picklist(['Text', 'JSON']), 'Text'), LogGroup: v.optional(v.string()) }),
    {},
  ),
  PackageType: v.optional(v.literal('Zip', 'container images do not run here')),
  Layers: v.optional(v.pipe(v.array(v.unknown()), v.maxLength(0, 'layers are not supported here'))),
});

/**
 * Reads a function of the templates.
 *
 * @throws LocalCloudError naming the function and the property that cannot be run here
 */
export function readFunctionSpec(resource: DeployedResource): FunctionSpec {
  const properties = readProperties(propertiesSchema, resource);
  if (resource.assetPath === undefined) {
    return refuse(resource, 'its code is not an asset, so it cannot run here');
  }
  const { Handler, Role, Timeout, MemorySize, Environment, LoggingConfig, ReservedConcurrentExecutions } = properties;
  return {
    name: resource.physicalId,
    arn: resource.arn,
    logicalId: resource.logicalId,
    roleArn: Role,
    handler: Handler,
    codeDirectory: resource.assetPath,
    timeoutMs: Timeout * 1000,
    memoryMb: MemorySize,
    logFormat: LoggingConfig.LogFormat ?? 'Text',
    logGroup: LoggingConfig.LogGroup ?? `/aws/lambda/${resource.physicalId}`,
    environment: Environment.Variables ?? {},
    reservedConcurrency: ReservedConcurrentExecutions,
  };
}
