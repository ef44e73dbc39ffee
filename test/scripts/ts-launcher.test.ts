import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const SCRIPTS = resolve(import.meta.dirname, '../../scripts');
const AS_NODE_20 = '--import=data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.11.0"})';

let directory: string;

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-launcher-')));
  cpSync(SCRIPTS, join(directory, 'scripts'), { recursive: true });
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A stand-in for the binary of the `node` package. */
function installPackagedNode(shellScript: string): void {
  mkdirSync(join(directory, 'node_modules/node/bin'), { recursive: true });
  writeFileSync(join(directory, 'node_modules/node/bin/node'), `#!/bin/sh\n${shellScript}\n`, { mode: 0o755 });
}

function launch(...args: string[]) {
  return spawnSync(process.execPath, args, { cwd: directory, encoding: 'utf8' });
}

describe('the launcher for TypeScript files', () => {
  it('runs the file as the main module, with its arguments and its exit code', () => {
    writeFileSync(
      join(directory, 'main.ts'),
      'const main: boolean = import.meta.main; console.log(main, ...process.argv.slice(2)); process.exitCode = 3;',
    );

    const { status, stdout, stderr } = launch('scripts/ts.mjs', 'main.ts', '--records', '5');

    expect({ status, stdout, stderr }).toEqual({ status: 3, stdout: 'true --records 5\n', stderr: '' });
  });

  it('hands over to the packaged Node.js when the running one is older than Lambda’s', () => {
    installPackagedNode('echo "packaged: $2 $3"; exit 7');

    const { status, stdout } = launch(AS_NODE_20, 'scripts/ts.mjs', 'main.ts');

    expect(stdout).toBe(`packaged: ${join(directory, 'scripts/ts.mjs')} main.ts\n`);
    expect(status).toBe(7);
  });

  it('passes a termination signal on and ends as the packaged Node.js ends', async () => {
    installPackagedNode('trap "exit 9" TERM; echo ready; while :; do sleep 0.05; done');
    const child = spawn(process.execPath, [AS_NODE_20, 'scripts/ts.mjs', 'main.ts'], { cwd: directory });
    await once(child.stdout, 'data');

    child.kill('SIGTERM');

    expect(await once(child, 'exit')).toEqual([9, null]);
  });

  it('says in one sentence what to do when there is no suitable Node.js', () => {
    const { status, stdout, stderr } = launch(AS_NODE_20, 'scripts/ts.mjs', 'main.ts');

    expect(status).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^Sluice needs Node\.js 24 or later, .* run `npm ci --include=optional .*\.\n$/);
  });

  it('says so when the packaged Node.js cannot be started', () => {
    installPackagedNode('');
    rmSync(join(directory, 'node_modules/node/bin/node'));
    mkdirSync(join(directory, 'node_modules/node/bin/node'));

    const { status, stderr } = launch(AS_NODE_20, 'scripts/ts.mjs', 'main.ts');

    expect(status).toBe(1);
    expect(stderr).toMatch(/^Sluice needs Node\.js 24 or later, .*cannot be started.*\n$/);
  });
});
