import dev from '../../config/stages/dev.ts';
import prod from '../../config/stages/prod.ts';
import { declaredResources, type DeployedResource } from '../cloud/index.ts';
import { synthesize } from '../synthesize.ts';
import { derivedOf } from './derived.ts';
import { blocksOf, withBlocks } from './document.ts';
import type { Standing } from './designs.ts';

/** The page with everything that is made from the code brought up to date. What is there all month is the same in every stage. */
export async function currentPage(page: string): Promise<string> {
  const resources = declaredResources(await synthesize({ stage: dev.name, bundling: false }));
  const stages = { dev: derivedOf(dev), prod: derivedOf(prod) };
  return withBlocks(page, blocksOf(stages, stages.prod, standingOf(resources)));
}

/** Counts in the templates what is billed by the month. */
function standingOf(resources: readonly DeployedResource[]): Standing {
  const many = (wanted: string): number => resources.filter(({ type }) => type === wanted).length;
  return { eventSources: many('AWS::Lambda::EventSourceMapping'), secrets: many('AWS::SecretsManager::Secret') };
}
