import { capacityOf, providersOf, type Stage } from '../../config/stage.ts';
import type { Capacity } from '../../lambdas/domain/capacity.ts';
import { PACE_SHARE, sustainedRate } from '../../lambdas/domain/providers/config.ts';

const SECONDS_A_DAY = 86_400;

/** What a stage can do, by arithmetic. */
export interface Derived extends Capacity {
  /** Records per second: each needs a call to every provider, so the slowest provider decides. */
  readonly pacePerSecond: number;
  /** Of both lanes together. */
  readonly workers: number;
  readonly batchSize: number;
  readonly workerMemoryGb: number;
}

/** The capacity that a stage is deployed with. */
export function derivedOf(stage: Stage): Derived {
  const capacity = capacityOf(stage);
  const { small, bulk } = capacity.maxConcurrency;
  const slowest = Math.min(...providersOf(stage).map(sustainedRate));
  return {
    ...capacity,
    pacePerSecond: slowest * PACE_SHARE,
    workers: small + bulk,
    batchSize: stage.worker.batchSize,
    workerMemoryGb: stage.worker.memoryMb / 1_024,
  };
}

/** How long so many records take at this pace, in words. */
export function timeFor(records: number, pacePerSecond: number): string {
  const seconds = records / pacePerSecond;
  if (seconds < 300) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 2 * SECONDS_A_DAY) return `${(seconds / 3_600).toFixed(1)} h`;
  return `${(seconds / SECONDS_A_DAY).toFixed(1)} days`;
}

/** Part of the pace that so many records a day use. */
export const utilisation = (recordsPerDay: number, pacePerSecond: number): number =>
  recordsPerDay / SECONDS_A_DAY / pacePerSecond;
