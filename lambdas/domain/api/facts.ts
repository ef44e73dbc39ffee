import { tally } from '../ledger.ts';
import { isOpen, type LedgerChunk, type Submission } from '../model.ts';
import type { AdmissionStore, Backlog, SubmissionStore } from '../ports.ts';
import type { Clock } from '../time.ts';
import { estimateCompletion } from './estimate.ts';
import { isSubmissionId } from './ids.ts';
import { notFound } from './problems.ts';
import type { SubmissionFacts } from './views.ts';

export interface FactsDeps {
  submissions: SubmissionStore;
  admission: AdmissionStore;
  clock: Clock;
  settings: { pacePerSecond: number };
}

/** All that is told about a submission, from its head and ledger. */
export function factsOf(
  { clock, settings }: Pick<FactsDeps, 'clock' | 'settings'>,
  { submission, ledger }: { submission: Submission; ledger: readonly LedgerChunk[] },
  backlog: Backlog | undefined,
): SubmissionFacts {
  const counted = tally(submission, ledger);
  const { pacePerSecond } = settings;
  const nowMs = clock.now();
  const estimatedCompletionAtMs = estimateCompletion({
    submission,
    counts: counted.counts,
    backlog,
    pacePerSecond,
    nowMs,
  });
  return { submission, tally: counted, estimatedCompletionAtMs };
}

/** Reads what is told about a submission of this tenant. Throws ProblemError `not_found` for every other id. */
export async function readFacts(deps: FactsDeps, tenantId: string, submissionId: string): Promise<SubmissionFacts> {
  const { submission, ledger } = await readWithLedger(deps.submissions, tenantId, submissionId);
  const backlog = isOpen(submission.state) ? await deps.admission.backlog() : undefined;
  return factsOf(deps, { submission, ledger }, backlog);
}

/** Head and ledger of a submission of this tenant. Throws ProblemError `not_found` for every other id. */
export async function readWithLedger(
  submissions: SubmissionStore,
  tenantId: string,
  submissionId: string,
): Promise<{ submission: Submission; ledger: LedgerChunk[] }> {
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
