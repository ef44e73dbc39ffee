import { finalTally, tally } from '../ledger/ledger.ts';
import { isOpen, type Submission } from '../model.ts';
import type { AdmissionStore, Backlog } from '../tenants/ports.ts';
import type { SubmissionStore } from '../submissions/ports.ts';
import type { Clock } from '../time.ts';
import { estimateCompletion, type PaceSettings } from './estimate.ts';
import { isSubmissionId } from './ids.ts';
import { notFound } from './problems.ts';
import type { CountedTally, CountsCache } from './counts-cache.ts';
import type { SubmissionSummary } from './views.ts';

export interface SummaryDeps {
  submissions: SubmissionStore;
  admission: AdmissionStore;
  countsCache: CountsCache;
  clock: Clock;
  settings: PaceSettings;
}

type Deriving = Pick<SummaryDeps, 'clock' | 'settings'>;

/** All that is told about a submission that was just accepted. */
export const summaryOfNew = (deps: Deriving, submission: Submission, backlog: Backlog | undefined): SubmissionSummary =>
  derive(deps, submission, { tally: tally(submission, []), asOfMs: deps.clock.now() }, backlog);

/** Reads what is told about a submission of this tenant. Throws ProblemError `not_found` for every other id. */
export async function readSummary(
  deps: SummaryDeps,
  tenantId: string,
  submissionId: string,
): Promise<SubmissionSummary> {
  const [head, backlog] = await Promise.all([
    readHead(deps.submissions, tenantId, submissionId),
    deps.admission.backlog(),
  ]);
  const summary = await summaryOfHead(deps, head, backlog);
  if (summary === undefined) throw notFound();
  return summary;
}

/** The same for a head that was just read; undefined when it has expired since. The ledger, which may be megabytes, is read last. */
export async function summaryOfHead(
  deps: SummaryDeps,
  submission: Submission,
  backlog: Backlog | undefined,
): Promise<SubmissionSummary | undefined> {
  const { countsCache, clock } = deps;
  const final = finalTally(submission);
  const known = final ? { tally: final, asOfMs: clock.now() } : countsCache.recall(submission);
  if (known) return derive(deps, submission, known, backlog);
  const read = await deps.submissions.getWithLedger(submission.submissionId);
  if (read === undefined) return undefined;
  const counted = tally(read.submission, read.ledger);
  countsCache.remember(read.submission, counted);
  return derive(deps, read.submission, { tally: counted, asOfMs: clock.now() }, backlog);
}

function derive(
  { clock, settings }: Deriving,
  submission: Submission,
  { tally: { counts, failures }, asOfMs }: CountedTally,
  backlog: Backlog | undefined,
): SubmissionSummary {
  const { pacePerSecond, smallLaneShare } = settings;
  // From the time of the counts on: since then, work has gone on.
  const estimate = estimateCompletion({ submission, counts, backlog, pacePerSecond, smallLaneShare, nowMs: asOfMs });
  const isOld = isOpen(submission.state) && asOfMs < clock.now();
  return {
    submission,
    tally: { counts, failures },
    estimatedCompletionAtMs: estimate === undefined ? undefined : Math.max(estimate, clock.now()),
    ...(isOld && { countsAsOfMs: asOfMs }),
  };
}

/** Head of a submission of this tenant. Throws ProblemError `not_found` for every other id. */
export async function readHead(
  submissions: SubmissionStore,
  tenantId: string,
  submissionId: string,
): Promise<Submission> {
  const read = isSubmissionId(submissionId) ? await submissions.get(submissionId) : undefined;
  if (read?.tenantId !== tenantId) throw notFound();
  return read;
}
