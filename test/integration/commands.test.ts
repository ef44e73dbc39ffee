import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { ROOT, waitFor } from './support/sluice.ts';

const readySchema = v.strictObject({
  apiUrl: v.pipe(v.string(), v.regex(/^http:\/\/127\.0\.0\.1:\d+\/dev$/)),
  tenants: v.pipe(v.array(v.strictObject({ tenantId: v.string(), apiKey: v.string() })), v.minLength(2)),
  awsEndpoint: v.pipe(v.string(), v.regex(/^http:\/\/127\.0\.0\.1:\d+$/)),
  providersUrl: v.pipe(v.string(), v.regex(/^http:\/\/127\.0\.0\.1:\d+$/)),
  resources: v.looseObject({ queues: v.record(v.string(), v.string()) }),
});

/** A command in a process group of its own, so that what it leaves behind is seen. */
class Command {
  readonly lines: string[] = [];
  readonly errors: string[] = [];
  readonly #child: ChildProcess;

  constructor(program: string, ...args: string[]) {
    this.#child = spawn(program, args, {
      cwd: ROOT,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    if (this.#child.stdout) createInterface(this.#child.stdout).on('line', (line) => this.lines.push(line));
    if (this.#child.stderr) createInterface(this.#child.stderr).on('line', (line) => this.errors.push(line));
  }

  async ended(): Promise<number | null> {
    if (this.#child.exitCode === null) await once(this.#child, 'close');
    return this.#child.exitCode;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Whether any process of the group is alive. */
  get isAlive(): boolean {
    try {
      process.kill(-(this.#child.pid ?? 0), 0);
      return true;
    } catch {
      return false;
    }
  }

  killAll(): void {
    if (this.isAlive) process.kill(-(this.#child.pid ?? 0), 'SIGKILL');
  }
}

const run = (script: string, ...args: string[]): Command =>
  new Command(process.execPath, 'scripts/ts.mjs', script, ...args);

/** Waits until no process of the groups is alive. */
const gone = (...commands: Command[]): Promise<unknown> =>
  waitFor(
    () => commands.some(({ isAlive }) => isAlive),
    (alive) => !alive,
  );

describe('npm run local -- --json', () => {
  test('says in one line where everything is, twice side by side, and leaves nothing behind', async () => {
    const commands = [run('local/main.ts', '--json'), run('local/main.ts', '--json')];
    try {
      await waitFor(
        () => commands.every(({ lines, isAlive }) => lines.length > 0 || !isAlive),
        (ready) => ready,
      );
      const ready = commands.map(({ lines }) => v.parse(v.pipe(v.string(), v.parseJson(), readySchema), lines[0]));
      expect(
        new Set(ready.flatMap(({ apiUrl, awsEndpoint, providersUrl }) => [apiUrl, awsEndpoint, providersUrl])).size,
      ).toBe(6);
      for (const { apiUrl, tenants, providersUrl } of ready) {
        const headers = { authorization: `Bearer ${tenants[0]?.apiKey ?? ''}` };
        expect((await fetch(`${apiUrl}/v1/submissions`, { headers })).status).toBe(200);
        expect(await (await fetch(`${providersUrl}/control/company`)).json()).toMatchObject({ calls: 0 });
      }
      commands[0]?.signal('SIGINT');
      commands[1]?.signal('SIGTERM');
      expect(await Promise.all(commands.map((command) => command.ended()))).toEqual([0, 0]);
      expect(commands.map(({ lines }) => lines.length)).toEqual([1, 1]);
      await gone(...commands);
    } finally {
      for (const command of commands) command.killAll();
    }
  });

  test('ends when the npm that runs it is ended', async () => {
    const command = new Command('npm', 'run', '--silent', 'local', '--', '--json');
    try {
      await waitFor(
        () => command.lines.length,
        (lines) => lines > 0,
      );
      command.signal('SIGTERM');
      await gone(command);
      expect(command.lines).toHaveLength(1);
    } finally {
      command.killAll();
    }
  });

  test('refuses an option that it does not know', async () => {
    const command = run('local/main.ts', '--jsn');
    expect(await command.ended()).toBe(1);
    expect(command.errors.join('\n')).toMatch(/--jsn[^]*Usage: npm run local/);
  });
});

describe('npm run demo', () => {
  test('shows what became of every record and ends with one line of JSON', async () => {
    const command = run('local/demo.ts', '--records', '260', '--json');
    try {
      expect(await command.ended()).toBe(0);
      const last: unknown = JSON.parse(command.lines.at(-1) ?? '');
      expect(last).toEqual({
        state: 'partially_failed',
        records: 260,
        succeeded: 259,
        failed: 1,
        seconds: expect.any(Number),
        apiUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/dev$/),
      });
      const text = command.lines.join('\n');
      expect(text).toMatch(/record 250 \(line 251\) {2}invalid_record\n +The record does not match/);
      expect(text).toMatch(/\.local\/results\/sub_\w+\/v1-succeeded-1\.ndjson {2}\(259 records\)/);
      await gone(command);
    } finally {
      command.killAll();
    }
  });
});
