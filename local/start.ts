import { resolve } from 'node:path';
import * as v from 'valibot';
import { PROVIDERS } from '../config/providers.ts';
import {
  resourceNames,
  startLocalCloud,
  type Cloud,
  type DeployedResource,
  type LocalCloud,
  type LocalCloudOptions,
  type ResourceNames,
} from './cloud/index.ts';
import { controlsOf, type Controls } from './controls.ts';
import { LocalError } from './errors.ts';
import { providersOfStage } from './providers/of-stage.ts';
import { startProviders, type Providers } from './providers/start.ts';
import { createTenants, putProvidersSecret, randomCredentials, type LocalTenant } from './setup.ts';
import { synthesize } from './synthesize.ts';

const CACHE_DIRECTORY = resolve(import.meta.dirname, '..', '.local', 'runtime');
const DEFAULT_STAGE = 'dev';
const DEFAULT_TENANTS = ['acme', 'globex'];

type CloudSettings = 'maxEnvironments' | 'schedules' | 'asyncSpeed' | 'logs' | 'metersCapacity' | 'seed';

export interface LocalOptions extends Pick<LocalCloudOptions, CloudSettings> {
  /** Stage under `config/stages`. Default `dev`. */
  readonly stage?: string | undefined;
  /** Further CDK context, as with `-c key=value`. */
  readonly context?: Readonly<Record<string, string>> | undefined;
  /** A cloud assembly to run in place of synthesizing one. */
  readonly assemblyDirectory?: string;
  /** Default: `acme` and `globex`. */
  readonly tenantIds?: readonly string[];
  /** Ports; default 0, any free one. */
  readonly ports?: { readonly api?: number | undefined; readonly aws?: number | undefined };
  /** Values in place of the templates', for variables that functions declare: drills do not wait as long as an account must. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Called with what is being done while it starts. */
  readonly onProgress?: (message: string) => void;
}

/** The whole of Sluice on this machine, and the handles that tests and demonstrations need. */
export interface LocalSluice extends Omit<LocalCloud, 'apiUrl'>, Controls {
  /** `http://127.0.0.1:PORT/<stage>`; the API's paths (`/v1/…`) are appended. */
  readonly apiUrl: string;
  readonly tenants: readonly LocalTenant[];
  readonly awsEndpoint: string;
  readonly providersUrl: string;
  readonly resources: ResourceNames;
  readonly providers: Providers;
}

/**
 * Synthesizes the stacks and runs them, with stand-ins for the providers and their credentials in the secret.
 *
 * @throws LocalCloudError naming what cannot run here; nothing is left running
 */
export async function startLocal(options: LocalOptions = {}): Promise<LocalSluice> {
  const { onProgress = () => undefined, stage = DEFAULT_STAGE, context, ports, variables, ...settings } = options;
  onProgress('Synthesizing the stacks');
  const assemblyDirectory = options.assemblyDirectory ?? (await synthesize({ stage, context }));
  const started: { providers?: Providers; tenants?: readonly LocalTenant[] } = {};
  try {
    onProgress('Starting queues, tables and objects');
    const running = await startLocalCloud({
      ...settings,
      assemblyDirectory,
      cacheDirectory: CACHE_DIRECTORY,
      port: ports?.aws,
      apiPort: ports?.api,
      prepare: async (cloud) => {
        onProgress('Starting the stand-in providers');
        const credentials = randomCredentials(PROVIDERS.map(({ name }) => name));
        started.providers = await startProviders({ providers: providersOfStage(cloud, variables), credentials });
        const secret = only(cloud, 'AWS::SecretsManager::Secret');
        // A stage may bring stand-ins of its own, which then answer here as well.
        const bringsStandIns = cloud.byType('AWS::Lambda::Url').length > 0;
        if (!bringsStandIns) await putProvidersSecret(cloud, secret.arn, credentials);
        const tenantsTable = v.parse(v.string(), cloud.outputs[secret.stack]?.['TenantsTableName']);
        started.tenants = await createTenants(cloud, tenantsTable, options.tenantIds ?? DEFAULT_TENANTS);
        onProgress('Starting functions, event sources and the API');
        // The stand-ins take the providers' place; everything else is as the template has it, unless a drill says otherwise.
        const baseUrls = bringsStandIns ? {} : { PROVIDER_BASE_URLS: JSON.stringify(started.providers.baseUrls) };
        return { ...variables, ...baseUrls };
      },
    });
    const { providers, tenants = [] } = started;
    const { cloud, apiUrl } = running;
    if (providers === undefined || apiUrl === undefined) throw new LocalError('The templates declare no REST API.');
    const resources = resourceNames(cloud);
    return {
      ...running,
      ...controlsOf(running, resources),
      apiUrl,
      tenants,
      providers,
      resources,
      awsEndpoint: cloud.awsEndpoint,
      providersUrl: providers.providersUrl,
      async stop() {
        await running.stop();
        await providers.stop();
      },
    };
  } catch (error) {
    await started.providers?.stop();
    throw error;
  }
}

function only(cloud: Cloud, type: string): DeployedResource {
  const found = cloud.byType(type);
  const [resource] = found;
  if (resource !== undefined && found.length === 1) return resource;
  throw new LocalError(`The templates have ${found.length} resources of type ${type}; exactly one is needed here.`);
}
