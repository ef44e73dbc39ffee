import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { StageError, type Stage } from '../config/stage.ts';
import { addSluice } from '../lib/sluice.ts';
import { checkAgainstRules } from '../lib/suppressions.ts';

const DEFAULT_STAGE = 'dev';
const STAGES_DIRECTORY = join(import.meta.dirname, '..', 'config', 'stages');

const app = new App();
checkAgainstRules(app, addSluice(app, await loadStage(app.node.tryGetContext('stage') ?? DEFAULT_STAGE)));
app.synth();

/** The stage that `config/stages/<name>.ts` defines. */
async function loadStage(name: unknown): Promise<Stage> {
  const names = readdirSync(STAGES_DIRECTORY).map((file) => basename(file, '.ts'));
  const known = names.find((candidate) => candidate === name);
  if (known === undefined) {
    throw new StageError(
      `There is no stage ${JSON.stringify(name)}: use -c stage=NAME with one of ${names.join(', ')}, or add config/stages/NAME.ts.`,
    );
  }
  const { default: stage }: { default: Stage } = await import(join(STAGES_DIRECTORY, `${known}.ts`));
  if (stage.name !== known) {
    throw new StageError(`config/stages/${known}.ts defines a stage named "${stage.name}": name it like its file.`);
  }
  return stage;
}
