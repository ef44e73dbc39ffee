import * as v from 'valibot';
import { isOpen } from '../model.ts';
import { acceptSubmission, relay, repeatAcceptance, type AcceptDeps } from './accept.ts';
import { findSource } from './file-source.ts';
import { summaryOfNew, readSummary, readHead, type SummaryDeps } from './submission-summary.ts';
import { idempotencyKeyOf, keyReused, replayHeaders, stillInProgress } from './idempotency-key.ts';
import { derivedSubmissionId, newSubmissionId } from './ids.ts';
import { parseBody, parseQuery } from './input.ts';
import { InProgressError, KeyReusedError, type IdempotencyStore } from './ports.ts';
import { notFound, ProblemError } from './problems.ts';
import type { Answer, ApiRequest, Caller } from './request.ts';
import type { OpenWork } from '../tenants/ports.ts';
import { noParametersSchema, type SubmissionView } from './schemas.ts';
import { readSubmissionRequest, type SubmissionRequest } from './submission-request.ts';
import { submissionView } from './views.ts';

export interface SubmitDeps extends AcceptDeps, Pick<SummaryDeps, 'countsCache'> {
  answers: IdempotencyStore;
  settings: AcceptDeps['settings'] & { maxDirectBodyBytes: number };
}

/** POST /v1/submissions */
export const createSubmission =
  (deps: SubmitDeps): Answer =>
  async (request, caller) => {
    const idempotencyKey = idempotencyKeyOf(request);
    const asked = readSubmissionRequest(request, caller, deps.settings);
    const { view, replayed, open } =
      idempotencyKey === undefined
        ? await acceptAnyway(deps, request, caller, asked)
        : await acceptOnce(deps, request, caller, asked, idempotencyKey);
    const headers = { Location: view.links.self, ...replayHeaders(replayed), ...rateLimitHeaders(deps, open) };
    return { status: 202, headers, body: view };
  };

interface AcceptedView {
  view: SubmissionView | v.InferOutput<typeof rememberedSchema>;
  /** An earlier request with the same key was accepted. */
  replayed: boolean;
  /** What the tenant has open; absent where it was not read. */
  open?: readonly OpenWork[];
}

/** What a tenant may have open and what is left of it, as the IETF's draft of the RateLimit headers writes it. */
function rateLimitHeaders({ settings }: SubmitDeps, open: readonly OpenWork[] | undefined): Record<string, string> {
  if (open === undefined) return {};
  const { maxOpenSubmissionsPerTenant, maxOpenRecordsPerTenant } = settings.admission;
  const records = open.reduce((sum, work) => sum + work.records, 0);
  const left = (limit: number, used: number): number => Math.max(0, limit - used);
  return {
    'RateLimit-Policy': `"submissions";q=${maxOpenSubmissionsPerTenant}, "records";q=${maxOpenRecordsPerTenant}`,
    RateLimit: `"submissions";r=${left(maxOpenSubmissionsPerTenant, open.length)}, "records";r=${left(maxOpenRecordsPerTenant, records)}`,
  };
}

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
): Promise<AcceptedView> {
  const submissionId = newSubmissionId(deps.clock.now(), deps.random);
  const accepted = await acceptSubmission(deps, { tenantId, submissionId, mayStand: false }, asked);
  const view = submissionView(summaryOfNew(deps, accepted.submission, accepted.backlog), baseUrl);
  return { view, replayed: false, open: accepted.open };
}

/** Calls with the same key are one submission; a repetition gets its current state. */
async function acceptOnce(
  deps: SubmitDeps,
  { baseUrl, budget }: ApiRequest,
  { tenantId }: Caller,
  asked: SubmissionRequest,
  idempotencyKey: string,
): Promise<AcceptedView> {
  const submissionId = derivedSubmissionId(tenantId, idempotencyKey);
  const { requestHash } = asked;
  const current = async () => submissionView(await readSummary(deps, tenantId, submissionId), baseUrl);
  let accepted: AcceptedView | undefined;
  const accept = async (): Promise<string> => {
    const { submission, backlog, repeated, open } = await acceptSubmission(
      deps,
      { tenantId, submissionId, mayStand: true },
      asked,
    );
    const view = repeated ? await current() : submissionView(summaryOfNew(deps, submission, backlog), baseUrl);
    accepted = { view, replayed: repeated, open };
    return JSON.stringify(view);
  };
  try {
    const stored = await deps.answers.once({ tenantId, idempotencyKey, requestHash }, budget, accept);
    return accepted ?? { view: await currentOr(stored, current), replayed: true };
  } catch (error) {
    if (!(error instanceof KeyReusedError || error instanceof InProgressError)) throw error;
    const standing = await deps.submissions.get(submissionId);
    if (standing === undefined) throw error instanceof KeyReusedError ? keyReused() : stillInProgress(error);
    // The request before this one died, or has not answered yet, or named another upload; what it accepted stands.
    await repeatAcceptance(deps, standing, asked, async () => findSource(deps, tenantId, submissionId, asked));
    return { view: await current(), replayed: true };
  }
}

/** The submission as it is now, or as it was accepted where it is gone. */
async function currentOr(stored: string, current: () => Promise<SubmissionView>): Promise<AcceptedView['view']> {
  try {
    return await current();
  } catch (error) {
    if (error instanceof ProblemError && error.code === 'not_found') return parseView(stored);
    throw error;
  }
}

/** A remembered answer as it was given, perhaps by another version. */
const rememberedSchema = v.looseObject({ links: v.looseObject({ self: v.string() }) });
const parseView = (text: string) => v.parse(v.pipe(v.string(), v.parseJson(), rememberedSchema), text);
