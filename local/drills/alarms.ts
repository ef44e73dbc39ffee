import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..', '..');

/**
 * Runs the drills of the alarms: in virtual time, on the simulation, which is part of the tests, since an alarm about half an hour
 * of waiting would take half an hour on the local cloud.
 *
 * @returns the exit code
 */
export async function runAlarmDrills(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, ['scripts/ts.mjs', 'test/alarms/main.ts', ...args], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  return new Promise((done, failed) => child.on('error', failed).on('close', (code) => done(code ?? 1)));
}
