const BASE_MS = 50;
const LONGEST_MS = 2000;

/**
 * Wait before the n-th repetition (1-based) of a call inside one adapter: exponential with full jitter, at most two seconds,
 * because an invocation pays for it. Longer waits are the queues' business.
 */
export const backoffMs = (repetition: number): number =>
  Math.random() * Math.min(LONGEST_MS, BASE_MS * 2 ** (repetition - 1));
