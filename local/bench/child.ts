import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';

/** Where benchmarks keep their files and programs. */
export const DIRECTORY = join(resolve(import.meta.dirname, '..', '..'), '.local', 'bench');

/**
 * Bundles a program of this directory as the functions are bundled: what strips types at start costs memory that a function does not need.
 *
 * @returns its path.
 */
export async function bundleChild(name: string): Promise<string> {
  const outfile = join(DIRECTORY, `${name}.mjs`);
  await build({
    entryPoints: [join(import.meta.dirname, `${name}.ts`)],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    banner: {
      js: "import{createRequire as _createRequire}from'node:module';const require=_createRequire(import.meta.url);",
    },
  });
  return outfile;
}

/** Runs a program in a process of its own; answers what it printed. */
export async function runChild(
  program: string,
  args: readonly string[],
  node: readonly string[] = [],
): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [...node, program, ...args]);
  return stdout;
}
