/**
 * Runs every static check and prints one line for each; what a failing one said follows its line.
 *
 * `npm run check` runs all of them, `npm run check -- lint types` only those whose names start so.
 */
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { requireNode } from './require-node.mjs';

await requireNode();

const root = resolve(import.meta.dirname, '..');

/** `informs`: what it printed is shown at the end. @typedef {{ name: string, command: string, informs?: boolean }} Check */

/** Longest first, so that the last one to finish is a short one. @type {Check[]} */
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
  { name: 'lines', command: 'node scripts/lines.mjs', informs: true },
];

const wanted = process.argv.slice(2);
const selected = checks.filter(({ name }) => wanted.length === 0 || wanted.some((prefix) => name.startsWith(prefix)));
if (selected.length === 0) {
  console.error(`No check is named ${wanted.join(' or ')}; there are: ${checks.map(({ name }) => name).join(', ')}.`);
  process.exit(1);
}

const waiting = [...selected];
/** @type {string[]} */
const failed = [];
/** @type {string[]} */
const reports = [];
await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, work));
for (const report of reports) console.log(`\n${report}\n`);
console.log(failed.length === 0 ? `All ${selected.length} checks passed.` : `Failed: ${failed.join(', ')}.`);
process.exit(failed.length === 0 ? 0 : 1);

/** Takes checks off the list until it is empty. */
async function work() {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
    const startedAt = performance.now();
    const { passed, output } = await run(check.command);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(`${passed ? 'ok  ' : 'FAIL'}  ${check.name.padEnd(24)}${seconds.padStart(6)} s`);
    if (passed && check.informs === true) reports.push(output);
    if (passed) continue;
    failed.push(check.name);
    console.log(`\n$ ${check.command}\n${output}\n`);
  }
}

/**
 * @param {string} command
 * @returns {Promise<{ passed: boolean, output: string }>}
 */
function run(command) {
  const PATH = [join(root, 'node_modules', '.bin'), process.env['PATH']].join(delimiter);
  const child = spawn(command, {
    cwd: root,
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (/** @type {string} */ text) => (output += text));
  }
  return new Promise((done) => {
    child.on('error', (error) => done({ passed: false, output: error.message }));
    child.on('close', (code) => done({ passed: code === 0, output: output.trim() }));
  });
}

/** The stages an adopter has defined: one file each. */
function stageNames() {
  const names = readdirSync(join(root, 'config', 'stages'))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -'.ts'.length));
  if (names.length === 0) throw new Error('config/stages holds no stage (*.ts), so nothing could be synthesized.');
  return names;
}
