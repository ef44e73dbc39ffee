import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as v from 'valibot';
import { ConfigError } from '../config/fields.ts';
import { checkConfiguration } from '../config/provider-schema.ts';
import { PROVIDERS } from '../config/providers.ts';
import { parseStage, type Stage } from '../config/stage.ts';

const CONFIG_DIRECTORY = join(import.meta.dirname, '..', 'config');
const STAGES_DIRECTORY = join(CONFIG_DIRECTORY, 'stages');
const RECORD_SCHEMA = 'record.schema.json';

/** Keys of `-c key=value`; feature flags and what the CDK itself sets contain `/` or `:`, settings of its CLI begin with `cli-`. */
const APP_KEY = /^(?!cli-)[^/:]+$/;

const contextSchema = v.objectWithRest({ stage: v.optional(v.unknown()) }, v.unknown());
const moduleSchema = v.object({ default: v.unknown() });

/**
 * The stage that the context of the app names. There is no default: a misspelt key or an empty value would deploy another stage.
 *
 * @throws ConfigError when the context does not name a stage, or has another key
 */
export async function loadStageOf(context: unknown): Promise<Stage> {
  const { stage, ...others } = v.parse(contextSchema, context);
  const unknown = Object.keys(others).filter((key) => APP_KEY.test(key));
  if (unknown.length > 0) {
    const problems = unknown.map((key) => `${key} is not a key that it reads: use -c stage=NAME`);
    throw new ConfigError('The context of the app', problems);
  }
  return loadStage(stage);
}

/**
 * The stage that `config/stages/<name>.ts` defines, after the providers and the record schema were checked.
 *
 * @throws ConfigError when there is none, or the configuration is not usable
 */
async function loadStage(name: unknown): Promise<Stage> {
  const names = readdirSync(STAGES_DIRECTORY).map((file) => basename(file, '.ts'));
  const known = names.find((candidate) => candidate === name);
  if (known === undefined) {
    const problem =
      name === undefined || name === '' ? 'no stage is named' : `there is no stage ${JSON.stringify(name)}`;
    const remedy = `use -c stage=NAME with one of ${names.join(', ')}, or add config/stages/NAME.ts`;
    throw new ConfigError('The context of the app', [`${problem}: ${remedy}`]);
  }
  checkConfiguration(PROVIDERS, readRecordSchema());
  const file = `${known}.ts`;
  const loaded: unknown = await import(pathToFileURL(join(STAGES_DIRECTORY, file)).href);
  const stage = parseStage(v.parse(moduleSchema, loaded).default);
  if (stage.name !== known) {
    throw new ConfigError(`config/stages/${file}`, [`name is "${stage.name}": name the stage like its file`]);
  }
  return stage;
}

function readRecordSchema(): unknown {
  try {
    return JSON.parse(readFileSync(join(CONFIG_DIRECTORY, RECORD_SCHEMA), 'utf8'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ConfigError(`config/${RECORD_SCHEMA}`, [`it is not valid JSON (${error.message}): correct it`]);
  }
}
