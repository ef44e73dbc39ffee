import { constants } from 'node:os';

/**
 * Runs `stop` once when the process is asked to end, and then ends it with 0. Who asks a second time does not wait.
 *
 * @returns a promise that never resolves: what keeps a program running until Ctrl-C
 */
export function runUntilStopped(stop: () => Promise<void>): Promise<never> {
  let stopping = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(128 + constants.signals[signal]);
      stopping = true;
      stop().then(
        () => process.exit(0),
        (error: unknown) => {
          console.error(error);
          process.exit(1);
        },
      );
    });
  }
  return new Promise(() => undefined);
}
