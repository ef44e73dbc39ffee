import { LocalError } from '../errors.ts';

export interface WaitOptions {
  /** What is waited for, for the error. */
  readonly what: string;
  readonly timeoutMs: number;
  readonly everyMs?: number;
}

const DEFAULT_INTERVAL_MS = 250;

/**
 * Looks again and again until there is something to see.
 *
 * @throws LocalError when it takes longer than `timeoutMs`
 */
export async function waitFor<T>(look: () => Promise<T | undefined>, options: WaitOptions): Promise<T> {
  const { what, timeoutMs, everyMs = DEFAULT_INTERVAL_MS } = options;
  const giveUpAtMs = performance.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (performance.now() > giveUpAtMs) throw new LocalError(`Waited ${timeoutMs / 1000} s in vain for ${what}.`);
    await new Promise((done) => setTimeout(done, everyMs));
  }
}
