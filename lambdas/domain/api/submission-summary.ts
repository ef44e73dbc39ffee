import { tally } from '../ledger/ledger.ts';
import { isOpen, type LedgerChunk, type Submission } from '../model.ts';
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
  const [{ submission, counted }, backlog] = await Promise.all([
    readCounted(deps, tenantId, submissionId),
    deps.admission.backlog(),
  ]);
  return derive(deps, submission, counted, backlog);
}

/** The same for a head that was just read; undefined when it has expired since. */
export async function summaryOfHead(
  deps: SummaryDeps,
  submission: Submission,
  backlog: Backlog | undefined,
): Promise<SubmissionSummary | undefined> {
  const known = deps.countsCache.recall(submission);
  if (known) return derive(deps, submission, known, backlog);
  const { finalCounts, state } = submission;
  // A closed submission without failures says all of itself.
  if (!isOpen(state) && finalCounts?.failed === 0) {
    const counted = { tally: { counts: finalCounts, failures: {} }, asOfMs: deps.clock.now() };
    return derive(deps, submission, counted, backlog);
  }
  const read = await deps.submissions.getWithLedger(submission.submissionId);
  return read && derive(deps, read.submission, count(deps, read), backlog);
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

async function readCounted(
  deps: SummaryDeps,
  tenantId: string,
  submissionId: string,
): Promise<{ submission: Submission; counted: CountedTally }> {
  if (deps.countsCache.knows(submissionId)) {
    const submission = await readHead(deps.submissions, tenantId, submissionId);
    const counted = deps.countsCache.recall(submission);
    if (counted) return { submission, counted };
  }
  const read = await readWithLedger(deps.submissions, tenantId, submissionId);
  return { submission: read.submission, counted: count(deps, read) };
}

interface WithLedger {
  submission: Submission;
  ledger: LedgerChunk[];
}

function count({ countsCache, clock }: SummaryDeps, { submission, ledger }: WithLedger): CountedTally {
  const counted = tally(submission, ledger);
  countsCache.remember(submission, counted);
  return { tally: counted, asOfMs: clock.now() };
}

/** Head and ledger of a submission of this tenant. Throws ProblemError `not_found` for every other id. */
export async function readWithLedger(
  submissions: SubmissionStore,
  tenantId: string,
  submissionId: string,
): Promise<WithLedger> {
  const read = isSubmissionId(submissionId) ? await submissions.getWithLedger(submissionId) : undefined;
  if (read?.submission.tenantId !== tenantId) throw notFound();
  return read;
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
