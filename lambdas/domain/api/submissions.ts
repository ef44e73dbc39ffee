import * as v from 'valibot';
import { isOpen } from '../model.ts';
import { acceptSubmission, keyReused, relay, repeatAcceptance, type AcceptDeps } from './accept.ts';
import { summaryOfNew, readSummary, readHead, type SummaryDeps } from './submission-summary.ts';
import { derivedSubmissionId, newSubmissionId } from './ids.ts';
import { parseBody, parseQuery } from './input.ts';
import { InProgressError, KeyReusedError, type IdempotencyStore } from './ports.ts';
import { invalidPart, notFound, ProblemError } from './problems.ts';
import type { Answer, ApiRequest, Caller } from './request.ts';
import { noParametersSchema, type SubmissionView } from './schemas.ts';
import { readSubmissionRequest, type SubmissionRequest } from './submission-request.ts';
import { submissionView } from './views.ts';

export interface SubmitDeps extends AcceptDeps, Pick<SummaryDeps, 'countsCache'> {
  answers: IdempotencyStore;
  settings: AcceptDeps['settings'] & { maxDirectBodyBytes: number };
}

const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;
/** What a client should wait before it repeats a request that is still being answered. */
const IN_PROGRESS_RETRY_SECONDS = 1;

/** POST /v1/submissions */
export const createSubmission =
  (deps: SubmitDeps): Answer =>
  async (request, caller) => {
    const idempotencyKey = idempotencyKeyOf(request);
    const asked = readSubmissionRequest(request, caller, deps.settings);
    const body =
      idempotencyKey === undefined
        ? await acceptAnyway(deps, request, caller, asked)
        : await acceptOnce(deps, request, caller, asked, idempotencyKey);
    return { status: 202, headers: { Location: body.links.self }, body };
  };

/** POST /v1/submissions/{id}/cancel. Records that are finished keep their outcome; of the others none is started. */
export const cancelSubmission =
  (deps: SubmitDeps): Answer =>
  async (request, { tenantId }) => {
    parseQuery(noParametersSchema, request.query);
    parseBody(noParametersSchema, request.body);
    const { submissionId, state } = await readHead(deps.submissions, tenantId, request.path['id'] ?? '');
    if (!isOpen(state) && state !== 'cancelled') {
      throw new ProblemError('already_closed', `The submission is ${state}: there is nothing left to cancel.`);
    }
    const nowMs = deps.clock.now();
    const stopped = await deps.submissions.requestStop(submissionId, { kind: 'cancelled', atMs: nowMs });
    if (stopped === undefined) throw notFound();
    if (isOpen(stopped.state)) await deps.submissions.scheduleCheck(submissionId, nowMs);
    // Fan-out settles what is left, at once; the reconciler does where this message is lost.
    if (isOpen(stopped.state) && stopped.fanOut.done) await relay(deps, stopped);
    deps.telemetry.emit({ name: 'submission_stopped', level: 'info', submissionId, tenantId, outcome: 'cancelled' });
    return { status: 202, body: submissionView(await readSummary(deps, tenantId, submissionId), request.baseUrl) };
  };

/** Every call is a submission of its own. */
async function acceptAnyway(
  deps: SubmitDeps,
  { baseUrl }: ApiRequest,
  { tenantId }: Caller,
  asked: SubmissionRequest,
): Promise<SubmissionView> {
  const submissionId = newSubmissionId(deps.clock.now(), deps.random);
  const { submission, backlog } = await acceptSubmission(deps, { tenantId, submissionId, mayStand: false }, asked);
  return submissionView(summaryOfNew(deps, submission, backlog), baseUrl);
}

/** Calls with the same key are one submission and get the same answer. */
async function acceptOnce(
  deps: SubmitDeps,
  { baseUrl, budget }: ApiRequest,
  { tenantId }: Caller,
  asked: SubmissionRequest,
  idempotencyKey: string,
): Promise<{ links: { self: string } }> {
  const submissionId = derivedSubmissionId(tenantId, idempotencyKey);
  const { requestHash } = asked;
  const accept = async (): Promise<string> => {
    const accepted = await acceptSubmission(deps, { tenantId, submissionId, mayStand: true }, asked);
    const summary = accepted.repeated
      ? await readSummary(deps, tenantId, submissionId)
      : summaryOfNew(deps, accepted.submission, accepted.backlog);
    return JSON.stringify(submissionView(summary, baseUrl));
  };
  try {
    return parseView(await deps.answers.once({ tenantId, idempotencyKey, requestHash }, budget, accept));
  } catch (error) {
    if (error instanceof KeyReusedError) throw keyReused();
    if (!(error instanceof InProgressError)) throw error;
    const standing = await deps.submissions.get(submissionId);
    if (standing === undefined) throw stillInProgress(error);
    // The request before this one died, or has not answered yet; what it accepted stands.
    await repeatAcceptance(deps, standing, requestHash);
    return submissionView(await readSummary(deps, tenantId, submissionId), baseUrl);
  }
}

/** A remembered answer as it was given, perhaps by another version. */
const rememberedSchema = v.looseObject({ links: v.looseObject({ self: v.string() }) });
const parseView = (text: string) => v.parse(v.pipe(v.string(), v.parseJson(), rememberedSchema), text);

const stillInProgress = (cause: Error): ProblemError =>
  new ProblemError('request_in_progress', 'Repeat the request in a moment: it will get the same answer.', {
    retryAfterSeconds: IN_PROGRESS_RETRY_SECONDS,
    cause,
  });

function idempotencyKeyOf({ headers }: ApiRequest): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined || IDEMPOTENCY_KEY.test(key)) return key;
  throw invalidPart({ header: 'Idempotency-Key', detail: 'Idempotency-Key has 1 to 255 printable ASCII characters.' });
}
