import { declaredResources, type DeployedResource } from '../../local/cloud/index.ts';
import { synthesize } from '../../local/synthesize.ts';

/** What the templates of a stage declare, with the names of an account. */
export interface SynthesizedStage {
  readonly name: string;
  readonly resources: readonly DeployedResource[];
}

/** Synthesizes a stage, or takes what was synthesized of the same sources before. */
export async function synthesizedStage(name: string): Promise<SynthesizedStage> {
  const resources = declaredResources(await synthesize({ stage: name, bundling: false }));
  return { name, resources };
}

export const ofType = ({ resources }: SynthesizedStage, type: string): DeployedResource[] =>
  resources.filter((resource) => resource.type === type);
