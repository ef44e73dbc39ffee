import * as v from 'valibot';
import { InvalidCursorError } from '../errors.ts';
import type { Submission } from '../model.ts';
import type { SubmissionStore } from '../submissions/ports.ts';
import { decodeCursor, encodeCursor, invalidCursor } from './cursor.ts';
import { summaryOfHead, readSummary, type SummaryDeps } from './submission-summary.ts';
import { parseQuery } from './input.ts';
import type { Answer } from './request.ts';
import { noParametersSchema, submissionListParametersSchema, type SubmissionView } from './schemas.ts';
import { submissionView } from './views.ts';

/** Submissions of a page whose ledgers are read at the same time. */
const PARALLEL_READS = 8;

/** GET /v1/submissions/{id} */
export const getSubmission =
  (deps: SummaryDeps): Answer =>
  async (request, { tenantId }) => {
    parseQuery(noParametersSchema, request.query);
    const summary = await readSummary(deps, tenantId, request.path['id'] ?? '');
    return { status: 200, body: submissionView(summary, request.baseUrl) };
  };

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
  const backlog = submissions.length > 0 ? await deps.admission.backlog() : undefined;
  const views: SubmissionView[] = [];
  for (let from = 0; from < submissions.length; from += PARALLEL_READS) {
    const read = await Promise.all(
      submissions.slice(from, from + PARALLEL_READS).map(async (head) => summaryOfHead(deps, head, backlog)),
    );
    views.push(...read.flatMap((summary) => (summary === undefined ? [] : submissionView(summary, baseUrl))));
  }
  return views;
}
