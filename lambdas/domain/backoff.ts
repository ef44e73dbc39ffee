import type { Random } from './time.ts';

/** The wait before the second attempt is random up to this; it doubles with every further one. */
const FIRST_RETRY_MS = 2_000;
const LONGEST_RETRY_MS = 300_000;

/**
 * Milliseconds to wait after `failedAttempts` failures: exponential with full jitter, so that records that failed together
 * do not come back together.
 */
export const retryDelayMs = (failedAttempts: number, random: Random): number =>
  Math.round(random() * Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failedAttempts - 1)));

const LONGEST_SPREAD_MS = 60_000;

/**
 * A wait of at least `waitMs`, stretched by up to a quarter (at least `leastSpreadMs`, at most a minute): whoever waits for the
 * same moment arrives after it, and not at once.
 */
export const spreadMs = (waitMs: number, random: Random, leastSpreadMs = 1_000): number =>
  Math.round(Math.max(0, waitMs) + random() * Math.max(leastSpreadMs, Math.min(LONGEST_SPREAD_MS, waitMs / 4)));
