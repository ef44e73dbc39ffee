import type { DeployedResource } from '../../local/cloud/contract.ts';
import { loadAssembly } from '../../local/cloud/templates/assembly.ts';
import { evaluateAssembly } from '../../local/cloud/templates/evaluate.ts';
import { NameSource } from '../../local/cloud/templates/names.ts';
import { synthesize } from '../../local/cloud/templates/synthesize.ts';

/** What the templates of a stage declare, with the names of an account. */
export interface SynthesizedStage {
  readonly name: string;
  readonly resources: readonly DeployedResource[];
}

/** Synthesizes a stage, or takes what was synthesized of the same sources before. */
export async function synthesizedStage(name: string): Promise<SynthesizedStage> {
  const stacks = loadAssembly(await synthesize({ stage: name, bundling: false }));
  const { resources } = evaluateAssembly(stacks, {
    endpoint: 'http://127.0.0.1',
    region: 'us-east-1',
    accountId: '123456789012',
    names: new NameSource('alarms'),
  });
  return { name, resources };
}

export const ofType = ({ resources }: SynthesizedStage, type: string): DeployedResource[] =>
  resources.filter((resource) => resource.type === type);
