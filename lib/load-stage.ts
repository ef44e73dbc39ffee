import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as v from 'valibot';
import { parseStage, StageError, type Stage } from '../config/stage.ts';

const STAGES_DIRECTORY = join(import.meta.dirname, '..', 'config', 'stages');

const moduleSchema = v.object({ default: v.unknown() });

/**
 * The stage that `config/stages/<name>.ts` defines.
 *
 * @throws StageError when there is none, or it is not usable
 */
export async function loadStage(name: unknown): Promise<Stage> {
  const names = readdirSync(STAGES_DIRECTORY).map((file) => basename(file, '.ts'));
  const known = names.find((candidate) => candidate === name);
  if (known === undefined) {
    throw new StageError(
      `There is no stage ${JSON.stringify(name)}: use -c stage=NAME with one of ${names.join(', ')}, or add config/stages/NAME.ts.`,
    );
  }
  const loaded: unknown = await import(pathToFileURL(join(STAGES_DIRECTORY, `${known}.ts`)).href);
  const stage = parseStage(v.parse(moduleSchema, loaded).default);
  if (stage.name !== known) {
    throw new StageError(`config/stages/${known}.ts defines a stage named "${stage.name}": name it like its file.`);
  }
  return stage;
}
