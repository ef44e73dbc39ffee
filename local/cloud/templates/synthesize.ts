import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join, relative } from 'node:path';
import * as v from 'valibot';
import { LocalCloudError } from '../errors.ts';

/** Assemblies that no start has used for this long are removed; running clouds load their functions from theirs. */
const KEEP_UNUSED_MS = 7 * 24 * 60 * 60 * 1000;

/** What the CDK command line would add to the context of `cdk.json`. */
const COMMAND_LINE_CONTEXT = {
  'aws:cdk:enable-path-metadata': true,
  'aws:cdk:enable-asset-metadata': true,
  'aws:cdk:version-reporting': false,
  'aws:cdk:bundling-stacks': ['**'],
};

export interface SynthesisOptions {
  /** Root of the project, where `cdk.json` is. */
  readonly root: string;
  /** Arguments to Node.js that run the app, such as `['bin/app.js']`. */
  readonly app: readonly string[];
  /** Files and directories that the assembly depends on: a change in any of them means another synthesis. */
  readonly inputs: readonly string[];
  /** `false`: the code of functions is not bundled, for callers that only read the templates. Default `true`. */
  readonly bundling?: boolean | undefined;
  /** Further context values, as with `cdk synth -c key=value`. */
  readonly context?: Readonly<Record<string, string>> | undefined;
  /** Further environment variables of the app. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

/**
 * Synthesizes the CDK app in a short-lived process of its own, so that the CDK's memory is given back. The result is kept
 * under `.local` by a hash of its inputs, so a second start takes milliseconds. Starts at the same time do not collide:
 * each writes to a directory of its own, and the first to finish gives it the final name.
 *
 * @returns the absolute path of a cloud assembly
 * @throws LocalCloudError with the app's own output when it fails
 */
export async function synthesize(options: SynthesisOptions): Promise<string> {
  const { root } = options;
  const context = {
    ...(await contextOf(root)),
    ...COMMAND_LINE_CONTEXT,
    ...(options.bundling === false ? { 'aws:cdk:bundling-stacks': [] } : {}),
    ...options.context,
  };
  const directory = join(root, '.local');
  const target = join(directory, `cdk.out-${await fingerprint(options, context)}`);
  if (existsSync(join(target, 'manifest.json'))) {
    await utimes(target, new Date(), new Date());
    return target;
  }
  await mkdir(directory, { recursive: true });
  await removeUnused(directory);
  const own = `${target}.${randomUUID()}`;
  try {
    await runApp(options, own, context);
    await adopt(own, target);
  } finally {
    await rm(own, { recursive: true, force: true });
  }
  return target;
}

/** Gives a finished assembly its final name, unless another start was faster. */
async function adopt(own: string, target: string): Promise<void> {
  try {
    await rename(own, target);
  } catch (error) {
    if (!existsSync(join(target, 'manifest.json'))) throw error;
  }
}

async function runApp(
  { root, app, environment }: SynthesisOptions,
  outputDirectory: string,
  context: Record<string, unknown>,
): Promise<void> {
  const child = spawn(process.execPath, [...app], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ...environment,
      CDK_OUTDIR: outputDirectory,
      CDK_CONTEXT_JSON: JSON.stringify(context),
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const code = await new Promise<number | null>((done, failed) => child.on('error', failed).on('close', done));
  if (code !== 0) throw new LocalCloudError(`The CDK app ended with code ${code}:\n${output.trim()}`);
}

const cdkJson = v.object({ context: v.optional(v.record(v.string(), v.unknown()), {}) });

async function contextOf(root: string): Promise<Record<string, unknown>> {
  return v.parse(cdkJson, JSON.parse(await readFile(join(root, 'cdk.json'), 'utf8'))).context;
}

async function fingerprint({ root, inputs }: SynthesisOptions, context: Record<string, unknown>): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(context)).update(process.version);
  for (const input of inputs) {
    for (const file of await filesBelow(join(root, input))) {
      const content = await readFile(file);
      hash.update(`\u0000${relative(root, file)}\u0000${content.length}\u0000`).update(content);
    }
  }
  return hash.digest('hex').slice(0, 16);
}

async function filesBelow(path: string): Promise<string[]> {
  if (!existsSync(path)) return [];
  if (!(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

async function removeUnused(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith('cdk.out-')) continue;
    const path = join(directory, name);
    // Another start may be removing or renaming the same directory.
    const age = await stat(path).then(
      (found) => Date.now() - found.mtimeMs,
      () => 0,
    );
    if (age > KEEP_UNUSED_MS) await rm(path, { recursive: true, force: true });
  }
}
