import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { PROVIDERS } from '../../config/providers.ts';
import dev from '../../config/stages/dev.ts';
import { declaredResources, type FunctionSpec } from '../cloud/index.ts';
import { synthesizeChanged } from './changed-project.ts';
import { reconcileNow, untilFinished, type Rig } from './rig.ts';

const ROOT = resolve(import.meta.dirname, '..', '..');
const PATIENCE_MS = 600_000;
/** How long each deployment stays, whatever gets finished meanwhile: without a provider that it was accepted with, a record waits. */
const STAY_MS = 4_000;

/** What the functions are deployed with while a file is open. */
interface Deployment {
  readonly name: string;
  /** Variables of the functions that declare them. */
  readonly variables: Readonly<Record<string, string>>;
  /** Directory of the code by logical id of the function; absent where the code stays. */
  readonly code?: ReadonlyMap<string, string>;
}

/** Below what any file of a drill has. */
const LOWERED: Deployment = {
  name: 'lowered limits',
  variables: { MAX_RECORDS: '10', MAX_RECORD_BYTES: '32', MAX_FILE_BYTES: '1000' },
};

/** A list of providers: names, each with the provider that it is otherwise like. */
type ProviderList = readonly (readonly [name: string, like: string])[];

/**
 * Deploys other lists of providers while a file is open, each followed by what was there before, and at last lowered limits, which
 * stay. A file lives under what it was accepted under.
 */
export async function deploySettings(rig: Rig, id: string, records: number): Promise<string> {
  const before = rig.sluice.functions.specs;
  const deployments = [LOWERED, ...(await otherProviders(rig))];
  for (const [index, deployment] of deployments.entries()) {
    await untilFinished(rig, id, (records * 0.8 * index) / deployments.length, PATIENCE_MS);
    deploy(rig, before, deployment);
    const until = performance.now() + STAY_MS;
    while (performance.now() < until) await reconcileNow(rig, id);
    deploy(rig, before, { name: 'before', variables: {} });
  }
  deploy(rig, before, LOWERED);
  return `deployed and taken back: ${deployments.map(({ name }) => name).join(', ')}; lowered limits at the end`;
}

function deploy({ sluice: { functions } }: Rig, specs: readonly FunctionSpec[], deployment: Deployment): void {
  for (const { name, logicalId, environment, codeDirectory } of specs) {
    const changed = Object.entries(deployment.variables).filter(([variable]) => variable in environment);
    functions.deploy(name, {
      environment: { ...environment, ...Object.fromEntries(changed) },
      codeDirectory: deployment.code?.get(logicalId) ?? codeDirectory,
    });
  }
}

/** One provider less, one more and one with another name, each answered by the stand-in of one that there is. */
async function otherProviders(rig: Rig): Promise<Deployment[]> {
  const names = PROVIDERS.map(({ name }) => name);
  const last = names.at(-1) ?? '';
  const lists: Readonly<Record<string, ProviderList>> = {
    'one provider less': names.slice(0, -1).map((name) => [name, name]),
    'one provider more': [...names, 'another'].map((name) => [name, name === 'another' ? last : name]),
    'one provider renamed': names.map((name) => [name === last ? 'renamed' : name, name]),
  };
  const deployments: Deployment[] = [];
  for (const [name, list] of Object.entries(lists)) deployments.push({ name, ...(await withProviders(rig, list)) });
  return deployments;
}

const functionSchema = v.object({ Environment: v.object({ Variables: v.record(v.string(), v.unknown()) }) });

async function withProviders({ sluice }: Rig, list: ProviderList): Promise<Omit<Deployment, 'name'>> {
  const providers = Object.fromEntries(list.map(([name, like]) => [name, dev.providers[like] ?? {}]));
  const assembly = await synthesizeChanged('changed', {
    'config/stages/changed.ts': `export default ${JSON.stringify({ ...dev, name: 'changed', providers })};\n`,
    'config/original.ts': await readFile(join(ROOT, 'config', 'providers.ts'), 'utf8'),
    'config/providers.ts': `import { PROVIDERS as ORIGINAL } from './original.ts';

export const PROVIDERS = ${JSON.stringify(list)}.map(([name, like]) => ({ ...ORIGINAL.find((each) => each.name === like), name }));
`,
  });
  const code = new Map<string, string>();
  const variables: Record<string, string> = {};
  for (const { type, logicalId, assetPath, properties } of declaredResources(assembly)) {
    const found = v.safeParse(functionSchema, properties);
    if (type !== 'AWS::Lambda::Function' || assetPath === undefined || !found.success) continue;
    code.set(logicalId, assetPath);
    for (const [name, value] of Object.entries(found.output.Environment.Variables)) {
      if (name.startsWith('PROVIDER_') && typeof value === 'string') variables[name] = value;
    }
  }
  const urls = list.map(([name, like]) => [name, sluice.providers.baseUrls[like]]);
  return { code, variables: { ...variables, PROVIDER_BASE_URLS: JSON.stringify(Object.fromEntries(urls)) } };
}
