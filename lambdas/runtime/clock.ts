import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../domain/time.ts';

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms) {
    // Timers count whole milliseconds; rounding up keeps a call from starting before its slot.
    if (ms > 0) await sleep(Math.ceil(ms));
  },
};
