import { RedriveRequestError } from './request.ts';
import type { RedriveReport, Run } from './run.ts';

/**
 * Gives up the results of a submission that cannot be verified, because what was sent or what came of it is lost for good: the finalizer
 * ends it as `rejected` at its next try. Where everything is readable again by then, it publishes the results instead.
 *
 * @throws RedriveRequestError for a submission whose results are not due.
 */
export async function giveUpResults({ deps, request, report }: Run): Promise<RedriveReport> {
  const { submissionId = '' } = request;
  const submission = await deps.submissions.get(submissionId);
  if (submission === undefined) {
    throw new RedriveRequestError(`submissionId is "${submissionId}": there is no such submission, or it has expired.`);
  }
  const { state, generation } = submission;
  const mayGiveUp = request.dryRun
    ? state === 'finalizing'
    : await deps.submissions.giveUpResults(submissionId, generation);
  if (!mayGiveUp) {
    throw new RedriveRequestError(
      `submissionId is "${submissionId}": it is ${state}, and only a submission that is finalizing can be given up.`,
    );
  }
  report.report.givenUp = 1;
  return report.finish();
}
