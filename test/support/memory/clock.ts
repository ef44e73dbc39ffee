import type { Clock } from '../../../lambdas/domain/time.ts';

/** A clock that stands still until it is told to move. */
export interface TestClock extends Clock {
  /** Moves time forward and wakes every sleeper that is due, in the order of their times. */
  advance(ms: number): Promise<void>;
  /** Sleepers that have not been woken. */
  sleeping(): number;
}

/** A quarter past twelve on a Tuesday: any fixed time will do, and this one is easy to recognise. */
export const START_MS = Date.UTC(2026, 0, 6, 12, 15, 0);

/**
 * @param options.autoAdvance - Every sleep moves time by itself and returns at once: for code whose waits do not matter.
 */
export function createTestClock(options: { startMs?: number; autoAdvance?: boolean } = {}): TestClock {
  let nowMs = options.startMs ?? START_MS;
  let order = 0;
  const sleepers: { atMs: number; order: number; wake: () => void }[] = [];

  const advance = async (ms: number): Promise<void> => {
    const endMs = nowMs + ms;
    for (;;) {
      sleepers.sort((a, b) => a.atMs - b.atMs || a.order - b.order);
      const next = sleepers[0];
      if (next === undefined || next.atMs > endMs) break;
      sleepers.shift();
      nowMs = Math.max(nowMs, next.atMs);
      next.wake();
      // What the woken code does next (and whether it sleeps again) must happen before time moves on.
      await new Promise((resolve) => setImmediate(resolve));
    }
    nowMs = endMs;
  };

  const sleep = async (ms: number): Promise<void> => {
    if (ms <= 0) return;
    if (options.autoAdvance === true) {
      nowMs += ms;
      return;
    }
    await new Promise<void>((wake) => sleepers.push({ atMs: nowMs + ms, order: order++, wake }));
  };

  return { now: () => nowMs, sleep, advance, sleeping: () => sleepers.length };
}
