import { Duration, type RemovalPolicy } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import { ComparisonOperator, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import * as logs from 'aws-cdk-lib/aws-logs';
import { CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import type { Stage } from '../../config/stage.ts';
import { OPERATIONS, type Operation } from '../../lambdas/domain/api/operations.ts';
import { SERVICE_METRICS } from '../../lambdas/runtime/metric-names.ts';
import { addAlarm, type Alarms } from './alarms.ts';
import type { Authorizer } from './authorizer.ts';
import { answerWithProblems } from './gateway-problems.ts';
import { pipelineMetric } from './metrics.ts';
import { logRetention } from './pipeline-function.ts';
import type { Preview } from './preview.ts';
import type { Status } from './status.ts';
import type { Submit } from './submit.ts';

export interface ApiProps {
  readonly stage: Stage;
  readonly authorizer: Authorizer;
  readonly submit: Submit;
  readonly status: Status;
  readonly preview: Preview;
  readonly removalPolicy: RemovalPolicy;
  /** Encrypts the access log. Absent: a key of CloudWatch. */
  readonly encryptionKey: IKey | undefined;
  readonly alarms: Alarms;
}

const SUM = { period: Duration.minutes(5), statistic: 'Sum' };
/** Server errors within five minutes that are more than a caller's bad luck. */
const SERVER_ERROR_THRESHOLD = 5;
/** Share of answers that may take five seconds or more. */
const SLOW_PERCENT = 1;

/** The REST API: routes, authorizer, throttling, access log. */
export class Api extends Construct {
  readonly restApi: apigateway.RestApi;
  /** Base of the paths in {@link OPERATIONS}, without a slash at its end. */
  readonly url: string;
  readonly accessLog: logs.ILogGroup;

  constructor(scope: Construct, id: string, props: ApiProps) {
    super(scope, id);
    const { api, name: stageName } = props.stage;
    this.accessLog = this.#accessLog(props);
    this.restApi = new apigateway.RestApi(this, 'RestApi', {
      restApiName: `sluice-${stageName}`,
      description: 'Submissions of files of records, and what became of them',
      endpointTypes: [apigateway.EndpointType.REGIONAL],
      // Every body reaches the functions as it came: base64 of its bytes, whatever the content type's parameters are.
      binaryMediaTypes: ['*/*'],
      // The role stays when the stack goes, since other APIs of the account may log by it.
      cloudWatchRole: api.setsAccountLogRole,
      deployOptions: {
        stageName,
        throttlingRateLimit: api.ratePerSecond,
        throttlingBurstLimit: api.burst,
        accessLogDestination: new apigateway.LogGroupLogDestination(this.accessLog),
        accessLogFormat: ACCESS_LOG_FORMAT,
      },
    });
    this.url = this.restApi.urlForPath('/').replace(/\/$/, '');
    this.#addRoutes(props);
    answerWithProblems(this.restApi, api.corsOrigins);
    if (api.webAclArn !== undefined) {
      new CfnWebACLAssociation(this, 'WebAcl', {
        webAclArn: api.webAclArn,
        resourceArn: this.restApi.deploymentStage.stageArn,
      });
    }
    this.#addAlarms(props);
  }

  #accessLog({ stage, removalPolicy, encryptionKey }: ApiProps): logs.LogGroup {
    return new logs.LogGroup(this, 'AccessLog', {
      retention: logRetention(stage.logs.retentionDays),
      removalPolicy,
      ...(encryptionKey ? { encryptionKey } : {}),
    });
  }

  #addRoutes({ authorizer, submit, status, preview, stage }: ApiProps): void {
    const options = { scopePermissionToMethod: false };
    const integrations = {
      submit: new apigateway.LambdaIntegration(submit.fn.fn, options),
      status: new apigateway.LambdaIntegration(status.fn.fn, options),
      preview: new apigateway.LambdaIntegration(preview.fn.fn, options),
    };
    const withKey = {
      authorizationType: apigateway.AuthorizationType.CUSTOM,
      authorizer: authorizer.authorizer,
    };
    const withoutKey = { authorizationType: apigateway.AuthorizationType.NONE };
    for (const [path, operations] of Map.groupBy(Object.values<Operation>(OPERATIONS), (operation) => operation.path)) {
      const resource = this.restApi.root.resourceForPath(path);
      const isOpen = operations.some(({ scope }) => scope === undefined);
      for (const { method, handledBy, scope } of operations) {
        resource.addMethod(method, integrations[handledBy], scope === undefined ? withoutKey : withKey);
      }
      // HEAD, and methods that the path does not have: the function answers 405 and says which it has.
      resource.addMethod('ANY', integrations.status, isOpen ? withoutKey : withKey);
      // A browser asks first, and without the key. The function answers, since it knows which origins may call.
      if (stage.api.corsOrigins.length > 0) resource.addMethod('OPTIONS', integrations.status, withoutKey);
    }
  }

  #addAlarms({ alarms, stage }: ApiProps): void {
    addAlarm(this, 'ServerErrors', alarms, {
      metric: this.restApi.deploymentStage.metricServerError({ period: Duration.minutes(5), statistic: 'Sum' }),
      threshold: SERVER_ERROR_THRESHOLD,
      comparison: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      periods: 1,
      // Without requests there is no data point.
      missingData: TreatMissingData.NOT_BREACHING,
      severity: 'page',
      description:
        'Callers of the API get server errors: look at the access log for the route and at its function for the error.',
      runbookSection: 'api-errors',
    });
    addAlarm(this, 'SlowAnswers', alarms, {
      // The gateway's latency would count what callers ask to wait for a status.
      metric: new MathExpression({
        expression: '100 * (FILL(submit, 0) + FILL(status, 0)) / requests',
        usingMetrics: {
          submit: pipelineMetric(SERVICE_METRICS.slowAnswers, { ...SUM, stageName: stage.name, by: 'submit' }),
          status: pipelineMetric(SERVICE_METRICS.slowAnswers, { ...SUM, stageName: stage.name, by: 'status' }),
          requests: this.restApi.deploymentStage.metricCount(SUM),
        },
        period: SUM.period,
        label: 'slow answers, %',
      }),
      threshold: SLOW_PERCENT,
      comparison: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      // With few requests one slow answer is more than its share.
      periods: 3,
      missingData: TreatMissingData.NOT_BREACHING,
      severity: 'ticket',
      description:
        'Answers of the API take too long: look at the access log for the route and for whether the function or the gateway is slow.',
      runbookSection: 'api-slow',
    });
  }
}

/** No credentials, query strings, ids in paths or addresses of callers: the route, the outcome, and who by tenant. */
const ACCESS_LOG_FORMAT = apigateway.AccessLogFormat.custom(
  JSON.stringify({
    requestId: '$context.requestId',
    time: '$context.requestTimeEpoch',
    method: '$context.httpMethod',
    route: '$context.resourcePath',
    status: '$context.status',
    tenantId: '$context.authorizer.tenantId',
    latencyMs: '$context.responseLatency',
    functionLatencyMs: '$context.integrationLatency',
    functionRequestId: '$context.integration.requestId',
    responseBytes: '$context.responseLength',
    error: '$context.error.responseType',
  }),
);
