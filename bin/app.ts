import { App } from 'aws-cdk-lib';
import { StageError } from '../config/stage.ts';
import { CapacityError } from '../lambdas/domain/capacity.ts';
import { loadStage } from '../lib/load-stage.ts';
import { addSluice } from '../lib/sluice.ts';
import { checkAgainstRules } from '../lib/suppressions.ts';

const DEFAULT_STAGE = 'dev';

/** `cdk synth -c stage=prod`: one stage at a time, its stacks, and the rules that they are checked against. */
async function main(): Promise<void> {
  const app = new App();
  const stage = await loadStage(app.node.tryGetContext('stage') ?? DEFAULT_STAGE);
  checkAgainstRules(app, addSluice(app, stage));
  app.synth();
}

try {
  await main();
} catch (error) {
  // Mistakes in the configuration say by themselves what to correct; a stack trace would hide it.
  if (!(error instanceof StageError || error instanceof CapacityError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
