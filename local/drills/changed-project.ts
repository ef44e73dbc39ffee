import { rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { synthesize } from '../synthesize.ts';

const ROOT = resolve(import.meta.dirname, '..', '..');
/** What an app is synthesized from. */
const SOURCES = [
  'bin',
  'config',
  'lambdas',
  'lib',
  'scripts',
  'cdk.json',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];

/**
 * Synthesizes a stage of a copy of the project in which some files are others. The copy goes with the process.
 *
 * @param files contents by path, below the project
 * @returns the directory of the cloud assembly
 */
export async function synthesizeChanged(stage: string, files: Readonly<Record<string, string>>): Promise<string> {
  await mkdir(join(ROOT, '.local'), { recursive: true });
  const root = await mkdtemp(join(ROOT, '.local', 'changed-'));
  process.once('exit', () => rmSync(root, { recursive: true, force: true }));
  for (const name of SOURCES) await cp(join(ROOT, name), join(root, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  for (const [path, content] of Object.entries(files)) await writeFile(join(root, path), content);
  return synthesize({ stage, root });
}

/** The stage `dev` with a key of the account. */
export const synthesizeKeyed = (): Promise<string> =>
  synthesizeChanged('keyed', {
    'config/stages/keyed.ts': `import { defineStage } from '../stage.ts';
import dev from './dev.ts';

export default defineStage({ ...dev, name: 'keyed', encryption: 'customer' });
`,
  });
