import { constants } from 'node:os';

const PARENT_INTERVAL_MS = 1000;

/**
 * Runs `stop` once when the process is asked to end, and then ends it with 0. Who asks a second time does not wait.
 * Under npm it also stops when npm is gone: between the two is a shell, which does not pass signals on.
 *
 * @returns a promise that never resolves: what keeps a program running until Ctrl-C
 */
export function runUntilStopped(stop: () => Promise<void>): Promise<never> {
  let stopping = false;
  const end = (): void => {
    stopping = true;
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => (stopping ? process.exit(128 + constants.signals[signal]) : end()));
  }
  const { ppid } = process;
  if (process.env['npm_lifecycle_event'] !== undefined) {
    setInterval(() => (!stopping && process.ppid !== ppid ? end() : undefined), PARENT_INTERVAL_MS).unref();
  }
  return new Promise(() => undefined);
}
