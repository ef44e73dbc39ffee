import dev from '../../config/stages/dev.ts';
import prod from '../../config/stages/prod.ts';
import { loadAssembly } from '../cloud/templates/assembly.ts';
import { synthesize } from '../cloud/templates/synthesize.ts';
import { derivedOf } from './derived.ts';
import { blocksOf, withBlocks } from './document.ts';
import { standingOf } from './standing.ts';

/** The page with everything that is made from the code brought up to date. What is there all month is the same in every stage. */
export async function currentPage(page: string): Promise<string> {
  const stacks = loadAssembly(await synthesize({ stage: dev.name, bundling: false }));
  const stages = { dev: derivedOf(dev), prod: derivedOf(prod) };
  return withBlocks(page, blocksOf(stages, stages.prod, standingOf(stacks)));
}
