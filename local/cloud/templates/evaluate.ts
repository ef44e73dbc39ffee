import type { DeployedResource, Json } from '../contract.ts';
import { LocalCloudError } from '../errors.ts';
import { loadAssembly, type StackTemplate } from './assembly.ts';
import { evaluate } from './intrinsics.ts';
import { NameSource } from './names.ts';
import { StackEvaluation } from './stack.ts';
import type { CloudEnvironment } from './types/model.ts';

/** What the templates amount to once every intrinsic is evaluated. */
export interface EvaluatedAssembly {
  /** In the order in which CloudFormation could create them. */
  readonly resources: readonly DeployedResource[];
  /** Outputs by stack name and output key. */
  readonly outputs: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  /** Resources that were left out, as `stack/logicalId (type): reason`. */
  readonly ignored: readonly string[];
}

/** Region and account of templates that were synthesized for any. */
export const DEFAULT_REGION = 'us-east-1';
export const DEFAULT_ACCOUNT = '123456789012';

/**
 * The resources of a cloud assembly with the names of an account, the same ones every time. Nothing is started.
 *
 * @throws LocalCloudError as `evaluateAssembly`
 */
export const declaredResources = (assemblyDirectory: string): readonly DeployedResource[] =>
  evaluateAssembly(loadAssembly(assemblyDirectory), {
    endpoint: 'http://127.0.0.1',
    region: DEFAULT_REGION,
    accountId: DEFAULT_ACCOUNT,
    names: new NameSource('declared'),
  }).resources;

/**
 * Evaluates the stacks of a cloud assembly for this machine: every resource gets the names, ARNs and attributes it would
 * have once created, and every intrinsic function is replaced by its value. Nothing is created.
 *
 * @param stacks each after those it imports from, as `loadAssembly` gives them
 * @throws LocalCloudError naming stack, logical id, type and property for everything that is not understood
 */
export function evaluateAssembly(stacks: readonly StackTemplate[], environment: CloudEnvironment): EvaluatedAssembly {
  const exported = new Map<string, Json>();
  const resources: DeployedResource[] = [];
  const outputs: Record<string, Record<string, Json>> = {};
  const ignored: string[] = [];
  for (const stack of stacks) {
    const evaluation = new StackEvaluation(stack, environment, exported);
    const result = evaluation.run();
    resources.push(...result.resources);
    ignored.push(...result.ignored);
    outputs[stack.name] = evaluateOutputs(stack, evaluation, exported);
  }
  return { resources, outputs, ignored };
}

function evaluateOutputs(
  stack: StackTemplate,
  evaluation: StackEvaluation,
  exported: Map<string, Json>,
): Record<string, Json> {
  const outputs: Record<string, Json> = {};
  for (const [key, output] of Object.entries(stack.template.Outputs)) {
    const scope = evaluation.scope(`${stack.name}, output ${key}`);
    if (output.Condition !== undefined && !scope.condition(output.Condition)) continue;
    const value = evaluate(output.Value, scope);
    outputs[key] = value;
    if (output.Export === undefined) continue;
    const name = evaluate(output.Export.Name, scope);
    if (typeof name !== 'string') throw new LocalCloudError(`${scope.place}: the export's name is not text.`);
    if (exported.has(name)) throw new LocalCloudError(`${scope.place}: the export ${name} exists already.`);
    exported.set(name, value);
  }
  return outputs;
}
