import * as v from 'valibot';
import { InvalidCursorError } from '../errors.ts';
import { isOpen, type Submission } from '../model.ts';
import type { SubmissionStore } from '../submissions/ports.ts';
import type { Clock } from '../time.ts';
import { decodeCursor, encodeCursor, invalidCursor } from './cursor.ts';
import { readHead, readSummary, summaryOfHead, type SummaryDeps } from './submission-summary.ts';
import { etagOf, matchesEtag } from './etag.ts';
import { parseQuery } from './input.ts';
import type { Answer } from './request.ts';
import { statusParametersSchema, submissionListParametersSchema, type SubmissionView } from './schemas.ts';
import { submissionView } from './views.ts';

/** Submissions of a page whose ledgers are read at the same time. */
const PARALLEL_READS = 8;

/** Time that is kept for the last read and the answer. */
const ANSWER_RESERVE_MS = 4_000;
/** Pauses between two looks grow, so that a wait of 20 seconds costs nine reads at most. */
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 4_000;

/** GET /v1/submissions/{id} */
export const getSubmission =
  (deps: SummaryDeps): Answer =>
  async (request, { tenantId }) => {
    const { wait } = parseQuery(statusParametersSchema, request.query);
    const id = request.path['id'] ?? '';
    const known = request.headers['if-none-match'];
    const startMs = deps.clock.now();
    const read = async (): Promise<SubmissionView> =>
      submissionView(await readSummary(deps, tenantId, id), request.baseUrl);
    const untilMs = startMs + Math.min(wait * 1_000, request.budget.remainingMs() - ANSWER_RESERVE_MS);
    // With a tag, counts matter, and they are in the ledger; without one the head alone says when it has ended.
    if (known === undefined && wait > 0) {
      await pollUntil(deps.clock, untilMs, async () => !isOpen((await readHead(deps.submissions, tenantId, id)).state));
    }
    let body: SubmissionView | undefined;
    await pollUntil(deps.clock, known === undefined ? startMs : untilMs, async () => {
      body = await read();
      return !matchesEtag(known, tagOf(body));
    });
    body ??= await read();
    return { status: 200, headers: { ETag: tagOf(body) }, body, waitedMs: wait > 0 ? deps.clock.now() - startMs : 0 };
  };

/** Looks again and again, with growing pauses, until it is done or the time is over; once at least. */
async function pollUntil(clock: Clock, untilMs: number, isDone: () => Promise<boolean>): Promise<void> {
  for (let pauseMs = FIRST_PAUSE_MS; !(await isDone()); pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    const leftMs = untilMs - clock.now();
    if (leftMs <= 0) return;
    await clock.sleep(Math.min(pauseMs, leftMs));
  }
}

/** Of all that is told but the estimate, which moves with the clock. */
const tagOf = ({ estimatedCompletionAt: _estimate, ...view }: SubmissionView): string => etagOf(view);

/** GET /v1/submissions: newest first. */
export const listSubmissions =
  (deps: SummaryDeps): Answer =>
  async (request, { tenantId }) => {
    const { state, limit, cursor } = parseQuery(submissionListParametersSchema, request.query);
    const scope = ['submissions', tenantId, state ?? ''];
    const page = await readPage(deps.submissions, {
      tenantId,
      limit,
      ...(state !== undefined && { state }),
      ...(cursor !== undefined && { cursor: decodeCursor(scope, v.string(), cursor) }),
    });
    const items = await viewsOf(deps, page.items, request.baseUrl);
    const nextCursor = page.nextCursor === undefined ? null : encodeCursor(scope, page.nextCursor);
    return { status: 200, body: { items, nextCursor } };
  };

type ListQuery = Parameters<SubmissionStore['listByTenant']>[0];

async function readPage(submissions: SubmissionStore, query: ListQuery): ReturnType<SubmissionStore['listByTenant']> {
  try {
    const page = await submissions.listByTenant(query);
    // A tenant is not to believe that a submission is gone.
    if (page.unreadable[0]) throw page.unreadable[0].error;
    return page;
  } catch (error) {
    // A forged position inside of a well-formed cursor.
    if (error instanceof InvalidCursorError) throw invalidCursor(error);
    throw error;
  }
}

async function viewsOf(
  deps: SummaryDeps,
  submissions: readonly Submission[],
  baseUrl: string,
): Promise<SubmissionView[]> {
  // Only what is open has an end to estimate.
  const backlog = submissions.some(({ state }) => isOpen(state)) ? await deps.admission.backlog() : undefined;
  const views: SubmissionView[] = [];
  for (let from = 0; from < submissions.length; from += PARALLEL_READS) {
    const read = await Promise.all(
      submissions.slice(from, from + PARALLEL_READS).map(async (head) => summaryOfHead(deps, head, backlog)),
    );
    views.push(...read.flatMap((summary) => (summary === undefined ? [] : submissionView(summary, baseUrl))));
  }
  return views;
}
