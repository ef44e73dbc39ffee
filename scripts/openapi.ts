/**
 * The OpenAPI document and what is made from it.
 *
 * `npm run openapi` writes the types of the generated client, `npm run openapi -- --check` fails where they are not up to date
 * and where a linter finds something in the document.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';
import { openApiDocument } from '../lambdas/domain/api/openapi.ts';

const root = resolve(import.meta.dirname, '..');
const TYPES = join(root, 'cli', 'client', 'schema.d.ts');
const DIRECTORY = join(root, '.local', 'openapi');
const DOCUMENT = join(DIRECTORY, 'openapi.json');
const RULESET = join(DIRECTORY, 'spectral.yaml');
const HEADER = '// Made by `npm run openapi` from lambdas/domain/api/openapi.ts. Do not edit.\n\n';

const document = openApiDocument('https://api.sluice.example');

/** The rules that the makers of the linters recommend; a warning fails as well. */
const LINTERS: readonly (readonly string[])[] = [
  ['redocly', 'lint', '--extends', 'recommended-strict', DOCUMENT],
  ['spectral', 'lint', '--fail-severity', 'hint', '--ruleset', RULESET, DOCUMENT],
];

async function types(): Promise<string> {
  const source = HEADER + astToString(await openapiTS(JSON.stringify(document)));
  return format(source, { ...(await resolveConfig(TYPES)), filepath: TYPES });
}

/** What the linters found; empty when nothing. */
function findings(): string[] {
  mkdirSync(DIRECTORY, { recursive: true });
  writeFileSync(DOCUMENT, JSON.stringify(document, null, 2));
  writeFileSync(RULESET, 'extends: ["spectral:oas"]\n');
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  return LINTERS.flatMap(([command = '', ...args]) => {
    const { status, stdout, stderr } = spawnSync(join(root, 'node_modules', '.bin', command), args, {
      env,
      encoding: 'utf8',
    });
    return status === 0 ? [] : [`${command}:\n${stdout}${stderr}`];
  });
}

if (process.argv.includes('--check')) {
  const wrong = findings();
  if (readFileSync(TYPES, 'utf8') !== (await types())) wrong.push(`${TYPES} is out of date: run npm run openapi.`);
  for (const finding of wrong) console.error(finding);
  process.exitCode = wrong.length > 0 ? 1 : 0;
} else {
  writeFileSync(TYPES, await types());
  console.log(`${TYPES} is up to date.`);
}
