import type { Clock } from '../../lambdas/domain/time.ts';
import { START_MS } from './memory/index.ts';

export interface VirtualClock extends Clock {
  /** Runs `work` to its end; time jumps to the next sleeper whenever nothing else can go on. */
  run<T>(work: Promise<T>): Promise<T>;
}

/** A clock on which waiting costs no time, and whatever sleeps at the same time really does. */
export function createVirtualClock(startMs = START_MS): VirtualClock {
  let nowMs = startMs;
  let order = 0;
  let sleepers: { atMs: number; order: number; wake: () => void }[] = [];
  return {
    now: () => nowMs,
    async sleep(ms) {
      if (ms > 0) await new Promise<void>((wake) => sleepers.push({ atMs: nowMs + ms, order: order++, wake }));
    },
    async run(work) {
      let isDone = false;
      const end = (): void => {
        isDone = true;
      };
      work.then(end, end);
      for (;;) {
        // Every promise that can be settled without time passing is settled before an immediate runs.
        await new Promise((resolve) => setImmediate(resolve));
        if (isDone) return work;
        const [next] = sleepers.toSorted((a, b) => a.atMs - b.atMs || a.order - b.order);
        if (next === undefined) throw new Error('Nothing sleeps and nothing ends: the work waits for something else.');
        sleepers = sleepers.filter((sleeper) => sleeper !== next);
        nowMs = Math.max(nowMs, next.atMs);
        next.wake();
      }
    },
  };
}
