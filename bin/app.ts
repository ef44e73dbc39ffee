import { App } from 'aws-cdk-lib';
import { ConfigError } from '../config/fields.ts';
import { CapacityError } from '../lambdas/domain/capacity.ts';
import { loadStageOf } from '../lib/load-stage.ts';
import { addSluice } from '../lib/sluice.ts';
import { checkAgainstRules } from '../lib/suppressions.ts';

/** `cdk synth -c stage=prod`: one stage at a time, its stacks, and the rules that they are checked against. */
async function main(): Promise<void> {
  const app = new App();
  const context: unknown = app.node.getAllContext();
  const stage = await loadStageOf(context);
  checkAgainstRules(app, addSluice(app, stage));
  app.synth();
}

try {
  await main();
} catch (error) {
  // Mistakes in the configuration say by themselves what to correct; a stack trace would hide it.
  if (!(error instanceof ConfigError || error instanceof CapacityError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
