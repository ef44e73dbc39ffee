import { randomUUID } from 'node:crypto';
import { Authorizer } from './aws/authorization/authorizer.ts';
import { keysByResource } from './aws/authorization/keys.ts';
import { collectPolicies, type PolicySet } from './aws/authorization/policies.ts';
import { type Principal, servicePrincipal } from './aws/authorization/principals.ts';
import { Emulator } from './aws/emulators/emulator.ts';
import { CallLog } from './aws/front/call-log.ts';
import { Credentials } from './aws/front/credentials.ts';
import { FaultInjector } from './aws/front/faults.ts';
import { Gate } from './aws/front/gate.ts';
import { Front } from './aws/front/server.ts';
import { ThreadUpstream } from './aws/front/thread-upstream.ts';
import { Upstream } from './aws/front/upstream.ts';
import { provision } from './aws/provision.ts';
import { DynamoDbService } from './aws/services/dynamodb.ts';
import { LambdaService } from './aws/services/lambda.ts';
import { S3Service } from './aws/services/s3.ts';
import { SecretsService } from './aws/services/secrets.ts';
import { SnsService } from './aws/services/sns.ts';
import { SqsService } from './aws/services/sqs.ts';
import { StsService } from './aws/services/sts.ts';
import { textOf } from './aws/shapes.ts';
import type { AuthorizationRequest, Cloud, CloudOptions, DeployedResource, QueueDepth } from './contract.ts';
import { LocalCloudError } from './errors.ts';
import { loadAssembly, type StackTemplate } from './templates/assembly.ts';
import { DEFAULT_ACCOUNT, DEFAULT_REGION, type EvaluatedAssembly, evaluateAssembly } from './templates/evaluate.ts';
import { NameSource } from './templates/names.ts';

/** Everything that runs, so that it can be stopped again. */
interface Running {
  readonly front: Front;
  readonly fauxqs: Emulator;
  readonly dynalite: Emulator;
  readonly upstreams: { readonly fauxqs: Upstream; readonly dynalite: ThreadUpstream };
}

/**
 * Starts a local cloud from a cloud assembly: emulators, resources, and the endpoint that checks every call. Several can
 * run side by side, in one process or in many; each has its own ports, names and state.
 *
 * @throws LocalCloudError naming stack, logical id and property for what the local cloud does not understand
 */
export async function startCloud(options: CloudOptions): Promise<Cloud> {
  const stacks = select(loadAssembly(options.assemblyDirectory), options.stacks);
  const region = options.region ?? common(stacks, 'region') ?? DEFAULT_REGION;
  const accountId = options.accountId ?? common(stacks, 'account') ?? DEFAULT_ACCOUNT;
  const front = new Front();
  const port = await front.listen(options.port ?? 0);
  const endpoint = `http://127.0.0.1:${port}`;
  const names = new NameSource(options.seed === undefined ? randomUUID() : String(options.seed));
  const started: Partial<Running> = { front };
  try {
    const assembly = evaluateAssembly(stacks, { endpoint, region, accountId, names });
    const running = Object.assign(started, await startEmulators({ region, accountId }), { front });
    return await openCloud(running, assembly, {
      endpoint,
      region,
      accountId,
      seed: options.seed ?? 1,
      metersCapacity: options.metersCapacity ?? false,
    });
  } catch (error) {
    await stopAll(started);
    throw error;
  }
}

async function startEmulators(environment: { region: string; accountId: string }): Promise<Omit<Running, 'front'>> {
  const onFailure = (error: Error): void => console.error('An emulator of the local cloud failed:', error);
  const [fauxqs, dynalite] = await Promise.all([
    Emulator.start('fauxqs', {}, onFailure),
    Emulator.start('dynalite', { AWS_ACCOUNT_ID: environment.accountId, AWS_REGION: environment.region }, onFailure),
  ]);
  const upstreams = { fauxqs: new Upstream(fauxqs.port), dynalite: new ThreadUpstream(dynalite) };
  return { fauxqs, dynalite, upstreams };
}

async function openCloud(
  running: Running,
  assembly: EvaluatedAssembly,
  environment: { endpoint: string; region: string; accountId: string; seed: number; metersCapacity: boolean },
): Promise<Cloud> {
  const { resources } = assembly;
  const { region, accountId } = environment;
  const byType = (...types: string[]): DeployedResource[] => resources.filter(({ type }) => types.includes(type));
  const policies = collectPolicies(resources);
  const authorizer = new Authorizer(policies, keysByResource(resources), environment);
  await checkTrust(byType('AWS::Lambda::Function'), authorizer);
  await provision(resources, { fauxqs: running.fauxqs, dynalite: running.upstreams.dynalite }, authorizer, region);
  const credentials = new Credentials(policies, accountId);
  const faults = new FaultInjector(environment.seed);
  const log = new CallLog();
  const gate = new Gate(authorizer, faults);
  const { fauxqs, dynalite } = running.upstreams;
  const lambda = new LambdaService(gate, byType('AWS::Lambda::Function'));
  const sns = new SnsService(gate, fauxqs, byType('AWS::SNS::Topic'));
  const services = [
    new SqsService(gate, fauxqs, byType('AWS::SQS::Queue')),
    sns,
    new S3Service(gate, fauxqs, byType('AWS::S3::Bucket'), region),
    new DynamoDbService(gate, dynalite, byType('AWS::DynamoDB::Table', 'AWS::DynamoDB::GlobalTable'), environment),
    new SecretsService(gate, byType('AWS::SecretsManager::Secret')),
    new StsService(accountId),
    lambda,
  ];
  running.front.open({ services, credentials, log });
  return {
    awsEndpoint: environment.endpoint,
    region,
    accountId,
    resources,
    outputs: assembly.outputs,
    ignored: assembly.ignored,
    byType: (type) => byType(type),
    byLogicalId: (logicalId, stack) => byLogicalId(resources, logicalId, stack),
    find: (id) => resources.find(({ arn, physicalId }) => physicalId === id || (arn !== '' && arn === id)),
    credentialsFor: (roleArn, functionName) => credentials.forFunction(roleArn, functionName),
    operatorCredentials: credentials.operator,
    authorize: (request) => authorizer.authorize(queryOf(request, policies, credentials)),
    async publish({ principal, topicArn, subject, message, context = {} }) {
      const request = { principal, action: 'sns:Publish', resource: topicArn, context };
      const decision = await authorizer.authorize(queryOf(request, policies, credentials));
      if (decision.allowed) await sns.publish(topicArn, subject, message);
      return decision;
    },
    denials: () => authorizer.denials(),
    usedStatements: () => authorizer.usedStatements(),
    unusedStatements: () => authorizer.unusedStatements(),
    refusedWithout: (statement) => authorizer.refusedWithout(statement),
    withhold: (statement) => authorizer.withhold(statement),
    faults,
    calls: () => log.counts(),
    onCall: (observer) => log.observe(observer),
    inspect: { queueDepth: (queue) => queueDepth(running.fauxqs, resources, queue) },
    attachInvoker: (invoker) => lambda.attach(invoker),
    stop: () => stopAll(running),
  };
}

/** Lambda runs a function under its role only if the role trusts Lambda. */
async function checkTrust(functions: readonly DeployedResource[], authorizer: Authorizer): Promise<void> {
  for (const { stack, logicalId, properties } of functions) {
    const resource = textOf(properties['Role']);
    const principal = servicePrincipal('lambda.amazonaws.com');
    const { allowed, message } = await authorizer.decide({ principal, action: 'sts:AssumeRole', resource });
    if (!allowed) throw new LocalCloudError(`${stack}/${logicalId} cannot run under its role: ${message}.`);
  }
}

async function stopAll({ front, upstreams, fauxqs, dynalite }: Partial<Running>): Promise<void> {
  await front?.stop();
  upstreams?.fauxqs.stop();
  await Promise.all([fauxqs?.stop(), dynalite?.stop()]);
}

function queryOf(
  request: AuthorizationRequest,
  policies: PolicySet,
  credentials: Credentials,
): { principal: Principal; action: string; resource: string; context?: AuthorizationRequest['context'] & {} } {
  const { principal, functionName, action, resource, context } = request;
  const who = policies.roles.has(principal)
    ? credentials.sessionOf(principal, functionName)
    : servicePrincipal(principal);
  return { principal: who, action, resource, ...(context === undefined ? {} : { context }) };
}

async function queueDepth(
  fauxqs: Emulator,
  resources: readonly DeployedResource[],
  urlOrArn: string,
): Promise<QueueDepth> {
  const queue = resources.find(
    ({ type, arn, physicalId }) => type === 'AWS::SQS::Queue' && (arn === urlOrArn || physicalId === urlOrArn),
  );
  const depth =
    queue === undefined
      ? undefined
      : await fauxqs.command('queueDepth', { name: textOf(queue.attributes['QueueName']) });
  if (depth !== undefined) return depth;
  throw new LocalCloudError(`The local cloud has no queue ${urlOrArn}.`);
}

function byLogicalId(resources: readonly DeployedResource[], logicalId: string, stack?: string): DeployedResource {
  const found = resources.filter(
    (resource) => resource.logicalId === logicalId && (stack === undefined || resource.stack === stack),
  );
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  throw new LocalCloudError(
    found.length === 0
      ? `No stack declares a resource ${logicalId}.`
      : `${found.map((resource) => resource.stack).join(' and ')} all declare ${logicalId}; name the stack.`,
  );
}

function select(stacks: StackTemplate[], wanted: readonly string[] | undefined): StackTemplate[] {
  if (wanted === undefined) return stacks;
  const missing = wanted.find((name) => !stacks.some((stack) => stack.name === name));
  if (missing === undefined) return stacks.filter(({ name }) => wanted.includes(name));
  throw new LocalCloudError(
    `The assembly has no stack ${missing}; it has ${stacks.map(({ name }) => name).join(', ')}.`,
  );
}

/** The account or region that the stacks were synthesized for; undefined where they were made for any. */
function common(stacks: readonly StackTemplate[], what: 'region' | 'account'): string | undefined {
  const values = new Set(stacks.map((stack) => stack[what]).filter((value) => value !== undefined));
  if (values.size > 1) {
    throw new LocalCloudError(
      `The stacks are for more than one ${what}: ${[...values].join(', ')}; run one at a time.`,
    );
  }
  return [...values][0];
}
