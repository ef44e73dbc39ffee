import type { Random } from '../../lambdas/domain/time.ts';
import { seededRandom } from '../support/memory/random.ts';

/**
 * One stream of random numbers per concern: what one concern draws never shifts what another one gets, so that a run from which
 * something was removed (see shrink.ts) stays as close as possible to the run it came from.
 */
export function stream(seed: number, concern: string): Dice {
  let hash = seed | 0;
  for (const char of concern) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  const next = seededRandom(hash);
  next();
  return {
    next,
    chance: (probability) => next() < probability,
    below: (limit) => Math.floor(next() * limit),
    between: (low, high) => low + next() * (high - low),
    pick: (choices) => {
      const chosen = choices[Math.floor(next() * choices.length)];
      if (chosen === undefined) throw new RangeError('There is nothing to pick from.');
      return chosen;
    },
  };
}

export interface Dice {
  next: Random;
  chance(probability: number): boolean;
  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number;
  between(low: number, high: number): number;
  pick<T>(choices: readonly T[]): T;
}
