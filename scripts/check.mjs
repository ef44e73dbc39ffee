/**
 * Runs every static check side by side. Each one's output follows when it ends, behind its name; the last
 * lines say how all of them came out.
 *
 * `npm run check` runs all of them, `npm run check -- lint types` only those whose names start so.
 */
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import * as v from 'valibot';
import { requireNode } from './require-node.mjs';

await requireNode();
const { concurrently } = await import('concurrently');

const root = resolve(import.meta.dirname, '..');
const closeEvents = v.array(
  v.object({
    command: v.object({ name: v.string() }),
    exitCode: v.union([v.number(), v.string()]),
    timings: v.object({ durationSeconds: v.number() }),
  }),
);

/** Longest first, so that the last one to finish is a short one. @type {{ name: string, command: string }[]} */
const checks = [
  ...stageNames().map((stage) => ({
    name: `synth:${stage}`,
    command: `cdk synth --context stage=${stage} --quiet --output cdk.out/${stage}`,
  })),
  { name: 'types', command: 'tsc --project tsconfig.json' },
  { name: 'types:infrastructure', command: 'tsc --project tsconfig.infrastructure.json' },
  {
    name: 'imports',
    command: 'depcruise --config .dependency-cruiser.cjs bin cli config lambdas lib local scripts test',
  },
  { name: 'unused', command: 'knip' },
  { name: 'lint', command: 'oxlint' },
  { name: 'openapi', command: 'node scripts/ts.mjs scripts/openapi.ts --check' },
  { name: 'licences', command: 'node scripts/licences.mjs --check' },
  { name: 'format', command: 'prettier --check --log-level warn .' },
  // Informs: it never fails.
  { name: 'lines', command: 'node scripts/lines.mjs' },
];

const wanted = process.argv.slice(2);
const selected = checks.filter(({ name }) => wanted.length === 0 || wanted.some((prefix) => name.startsWith(prefix)));
if (selected.length === 0) {
  console.error(`No check is named ${wanted.join(' or ')}; there are: ${checks.map(({ name }) => name).join(', ')}.`);
  process.exit(1);
}

const PATH = [join(root, 'node_modules', '.bin'), process.env['PATH']].join(delimiter);
const { result } = concurrently(
  selected.map((check) => ({ ...check, env: { PATH } })),
  { cwd: root, group: true, maxProcesses: Math.max(2, availableParallelism()), prefix: 'name' },
);
const ended = v.parse(closeEvents, await result.catch((/** @type {unknown} */ events) => events));
for (const { command, exitCode, timings } of ended) {
  const seconds = timings.durationSeconds.toFixed(1).padStart(6);
  console.log(`${exitCode === 0 ? 'ok  ' : 'FAIL'}  ${command.name.padEnd(24)}${seconds} s`);
}
const failed = ended.filter(({ exitCode }) => exitCode !== 0).map(({ command }) => command.name);
console.log(failed.length === 0 ? `All ${selected.length} checks passed.` : `Failed: ${failed.join(', ')}.`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** The stages an adopter has defined: one file each. */
function stageNames() {
  const names = readdirSync(join(root, 'config', 'stages'))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -'.ts'.length));
  if (names.length === 0) throw new Error('config/stages holds no stage (*.ts), so nothing could be synthesized.');
  return names;
}
