import type { Clock } from '../time.ts';
import type { FinalizeSettings } from './deps.ts';
import type { FinalizeLease } from './lease.ts';

/** How often a slice that waits for its turn looks again. */
const LOOK_MS = 500;

/**
 * Lets few large parts be written at the same time in one process. Writing one keeps the processor busy: ten side by side would end none of
 * them before the function's timeout, and hold the buffers of all.
 */
export class PartTurns {
  readonly #clock: Clock;
  #taken = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Writes a part when it is its turn, and keeps the lease while it waits.
   *
   * @returns undefined when the slice is over before its turn comes.
   * @throws LeaseLostError, and what `write` throws.
   */
  async write<T>(
    chunks: number,
    { largePartChunks, largePartsAtOnce }: FinalizeSettings,
    { lease, isOver }: { lease: FinalizeLease; isOver: () => boolean },
    write: () => Promise<T>,
  ): Promise<T | undefined> {
    if (chunks < largePartChunks) return write();
    while (this.#taken >= largePartsAtOnce) {
      if (isOver()) return undefined;
      await lease.keep();
      await this.#clock.sleep(LOOK_MS);
    }
    this.#taken += 1;
    try {
      return await write();
    } finally {
      this.#taken -= 1;
    }
  }
}
