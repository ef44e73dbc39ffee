import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import * as v from 'valibot';
import dev from '../../config/stages/dev.ts';
import prod from '../../config/stages/prod.ts';
import { PipelineFunction } from '../../lib/constructs/pipeline-function.ts';
import { authorizerEnvironment } from '../../lambdas/authorizer/env.ts';
import { fanOutEnvironment } from '../../lambdas/fan-out/env.ts';
import { finalizerEnvironment } from '../../lambdas/finalizer/env.ts';
import { webhooksEnvironment } from '../../lambdas/webhooks/env.ts';
import { PACE_SHARE } from '../../lambdas/domain/providers/config.ts';
import { previewEnvironment } from '../../lambdas/preview/env.ts';
import { reconcilerEnvironment } from '../../lambdas/reconciler/env.ts';
import { prepareEnvironment } from '../../lambdas/prepare/env.ts';
import { redriveEnvironment } from '../../lambdas/redrive/env.ts';
import { statusEnvironment } from '../../lambdas/status/env.ts';
import { submitEnvironment } from '../../lambdas/submit/env.ts';
import { common } from '../../lambdas/runtime/variables.ts';
import { workerEnvironment } from '../../lambdas/worker/env.ts';
import { synthesize } from './synthesized.ts';

const functionSchema = v.object({
  Architectures: v.array(v.string()),
  Environment: v.object({ Variables: v.objectWithRest({ POWERTOOLS_SERVICE_NAME: v.string() }, v.unknown()) }),
  Handler: v.string(),
  LoggingConfig: v.object({ LogGroup: v.unknown() }),
  MemorySize: v.number(),
  RecursiveLoop: v.picklist(['Allow', 'Terminate']),
  Role: v.unknown(),
  Runtime: v.string(),
  Timeout: v.number(),
});
const logGroupSchema = v.object({ RetentionInDays: v.optional(v.number()), LogGroupName: v.optional(v.unknown()) });

const SCHEMAS = {
  authorizer: authorizerEnvironment,
  submit: submitEnvironment,
  status: statusEnvironment,
  'fan-out': fanOutEnvironment,
  worker: workerEnvironment,
  finalizer: finalizerEnvironment,
  prepare: prepareEnvironment,
  preview: previewEnvironment,
  reconciler: reconcilerEnvironment,
  redrive: redriveEnvironment,
  webhooks: webhooksEnvironment,
};
const schemas = new Map(Object.entries(SCHEMAS));
const nameOf = ({ Environment }: v.InferOutput<typeof functionSchema>) => Environment.Variables.POWERTOOLS_SERVICE_NAME;

describe.each([dev, prod])('the functions of $name', (stage) => {
  const { ofType, referenced } = synthesize(stage);
  const functions = ofType('AWS::Lambda::Function', functionSchema);
  const logGroups = ofType('AWS::Logs::LogGroup', logGroupSchema);

  it('are one for each directory, and the worker once for each lane', () => {
    const names = functions.map(({ properties }) => nameOf(properties)).sort();
    expect(names).toEqual([...Object.keys(SCHEMAS), 'worker'].sort());
  });

  it.each(functions)('$id runs on Node.js 24 and arm64', ({ properties }) => {
    expect(properties).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'], Handler: 'index.handler' });
  });

  it.each(functions)('$id has the variables that it reads, and no others', ({ properties }) => {
    const declared = Object.keys(schemas.get(nameOf(properties))?.entries ?? {});
    expect(Object.keys(properties.Environment.Variables).sort()).toEqual(declared.sort());
    // The shortest name that deployments accept.
    for (const name of declared) expect(name).toMatch(/^[A-Z][A-Z0-9_]+$/);
  });

  it('each have a role of their own', () => {
    expect(new Set(functions.map(({ properties }) => referenced(properties.Role))).size).toBe(functions.length);
  });

  it('each have a log group of their own', () => {
    const groups = functions.map(({ properties }) => referenced(properties.LoggingConfig.LogGroup));
    expect(new Set(groups).size).toBe(functions.length);
    expect(logGroups.map(({ id }) => id)).toEqual(expect.arrayContaining(groups));
  });

  it('keep every log as long as the stage says', () => {
    expect(logGroups.map(({ properties }) => properties.RetentionInDays)).toEqual(
      logGroups.map(() => stage.logs.retentionDays),
    );
  });

  it('behind the API answer before the gateway gives up after 29 seconds', () => {
    for (const { properties } of functions) {
      if (!['authorizer', 'submit', 'status', 'preview'].includes(nameOf(properties))) continue;
      expect(properties.Timeout).toBeLessThan(29);
    }
  });

  it('may send to themselves without end where waiting works so, and nowhere else', () => {
    const allowed = functions.filter(({ properties }) => properties.RecursiveLoop === 'Allow');
    expect(allowed.map(({ properties }) => nameOf(properties)).sort()).toEqual([
      'fan-out',
      'finalizer',
      'prepare',
      'webhooks',
      'worker',
      'worker',
    ]);
  });
});

it('workers start calls at the rate of a provider, and the others expect what its concurrent calls let through', () => {
  const company = { ratePerSecond: 200, p99Ms: 500, maxConcurrentCalls: 40 };
  const { ofType } = synthesize({ ...dev, providers: { company } });
  const rates = ofType('AWS::Lambda::Function', functionSchema).flatMap(({ properties }) => {
    const text = properties.Environment.Variables['PROVIDER_RATES'];
    if (typeof text !== 'string') return [];
    const { company: rate } = v.parse(v.pipe(v.string(), v.parseJson(), v.object({ company: v.number() })), text);
    return `${nameOf(properties)} ${(rate * PACE_SHARE).toFixed(3)}`;
  });
  expect(rates.sort()).toEqual([
    'preview 40.000',
    'reconciler 40.000',
    'redrive 40.000',
    'status 40.000',
    'submit 40.000',
    'worker 197.000',
    'worker 197.000',
  ]);
});

it.each(Object.entries(SCHEMAS))('the %s function uses every variable that it has', (name, { entries }) => {
  const handler = readFileSync(join(import.meta.dirname, '..', '..', 'lambdas', name, 'handler.ts'), 'utf8');
  const used = new Set([...handler.matchAll(/\benv\.([A-Z_]+)/g)].map(([, variable]) => variable));
  // The authorizer writes neither logs nor metrics of its own, and still says whose it is like all of them.
  const spared = name === 'authorizer' ? Object.keys(common) : [];
  expect(Object.keys(entries).filter((variable) => !used.has(variable) && !spared.includes(variable))).toEqual([]);
});

describe('a function that is given', () => {
  const build = (environment: { TENANTS_TABLE: string }) => () =>
    new PipelineFunction(new Stack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'Stack'), 'Function', {
      settings: {
        stageName: 'test',
        logLevel: 'INFO',
        logRetentionDays: RetentionDays.ONE_WEEK,
        removalPolicy: RemovalPolicy.DESTROY,
        encryptionKey: undefined,
        alarms: { unwatchedBecause: 'a test deploys nothing' },
      },
      name: 'authorizer',
      description: 'Test',
      schema: authorizerEnvironment,
      environment,
      timeoutSeconds: 5,
      memoryMb: 128,
    });

  it('a variable with an unusable value fails the synthesis', () => {
    expect(build({ TENANTS_TABLE: '' })).toThrow(/Variable TENANTS_TABLE of the authorizer function is not usable/);
  });

  it('a variable that its schema does not have fails the synthesis', () => {
    const environment = { TENANTS_TABLE: 'tenants', RECORDS_TABLE: 'records' };
    expect(build(environment)).toThrow('lambdas/authorizer/env.ts does not declare RECORDS_TABLE');
  });
});
