import { resolve } from 'node:path';
import * as v from 'valibot';
import { PROVIDERS } from '../config/providers.ts';
import { startAlarms, type RunningAlarms } from './cloud/alarms/start.ts';
import { startApiGateway } from './cloud/apigateway/start.ts';
import { startCloud } from './cloud/cloud.ts';
import type { Cloud, DeployedResource } from './cloud/contract.ts';
import { controlsOf, type Controls } from './controls.ts';
import { LocalCloudError } from './cloud/errors.ts';
import { startEvents, type Events } from './cloud/events/start.ts';
import { LocalFunctions } from './cloud/lambda/functions.ts';
import { LogStore, type LogStoreOptions } from './cloud/lambda/logs.ts';
import { Metrics } from './cloud/metrics/collect.ts';
import { providersOfStage } from './providers/of-stage.ts';
import { startProviders, type Providers } from './providers/start.ts';
import { resourceNames, type ResourceNames } from './cloud/resources.ts';
import { putProvidersSecret, randomCredentials } from './secret.ts';
import { synthesize } from './cloud/templates/synthesize.ts';
import { createTenants, type LocalTenant } from './tenants.ts';

const ROOT = resolve(import.meta.dirname, '..');
const DEFAULT_STAGE = 'dev';
const DEFAULT_TENANTS = ['acme', 'globex'];

export interface LocalOptions {
  /** Stage under `config/stages`. Default `dev`. */
  readonly stage?: string;
  /** Further CDK context, as with `-c key=value`. */
  readonly context?: Readonly<Record<string, string>>;
  /** A cloud assembly to run in place of synthesizing one. */
  readonly assemblyDirectory?: string;
  /** Default: `acme` and `globex`. */
  readonly tenantIds?: readonly string[];
  /** Ports; default 0, any free one. */
  readonly ports?: { readonly api?: number; readonly aws?: number; readonly providers?: number };
  /** Execution environments of one function at most. Default 4: the machine, not the account, is the limit here. */
  readonly maxEnvironments?: number;
  /** `manual`: schedules fire only by `fireSchedule`. Default `clock`. */
  readonly schedules?: 'clock' | 'manual';
  /** Divides the waits between tries of asynchronous invocations. Default 1. */
  readonly asyncSpeed?: number;
  /** Values in place of the templates', for variables that functions declare: drills do not wait as long as an account must. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly logs?: LogStoreOptions;
  /** Has DynamoDB calls say what capacity they consumed, see `CloudOptions`. */
  readonly metersCapacity?: boolean;
  /** Seeds names and faults. Default: random names. */
  readonly seed?: number;
  /** Told what is being done while it starts. */
  readonly onProgress?: (message: string) => void;
}

/** The whole of Sluice on this machine, and the handles that tests and demonstrations need. */
export interface LocalSluice extends Controls {
  /** `http://127.0.0.1:PORT/<stage>`; the API's paths (`/v1/…`) are appended. */
  readonly apiUrl: string;
  readonly tenants: readonly LocalTenant[];
  readonly awsEndpoint: string;
  readonly providersUrl: string;
  readonly resources: ResourceNames;
  readonly cloud: Cloud;
  readonly functions: LocalFunctions;
  readonly events: Events;
  readonly metrics: Metrics;
  /** States of the alarms, and a way to hear of transitions. */
  readonly alarms: RunningAlarms;
  readonly providers: Providers;
  /** Ends every process and socket. */
  stop(): Promise<void>;
}

/**
 * Synthesizes the stacks and runs them: queues, tables, objects, functions, event sources, schedules, the API, and stand-ins
 * for the providers with their credentials in the secret.
 *
 * @throws LocalCloudError naming what cannot run here; nothing is left running
 */
export async function startLocal(options: LocalOptions = {}): Promise<LocalSluice> {
  const started: (() => Promise<void> | void)[] = [];
  const stop = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (const end of started.splice(0).toReversed()) {
      try {
        await end();
      } catch (error) {
        // What else runs is stopped all the same.
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'Not everything could be stopped.');
  };
  try {
    return await startAll(options, started, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startAll(
  options: LocalOptions,
  started: (() => Promise<void> | void)[],
  stop: () => Promise<void>,
): Promise<LocalSluice> {
  const { onProgress = () => undefined, ports = {} } = options;
  onProgress('Synthesizing the stacks');
  const stage = options.stage ?? DEFAULT_STAGE;
  const assemblyDirectory =
    options.assemblyDirectory ?? (await synthesize({ stage, ...optional('context', options.context) }));

  onProgress('Starting queues, tables and objects');
  const cloud = await startCloud({
    assemblyDirectory,
    ...optional('port', ports.aws),
    ...optional('seed', options.seed),
    ...optional('metersCapacity', options.metersCapacity),
  });
  started.push(() => cloud.stop());

  onProgress('Starting the stand-in providers');
  const credentials = randomCredentials(PROVIDERS.map(({ name }) => name));
  const standIns = providersOfStage(cloud, options.variables);
  const providers = await startProviders({ providers: standIns, credentials, ...optional('port', ports.providers) });
  started.push(() => providers.stop());
  const secret = only(cloud, 'AWS::SecretsManager::Secret');
  await putProvidersSecret(cloud, secret.arn, credentials);
  const tenantsTable = v.parse(v.string(), cloud.outputs[secret.stack]?.['TenantsTableName']);
  const tenants = await createTenants(cloud, tenantsTable, options.tenantIds ?? DEFAULT_TENANTS);

  onProgress('Starting functions, event sources and the API');
  const running = await startRuntime(options, cloud, providers, started);
  const resources = resourceNames(cloud);
  const controls = controlsOf(cloud, running.functions, running.events, resources);
  const { awsEndpoint } = cloud;
  const { providersUrl } = providers;
  return { tenants, cloud, awsEndpoint, providers, providersUrl, resources, ...running, ...controls, stop };
}

interface Runtime {
  readonly functions: LocalFunctions;
  readonly events: Events;
  readonly metrics: Metrics;
  readonly alarms: RunningAlarms;
  readonly apiUrl: string;
}

async function startRuntime(
  options: LocalOptions,
  cloud: Cloud,
  providers: Providers,
  started: (() => Promise<void> | void)[],
): Promise<Runtime> {
  const logs = new LogStore(options.logs);
  const functions = await LocalFunctions.create({
    cloud,
    cacheDirectory: resolve(ROOT, '.local', 'runtime'),
    // The stand-ins take the providers' place; everything else is as the template has it, unless a drill says otherwise.
    overrides: { ...options.variables, PROVIDER_BASE_URLS: JSON.stringify(providers.baseUrls) },
    maxEnvironments: options.maxEnvironments ?? 4,
    logs,
    ...optional('asyncSpeed', options.asyncSpeed),
  });
  cloud.attachInvoker(functions);
  const metrics = new Metrics({ cloud, functions });
  const alarms = startAlarms({ cloud, store: metrics.store });
  const events = startEvents({ cloud, functions, ...optional('schedules', options.schedules) });
  started.push(
    () => metrics.stop(),
    () => alarms.stop(),
    // Event sources end when their invocations do, and these end when the functions are stopped.
    async () => void (await Promise.all([events.stop(), functions.stop()])),
  );
  const api = await startApiGateway({
    cloud,
    invoker: functions,
    onRequest: (report) => metrics.requested(report),
    onAccessLog: (source, text) =>
      logs.append({ atMs: Date.now(), source, logStream: 'api', requestId: undefined, text }),
    ...optional('port', options.ports?.api),
  });
  started.push(() => api.stop());
  return { functions, events, metrics, alarms, apiUrl: api.apiUrl };
}

function only(cloud: Cloud, type: string): DeployedResource {
  const found = cloud.byType(type);
  const [resource] = found;
  if (resource !== undefined && found.length === 1) return resource;
  throw new LocalCloudError(
    `The templates have ${found.length} resources of type ${type}; exactly one is needed here.`,
  );
}

/** An object with the member, or without any where the value is undefined. */
function optional<K extends string, T>(name: K, value: T | undefined): { [key in K]?: T } {
  const made: { [key in K]?: T } = {};
  if (value !== undefined) made[name] = value;
  return made;
}
