import type { Submission } from '../model.ts';

/*
 * A worker may hold records that it received before their submission was stopped. It writes their outcomes until KEEP_OUTCOMES_MS, and
 * drops later ones; finalization begins after DRAIN_MS, when no such write can be on its way any more. So results never differ from rows.
 */

/** How long after a stop a worker may begin to write an outcome. Workers learn of a stop within three seconds. */
export const KEEP_OUTCOMES_MS = 10_000;
/** How long after a stop finalization begins: the above, the longest write (see limits.ts), and clocks that differ. */
export const DRAIN_MS = 20_000;

type Stoppable = Pick<Submission, 'stop'>;

/** True while a worker may still write the outcome of a record that it received before the stop. */
export const isDraining = ({ stop }: Stoppable, nowMs: number): boolean =>
  stop !== undefined && nowMs < stop.atMs + DRAIN_MS;

/** True when a message of this generation is stopped: a replay lifts the stop order, but not for what it has ended. */
export const isStopped = (submission: Submission, generation: number): boolean =>
  wasEnded(submission, generation) || (submission.stop !== undefined && submission.generation >= generation);

const wasEnded = ({ stoppedGeneration = -1 }: Submission, generation: number): boolean =>
  generation <= stoppedGeneration;

/** True when a worker must drop an outcome of this generation: it was stopped too long ago. */
export const isTooLate = (submission: Submission, generation: number, nowMs: number): boolean =>
  wasEnded(submission, generation) ||
  (submission.stop !== undefined &&
    submission.generation >= generation &&
    nowMs > submission.stop.atMs + KEEP_OUTCOMES_MS);
