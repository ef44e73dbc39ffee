import type { StackTemplate } from '../cloud/templates/assembly.ts';
import type { Standing } from './designs.ts';

/** Counts in the synthesized templates what is billed by the month. */
export function standingOf(stacks: readonly StackTemplate[]): Standing {
  const types = stacks.flatMap(({ template }) => Object.values(template.Resources).map(({ Type }) => Type));
  const many = (type: string): number => types.filter((each) => each === type).length;
  return { eventSources: many('AWS::Lambda::EventSourceMapping'), secrets: many('AWS::SecretsManager::Secret') };
}
