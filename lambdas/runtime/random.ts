import { randomInt } from 'node:crypto';
import type { Random } from '../domain/time.ts';

const STEPS = 2 ** 32;

/** Chance that nobody can predict: for ids and keys. */
export const secureRandom: Random = () => randomInt(STEPS) / STEPS;
