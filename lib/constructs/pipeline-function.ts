import { join } from 'node:path';
import { Duration, type RemovalPolicy } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { LogLevel, NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import * as v from 'valibot';
import type { EnvironmentSchema, EnvironmentValues } from '../../lambdas/runtime/environment.ts';
import { METRIC_NAMESPACE, SERVICE_METRICS } from '../../lambdas/runtime/metric-names.ts';
import { addAlarm, type Alarms } from './alarms.ts';
import { MISCONFIGURATION_PERIOD, watchErrors } from './error-alarms.ts';
import { pipelineMetric } from './metrics.ts';

/** What all functions of a stage have in common. */
export interface FunctionSettings {
  readonly stageName: string;
  readonly logLevel: string;
  readonly logRetentionDays: logs.RetentionDays;
  readonly removalPolicy: RemovalPolicy;
  /** Encrypts the logs. Absent: a key of CloudWatch. */
  readonly encryptionKey: IKey | undefined;
  readonly alarms: Alarms;
}

type CommonVariable = 'STAGE' | 'POWERTOOLS_SERVICE_NAME' | 'POWERTOOLS_METRICS_NAMESPACE' | 'POWERTOOLS_LOG_LEVEL';

export interface PipelineFunctionProps<S extends EnvironmentSchema> {
  readonly settings: FunctionSettings;
  /** Directory below `lambdas`; also the name in logs and metrics. */
  readonly name: string;
  readonly description: string;
  /** Label where several functions share a name. Default: the name. */
  readonly label?: string;
  /** The schema that the handler reads its environment by, from its `env.ts`. */
  readonly schema: S;
  readonly environment: Omit<EnvironmentValues<S>, CommonVariable>;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  /**
   * Whether messages that the function sends may come back to it. Lambda otherwise stops such a chain after about 16 rounds and
   * sends the message to the dead-letter queue, https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
   */
  readonly sendsToItself?: boolean;
  /** Failed invocations within five minutes that ring the alarm. Default 1. */
  readonly errorThreshold?: number;
  /** Whether it works until its timeout is near while there is work: the alarm about long durations is then left out. */
  readonly usesWholeTimeout?: boolean;
}

/** Share of the timeout at which a duration counts as too long. */
const NEAR_TIMEOUT_SHARE = 0.9;

type Conditions = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

const ROOT = join(import.meta.dirname, '..', '..');

/**
 * A Lambda function as all of the pipeline's are: Node.js 24 on arm64, one minified ES module with the SDK clients it uses,
 * a log group with a retention, and a role of its own that may write to this log group and nothing else until
 * {@link PipelineFunction.allow} says so.
 */
export class PipelineFunction<S extends EnvironmentSchema = EnvironmentSchema> extends Construct {
  readonly fn: lambda.Function;
  readonly logGroup: logs.ILogGroup;
  readonly memoryMb: number;
  /** The name; for workers with the lane. */
  readonly label: string;

  constructor(scope: Construct, id: string, props: PipelineFunctionProps<S>) {
    super(scope, id);
    const { settings, name } = props;
    const logGroup = new logs.LogGroup(this, 'Logs', {
      retention: settings.logRetentionDays,
      removalPolicy: settings.removalPolicy,
      ...(settings.encryptionKey ? { encryptionKey: settings.encryptionKey } : {}),
    });
    this.logGroup = logGroup;
    this.memoryMb = props.memoryMb;
    this.label = props.label ?? name;
    const role = new iam.Role(this, 'Role', {
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
      description: `Of the ${name} function of Sluice (${settings.stageName})`,
    });
    role.addToPolicy(
      new iam.PolicyStatement({
        sid: 'WriteOwnLog',
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [logGroup.logGroupArn],
      }),
    );
    this.fn = new NodejsFunction(this, 'Function', {
      description: props.description,
      entry: join(ROOT, 'lambdas', name, 'handler.ts'),
      projectRoot: ROOT,
      depsLockFilePath: join(ROOT, 'package-lock.json'),
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      role,
      logGroup,
      timeout: Duration.seconds(props.timeoutSeconds),
      memorySize: props.memoryMb,
      environment: this.#environment(props),
      recursiveLoop: props.sendsToItself === true ? lambda.RecursiveLoop.ALLOW : lambda.RecursiveLoop.TERMINATE,
      bundling: BUNDLING,
    });
    this.#addAlarms(props);
  }

  /**
   * Lets the function do exactly this.
   *
   * @param sid name of the statement, unique in the role: what it is for, so that a denied call can be traced to what is missing
   * @param conditions that a request must also meet, by operator and condition key
   */
  allow(sid: string, actions: readonly string[], resources: readonly string[], conditions: Conditions = {}): void {
    this.fn.addToRolePolicy(
      new iam.PolicyStatement({ sid, actions: [...actions], resources: [...resources], conditions }),
    );
  }

  /**
   * Lets the function learn that an object is missing: without the right to list, S3 answers 403 for it as for a denied one. S3
   * holds the object's key against the condition.
   */
  allowToSeeMissing(sid: string, bucket: IBucket, ...prefixes: readonly string[]): void {
    const keys = prefixes.map((prefix) => `${prefix}*`);
    this.allow(sid, ['s3:ListBucket'], [bucket.bucketArn], { StringLike: { 's3:prefix': keys } });
  }

  /** Lets the function read what customers sent and what was unpacked from it. */
  allowToReadSources(bucket: IBucket): void {
    const prefixes = ['uploads/', 'prepared/'];
    this.allow(
      'ReadSources',
      ['s3:GetObject'],
      prefixes.map((prefix) => bucket.arnForObjects(`${prefix}*`)),
    );
    this.allowToSeeMissing('SeeMissingSources', bucket, ...prefixes);
  }

  /** The variables, checked by the handler's own schema so that a wrong value fails the synthesis and not the first start. */
  #environment({ settings, name, schema, environment }: PipelineFunctionProps<S>): Record<string, string> {
    const values = {
      STAGE: settings.stageName,
      POWERTOOLS_SERVICE_NAME: name,
      POWERTOOLS_METRICS_NAMESPACE: METRIC_NAMESPACE,
      POWERTOOLS_LOG_LEVEL: settings.logLevel,
      ...environment,
    };
    // What only a deployment knows is checked for its place in the value.
    const known = Object.entries(values).map(([variable, value]) => [
      variable,
      value.replaceAll(TOKEN, 'https://unknown/'),
    ]);
    const issue = v.safeParse(schema, Object.fromEntries(known)).issues?.[0];
    if (issue) {
      throw new Error(`Variable ${v.getDotPath(issue)} of the ${name} function is not usable: ${issue.message}.`);
    }
    const undeclared = Object.keys(values).filter((variable) => !Object.hasOwn(schema.entries, variable));
    if (undeclared.length > 0) {
      throw new Error(`lambdas/${name}/env.ts does not declare ${undeclared.join(', ')}: declare or do not set them.`);
    }
    return values;
  }

  #addAlarms({ settings, name, errorThreshold = 1, ...props }: PipelineFunctionProps<S>): void {
    const { alarms } = settings;
    addAlarm(this, 'Errors', alarms, {
      severity: 'ticket',
      metric: this.fn.metricErrors(SUM_OF_FIVE_MINUTES),
      threshold: errorThreshold,
      description: `Invocations of the ${name} function fail, or it cannot start: read the error with the saved query about invocations that fail.`,
      runbookSection: 'function-errors',
    });
    addAlarm(this, 'Throttles', alarms, {
      severity: 'ticket',
      metric: this.fn.metricThrottles(SUM_OF_FIVE_MINUTES),
      threshold: 1,
      description: `The ${name} function was refused for want of concurrency: compare the account's quota with what runs.`,
      runbookSection: 'function-throttled',
    });
    if (props.usesWholeTimeout !== true) {
      addAlarm(this, 'NearTimeout', alarms, {
        severity: 'ticket',
        metric: this.fn.metricDuration({ period: Duration.minutes(5), statistic: 'Maximum' }),
        threshold: props.timeoutSeconds * 1_000 * NEAR_TIMEOUT_SHARE,
        // Once is a slow start or a hiccup of a service.
        periods: 3,
        datapoints: 2,
        description: `Invocations of the ${name} function nearly run out of time: find the slow call in its log before they are cut off.`,
        runbookSection: 'function-near-its-timeout',
      });
    }
    this.#watchOwnErrors(settings, name);
  }

  /** Workers are watched by lane, and the authorizer counts nothing. */
  #watchOwnErrors({ stageName, alarms }: FunctionSettings, name: string): void {
    const by = SERVICE_METRICS.unexpectedErrors.by.find((emitter) => emitter === name);
    if (by === undefined) return;
    watchErrors(this, {
      alarms,
      what: `Runs of the ${name} function`,
      errors: pipelineMetric(SERVICE_METRICS.unexpectedErrors, { stageName, by, ...SUM_OF_FIVE_MINUTES }),
      dependencyFailures: pipelineMetric(SERVICE_METRICS.dependencyFailures, { stageName, by, ...SUM_OF_FIVE_MINUTES }),
      misconfigurations: pipelineMetric(SERVICE_METRICS.misconfigurations, {
        stageName,
        by,
        statistic: 'Sum',
        period: MISCONFIGURATION_PERIOD,
      }),
    });
  }
}

/**
 * The library's word for a retention in days.
 *
 * @throws Error for a number of days that CloudWatch Logs does not offer.
 */
export function logRetention(days: number): logs.RetentionDays {
  const retention = Object.values(logs.RetentionDays).find(
    (value): value is logs.RetentionDays => Number(value) === days,
  );
  if (retention !== undefined) return retention;
  throw new Error(`CloudWatch Logs cannot keep logs for ${days} days: choose another number.`);
}

/** How the CDK writes a value that is not known yet into a text. */
const TOKEN = /\$\{Token\[[^\]]*\]\}/g;

const SUM_OF_FIVE_MINUTES = { period: Duration.minutes(5), statistic: 'Sum' };

/** Bundled by the esbuild of package.json, on the machine that synthesizes, without a container. */
const BUNDLING = {
  format: OutputFormat.ESM,
  target: 'node24',
  mainFields: ['module', 'main'],
  // The SDK of the runtime changes under the function; the bundled one is the one that was tested.
  externalModules: [],
  bundleAwsSDK: true,
  minify: true,
  logLevel: LogLevel.WARNING,
  // Logs and their queries distinguish errors by class name.
  keepNames: true,
  // CommonJS dependencies in an ES module ask for Node's modules through `require`.
  banner: "import{createRequire as _createRequire}from'node:module';const require=_createRequire(import.meta.url);",
};
