import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import type { Json, JsonObject } from '../contract.ts';
import { LocalCloudError } from '../errors.ts';

const jsonObject = v.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);
const json = v.custom<Json>((value) => value !== undefined);

const manifestSchema = v.object({
  artifacts: v.optional(
    v.record(
      v.string(),
      v.object({
        type: v.string(),
        environment: v.optional(v.string()),
        dependencies: v.optional(v.array(v.string())),
        displayName: v.optional(v.string()),
        properties: v.optional(jsonObject),
      }),
    ),
    {},
  ),
});

const templateSchema = v.object({
  Resources: v.optional(
    v.record(
      v.string(),
      v.object({
        Type: v.string(),
        Properties: v.optional(jsonObject, {}),
        DependsOn: v.optional(v.union([v.string(), v.array(v.string())]), []),
        Condition: v.optional(v.string()),
        Metadata: v.optional(jsonObject, {}),
      }),
    ),
    {},
  ),
  Parameters: v.optional(v.record(v.string(), v.object({ Type: v.string(), Default: v.optional(json) })), {}),
  Conditions: v.optional(v.record(v.string(), json), {}),
  Mappings: v.optional(v.record(v.string(), v.record(v.string(), v.record(v.string(), json))), {}),
  Outputs: v.optional(
    v.record(
      v.string(),
      v.object({ Value: json, Export: v.optional(v.object({ Name: json })), Condition: v.optional(v.string()) }),
    ),
    {},
  ),
});

const assetsSchema = v.object({
  files: v.optional(
    v.record(
      v.string(),
      v.object({
        source: v.object({ path: v.optional(v.string()) }),
        destinations: v.record(v.string(), v.object({ objectKey: v.string() })),
      }),
    ),
    {},
  ),
});

/** The parts of a CloudFormation template that the local cloud evaluates. */
export type Template = v.InferOutput<typeof templateSchema>;
export type TemplateResource = Template['Resources'][string];

/** One stack of a cloud assembly. */
export interface StackTemplate {
  readonly name: string;
  readonly template: Template;
  /** Absolute path of each file asset by its object key in the staging bucket. */
  readonly assets: ReadonlyMap<string, string>;
  /** Undefined where the stack was synthesized for any account. */
  readonly account: string | undefined;
  /** Undefined where the stack was synthesized for any region. */
  readonly region: string | undefined;
}

type Artifact = NonNullable<v.InferOutput<typeof manifestSchema>['artifacts']>[string];

/**
 * Reads a cloud assembly as `cdk synth` writes it, nested assemblies of stages included.
 *
 * @returns the stacks, each after those it depends on
 * @throws LocalCloudError when the directory holds no assembly or no stack
 */
export function loadAssembly(directory: string): StackTemplate[] {
  const stacks = readStacks(resolve(directory));
  if (stacks.length === 0) throw new LocalCloudError(`The cloud assembly ${directory} holds no stack.`);
  return stacks;
}

function readStacks(directory: string): StackTemplate[] {
  const artifacts = readJson(join(directory, 'manifest.json'), manifestSchema).artifacts;
  const stacks: StackTemplate[] = [];
  const visited = new Set<string>();
  const visit = (id: string): void => {
    const artifact = artifacts[id];
    if (artifact === undefined || visited.has(id)) return;
    visited.add(id);
    for (const dependency of artifact.dependencies ?? []) visit(dependency);
    if (artifact.type === 'aws:cloudformation:stack') stacks.push(readStack(directory, id, artifact, artifacts));
    if (artifact.type === 'cdk:cloud-assembly') {
      stacks.push(...readStacks(join(directory, text(artifact.properties?.['directoryName'], id))));
    }
  };
  for (const id of Object.keys(artifacts)) visit(id);
  return stacks;
}

function readStack(
  directory: string,
  id: string,
  artifact: Artifact,
  artifacts: Record<string, Artifact>,
): StackTemplate {
  const properties = artifact.properties ?? {};
  const [account, region] = (artifact.environment ?? '').replace(/^aws:\/\//, '').split('/');
  const assets = new Map<string, string>();
  for (const dependency of artifact.dependencies ?? []) {
    const manifest = artifacts[dependency];
    if (manifest?.type !== 'cdk:asset-manifest') continue;
    readAssets(directory, text(manifest.properties?.['file'], dependency), assets);
  }
  return {
    name: typeof properties['stackName'] === 'string' ? properties['stackName'] : id,
    template: readJson(join(directory, text(properties['templateFile'], id)), templateSchema),
    assets,
    account: known(account, 'unknown-account'),
    region: known(region, 'unknown-region'),
  };
}

function readAssets(directory: string, file: string, into: Map<string, string>): void {
  for (const asset of Object.values(readJson(join(directory, file), assetsSchema).files)) {
    if (asset.source.path === undefined) continue;
    for (const { objectKey } of Object.values(asset.destinations)) {
      into.set(objectKey, join(directory, asset.source.path));
    }
  }
}

function readJson<T extends v.GenericSchema>(file: string, schema: T): v.InferOutput<T> {
  if (!existsSync(file)) {
    throw new LocalCloudError(`There is no ${file}. Synthesize the app first (cdk synth), or name another directory.`);
  }
  const parsed = v.safeParse(schema, JSON.parse(readFileSync(file, 'utf8')));
  if (parsed.success) return parsed.output;
  const issue = parsed.issues[0];
  throw new LocalCloudError(`${file} is not what cdk synth writes: ${v.getDotPath(issue) ?? 'it'}: ${issue.message}`);
}

function text(value: Json | undefined, artifact: string): string {
  if (typeof value === 'string') return value;
  throw new LocalCloudError(`Artifact ${artifact} of the cloud assembly names no file; was it written by another CDK?`);
}

function known(value: string | undefined, unknown: string): string | undefined {
  return value === undefined || value === '' || value === unknown ? undefined : value;
}
