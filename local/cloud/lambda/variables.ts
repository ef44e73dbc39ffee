import { dirname, join } from 'node:path';
import type { Cloud } from '../contract.ts';
import type { FunctionSpec } from './spec.ts';

export interface VariablesOptions {
  readonly cloud: Pick<Cloud, 'credentialsFor' | 'awsEndpoint' | 'region'>;
  readonly cacheDirectory: string;
  readonly overrides?: Readonly<Record<string, string>>;
}

/**
 * Everything that a function sees as its environment: the template's variables, and those that the runtime sets
 * (https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html). Nothing of this process's own leaks in.
 */
export function runtimeVariables(spec: FunctionSpec, options: VariablesOptions): Record<string, string> {
  const { cloud, cacheDirectory, overrides = {} } = options;
  const credentials = cloud.credentialsFor(spec.roleArn, spec.name);
  const replaced = Object.entries(overrides).filter(([name]) => name in spec.environment);
  return {
    ...spec.environment,
    ...Object.fromEntries(replaced),
    PATH: dirname(process.execPath),
    LANG: 'en_US.UTF-8',
    TZ: ':UTC',
    LAMBDA_TASK_ROOT: spec.codeDirectory,
    LAMBDA_RUNTIME_DIR: cacheDirectory,
    NODE_COMPILE_CACHE: join(cacheDirectory, 'compile-cache'),
    _HANDLER: spec.handler,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_REGION: cloud.region,
    AWS_DEFAULT_REGION: cloud.region,
    AWS_LAMBDA_FUNCTION_NAME: spec.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(spec.memoryMb),
    AWS_LAMBDA_LOG_GROUP_NAME: spec.logGroup,
    AWS_LAMBDA_LOG_FORMAT: spec.logFormat,
    // Without it Powertools takes every start for a warm one.
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_ENDPOINT_URL: cloud.awsEndpoint,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    ...(credentials.sessionToken === undefined ? {} : { AWS_SESSION_TOKEN: credentials.sessionToken }),
  };
}
