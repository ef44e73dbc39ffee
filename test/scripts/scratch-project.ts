import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const SETTINGS = [
  '.dependency-cruiser.cjs',
  '.oxlintrc.json',
  'bin/tsconfig.json',
  'lib/tsconfig.json',
  'package.json',
  'scripts',
  'tsconfig.infrastructure.json',
  'tsconfig.json',
];

/** A directory under the settings of this one, with the same packages and with `files` (path → source) in it. */
export function createScratchProject(files: Record<string, string>): { directory: string; remove(): void } {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-scratch-')));
  for (const name of SETTINGS) cpSync(join(ROOT, name), join(directory, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  for (const [path, source] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), source);
  }
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

/** The entry point of a package's command, to be run by `process.execPath`. */
export function commandOf(relativePath: string): string {
  return join(ROOT, 'node_modules', relativePath);
}
