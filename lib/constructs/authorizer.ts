import { Duration } from 'aws-cdk-lib';
import { TokenAuthorizer } from 'aws-cdk-lib/aws-apigateway';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { authorizerEnvironment } from '../../lambdas/authorizer/env.ts';
import { PipelineFunction, type FunctionSettings } from './pipeline-function.ts';
import { ofKeys } from './tables.ts';

export interface AuthorizerProps {
  readonly settings: FunctionSettings;
  /** How long the gateway keeps a decision about a key. */
  readonly cacheSeconds: number;
  readonly tenants: ITable;
}

const TIMEOUT_SECONDS = 5;

/** Resolves the API key in `Authorization` to a tenant. */
export class Authorizer extends Construct {
  readonly fn: PipelineFunction<typeof authorizerEnvironment>;
  readonly authorizer: TokenAuthorizer;

  constructor(scope: Construct, id: string, { settings, cacheSeconds, tenants }: AuthorizerProps) {
    super(scope, id);
    this.fn = new PipelineFunction(this, 'Authorizer', {
      settings,
      name: 'authorizer',
      description: 'API: resolves keys to tenants',
      schema: authorizerEnvironment,
      environment: { TENANTS_TABLE: tenants.tableName },
      timeoutSeconds: TIMEOUT_SECONDS,
      memoryMb: 512,
    });
    // The tenant behind a key's hash.
    this.fn.allow('ReadKeys', ['dynamodb:GetItem'], [tenants.tableArn], ofKeys('key#*'));
    this.authorizer = new TokenAuthorizer(this, 'Tokens', {
      handler: this.fn.fn,
      // What is no bearer token at all is refused by the gateway, without an invocation.
      validationRegex: '^[Bb]earer [A-Za-z0-9._~+/=-]{1,512}$',
      resultsCacheTtl: Duration.seconds(cacheSeconds),
    });
  }
}
