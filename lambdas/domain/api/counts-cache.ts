import type { Tally } from '../ledger/ledger.ts';
import { isOpen, type Submission } from '../model.ts';
import type { Clock } from '../time.ts';

/**
 * Submissions of more records are not counted anew with every question: their ledgers are megabytes, and who waits for so many
 * records does not notice seconds.
 */
const MANY_RECORDS = 100_000;
/** Age at which the counts of an open submission are too old to be told. */
const MAX_AGE_MS = 10_000;
const MAX_REMEMBERED = 200;

export interface CountedTally {
  tally: Tally;
  asOfMs: number;
}

/** Remembers what large submissions were counted at. One per execution environment: nothing is written anywhere. */
export interface CountsCache {
  /** What still goes for the submission as it is now. */
  recall(submission: Submission): CountedTally | undefined;
  /** Keeps what was counted just now, where it is worth it. */
  remember(submission: Submission, tally: Tally): void;
}

export function createCountsCache(clock: Clock): CountsCache {
  const remembered = new Map<string, CountedTally & { of: string }>();
  return {
    recall(submission) {
      const entry = remembered.get(submission.submissionId);
      if (entry === undefined || entry.of !== stageOf(submission)) return undefined;
      // The ledger of a closed submission stands still.
      const isFresh = !isOpen(submission.state) || clock.now() - entry.asOfMs <= MAX_AGE_MS;
      return isFresh ? { tally: entry.tally, asOfMs: entry.asOfMs } : undefined;
    },

    remember(submission, tally) {
      const { submissionId, fanOut } = submission;
      if (fanOut.records <= MANY_RECORDS) return;
      remembered.delete(submissionId);
      remembered.set(submissionId, { tally, asOfMs: clock.now(), of: stageOf(submission) });
      const [oldest] = remembered.keys();
      if (remembered.size > MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
    },
  };
}

/** What changes when counts do that age does not tell. */
const stageOf = ({ state, generation, resultsVersion, fanOut }: Submission): string =>
  JSON.stringify([state, generation, resultsVersion, fanOut.done]);
