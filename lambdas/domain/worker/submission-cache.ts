import type { Submission } from '../model.ts';
import type { SubmissionStore } from '../submissions/ports.ts';
import type { Clock } from '../time.ts';

/** Heads of submissions as a worker needs them: for stop orders. */
export interface SubmissionCache {
  /** The head, at most {@link MAX_AGE_MS} old; `undefined` when there is none (any more). */
  get(submissionId: string): Promise<Submission | undefined>;
}

/** A record that is finished this long after its submission was cancelled keeps its outcome, like any other that was under way. */
const MAX_AGE_MS = 3_000;
const MAX_ENTRIES = 100;

export function createSubmissionCache(submissions: Pick<SubmissionStore, 'get'>, clock: Clock): SubmissionCache {
  const entries = new Map<string, { readAtMs: number; submission: Submission }>();
  return {
    async get(submissionId) {
      const entry = entries.get(submissionId);
      const nowMs = clock.now();
      if (entry !== undefined && nowMs - entry.readAtMs < MAX_AGE_MS) return entry.submission;
      const submission = await submissions.get(submissionId);
      entries.delete(submissionId);
      if (submission === undefined) return undefined;
      const [oldest] = entries.keys();
      if (entries.size >= MAX_ENTRIES && oldest !== undefined) entries.delete(oldest);
      entries.set(submissionId, { readAtMs: nowMs, submission });
      return submission;
    },
  };
}
