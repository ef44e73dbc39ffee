import { Annotations, CfnRule, Fn, type App, type Stack } from 'aws-cdk-lib';
import { providersOf, type Stage } from '../config/stage.ts';

/** Names that never belong to anybody, https://www.rfc-editor.org/rfc/rfc6761#section-6 */
const RESERVED = /(^|[.@])(example(\.(com|net|org))?|invalid|test)$/i;

const isReserved = (host: string | undefined): boolean => host !== undefined && RESERVED.test(host);

/** Something that an adopter has yet to set. */
export interface Placeholder {
  field: string;
  /** What is wrong with its value, and where to set it. */
  problem: string;
}

/** What the configuration of a stage leaves to be set before it can be deployed. */
export function placeholdersOf(stage: Stage): Placeholder[] {
  const { name, standInProviders, alarms } = stage;
  const file = `config/stages/${name}.ts`;
  const providers = standInProviders ? [] : providersOf(stage);
  const found = providers
    .filter(({ baseUrl }) => isReserved(URL.parse(baseUrl)?.hostname))
    .map((provider) => ({
      field: `providers.${provider.name}.baseUrl`,
      problem: `is ${provider.baseUrl}, where nobody answers: set it in ${file}, or baseUrl in config/providers.ts`,
    }));
  if (isReserved(alarms.email)) {
    found.push({ field: 'alarms.email', problem: `is ${alarms.email}, which nobody reads: set it in ${file}` });
  }
  if (isReserved(URL.parse(alarms.runbookUrl)?.hostname)) {
    found.push({
      field: 'alarms.runbookUrl',
      problem: `is ${alarms.runbookUrl}, which leads nowhere: set it in ${file}`,
    });
  }
  return found;
}

/**
 * Lets a stage with placeholders be synthesized, read and run on one machine, but not deployed: CloudFormation evaluates the rule
 * before it creates or changes anything, https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/rules-section-structure.html
 */
export function refuseToDeployPlaceholders(stack: Stack, stage: Stage): void {
  const placeholders = placeholdersOf(stage);
  if (placeholders.length === 0) return;
  new CfnRule(stack, 'PlaceholdersAreReplaced', {
    assertions: placeholders.map(({ field, problem }) => ({
      assert: Fn.conditionEquals('placeholder', 'replaced'),
      assertDescription: `${field} ${problem}. The stage sandbox needs no providers.`,
    })),
  });
}

/** Says once, whoever synthesizes, why the stage cannot be deployed yet. */
export function warnOfPlaceholders(app: App, stage: Stage): void {
  for (const { field, problem } of placeholdersOf(stage)) {
    Annotations.of(app).addWarningV2(
      `placeholder:${field}`,
      `Stage "${stage.name}" cannot be deployed: ${field} ${problem}.`,
    );
  }
}
