import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { LocalCloudError } from '../errors.ts';

/**
 * Bundles what runs in an execution environment into one JavaScript file.
 *
 * @param directory where to keep it; its name depends on its content, so runs side by side share it
 * @returns the absolute path of the file
 */
export async function bundleRuntime(directory: string): Promise<string> {
  const built = await build({
    entryPoints: [join(import.meta.dirname, 'child', 'main.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    write: false,
  });
  const content = built.outputFiles[0]?.text;
  if (content === undefined) throw new LocalCloudError('esbuild made no file of the execution environment.');
  const file = join(directory, `runtime-${createHash('sha256').update(content).digest('hex').slice(0, 12)}.mjs`);
  if (!existsSync(file)) {
    await mkdir(directory, { recursive: true });
    const own = `${file}.${process.pid}`;
    await writeFile(own, content);
    await rename(own, file);
  }
  return file;
}
