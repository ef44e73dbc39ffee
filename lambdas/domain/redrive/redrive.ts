import * as v from 'valibot';
import { InvalidCursorError } from '../errors.ts';
import type { Submission } from '../model.ts';
import { PACE_SHARE } from '../providers/config.ts';
import { grantedShare } from '../providers/slots.ts';
import { clearReplayed, drainDeadLetters } from './dead-letters.ts';
import { giveUpResults } from './give-up.ts';
import { replaySubmission } from './replay-submission.ts';
import { isKnownReason, REASON_CODES } from '../reasons.ts';
import { parseRedriveRequest, RedriveRequestError, type RedriveRequest } from './request.ts';
import { Pace, type RedriveDeps, type RedriveReport, ReportBuilder, type Run, isOver } from './run.ts';
import { submissionFits } from './select.ts';
import type { Page, TolerantPage } from '../submissions/ports.ts';
import type { TimeBudget } from '../time.ts';

const PAGE = 50;

/** Where a redrive goes on: in which page of submissions, at which of them, at which of its records. */
const cursorSchema = v.strictObject({
  page: v.optional(v.string()),
  submissionId: v.optional(v.string()),
  recordNo: v.optional(v.number(), 1),
});
type Cursor = v.InferOutput<typeof cursorSchema>;

/**
 * Replays what failed: selects by the request, answers what a replay costs (`dryRun`, the default), or does it. A record that
 * has succeeded is never reopened. It may be repeated, and of two at once each record is reopened and sent by one.
 *
 * @throws RedriveRequestError for a request that cannot be understood, naming the field and what is allowed.
 */
export async function redrive(deps: RedriveDeps, event: unknown, budget: TimeBudget): Promise<RedriveReport> {
  const names = deps.apis.map(({ name }) => name);
  const request = parseRedriveRequest(event, names);
  const apis = await grantedRates(deps);
  const slowest = Math.min(...apis.map(({ ratePerSecond }) => ratePerSecond * PACE_SHARE));
  const pace = new Pace(request.ratePerSecond ?? slowest);
  const report = new ReportBuilder(apis, request.dryRun, pace.ratePerSecond);
  const run = {
    deps,
    request,
    budget,
    report,
    pace,
    startedAtMs: deps.clock.now(),
    examined: 0,
    drained: new Map<string, ReadonlySet<number>>(),
  };
  if (request.mode === 'dead_letter_queue') return drainDeadLetters(run);
  if (request.mode === 'give_up') return giveUpResults(run);
  const nextCursor = await redriveRecords(run);
  await clearReplayed(run);
  return report.finish(nextCursor);
}

/** The providers with the calls per second that the fleet grants itself at the moment. */
const grantedRates = async ({ apis, providers, clock }: RedriveDeps): Promise<RedriveDeps['apis']> =>
  Promise.all(
    apis.map(async ({ name, ratePerSecond }) => ({
      name,
      ratePerSecond: ratePerSecond * grantedShare(await providers.get(name), clock.now()),
    })),
  );

/** What the function answers: what it did, or why it did nothing. */
export type RedriveAnswer = RedriveReport | { refused: string };

/** {@link redrive} for operators: a mistake in the request is an answer, since nothing of ours has failed. */
export async function answerRedrive(deps: RedriveDeps, event: unknown, budget: TimeBudget): Promise<RedriveAnswer> {
  try {
    return await redrive(deps, event, budget);
  } catch (error) {
    if (error instanceof RedriveRequestError || error instanceof InvalidCursorError) return { refused: error.message };
    throw error;
  }
}

/** Answers where to go on, when the limit or the time did not suffice. */
async function redriveRecords(run: Run): Promise<string | undefined> {
  let cursor = decode(run.request.cursor);
  for (;;) {
    const page = await submissionsOf(run, cursor.page);
    const from = page.items.findIndex(({ submissionId }) => submissionId === cursor.submissionId);
    for (const { submissionId } of page.items.slice(Math.max(0, from))) {
      const first = submissionId === cursor.submissionId ? cursor.recordNo : 1;
      const recordNo = await redriveSubmission(run, submissionId, first);
      if (recordNo !== undefined) {
        return encode({ ...(cursor.page && { page: cursor.page }), submissionId, recordNo });
      }
    }
    if (page.nextCursor === undefined) {
      refuseUnknownReasons(run.request, run.report.report);
      return undefined;
    }
    cursor = { page: page.nextCursor, recordNo: 1 };
    if (isOver(run)) return encode(cursor);
  }
}

/** A reason that is not in the catalogue may be a newer version's, or a typing error: that one no record carries. */
function refuseUnknownReasons({ reason = [], cursor }: RedriveRequest, { replayed, skipped }: RedriveReport): void {
  const unknown = reason.find((code) => !isKnownReason(code));
  if (unknown === undefined || cursor !== undefined || replayed > 0 || Object.keys(skipped).length > 0) return;
  throw new RedriveRequestError(
    `reason is "${unknown}": no selected record carries it. Known reasons are ${REASON_CODES.join(', ')}.`,
  );
}

async function submissionsOf({ deps, request }: Run, cursor: string | undefined): Promise<Page<Submission>> {
  const { submissionId, tenantId } = request;
  const page = { limit: PAGE, ...(cursor !== undefined && { cursor }) };
  if (submissionId === undefined) {
    const { submissions } = deps;
    const list = tenantId === undefined ? submissions.listAll(page) : submissions.listByTenant({ tenantId, ...page });
    return tolerated(deps, await list);
  }
  const submission = await deps.submissions.get(submissionId);
  if (submission === undefined) {
    throw new RedriveRequestError(`submissionId is "${submissionId}": there is no such submission, or it has expired.`);
  }
  return { items: [submission] };
}

/** What cannot be read is told to operators, and stops nothing else. */
function tolerated({ telemetry }: RedriveDeps, page: TolerantPage<Submission>): Page<Submission> {
  for (const { submissionId, error } of page.unreadable)
    telemetry.emit({ name: 'unexpected_error', level: 'error', submissionId, error });
  return page;
}

/** Answers the record at which the redrive stopped for want of time or because the limit is reached; undefined at the end. */
async function redriveSubmission(run: Run, submissionId: string, firstRecordNo: number): Promise<number | undefined> {
  const { deps, request, report } = run;
  const found = await deps.submissions.getWithLedger(submissionId);
  if (found === undefined) return undefined;
  const fits = submissionFits(deps, found.submission, request);
  if (typeof fits === 'string') report.skipped(fits);
  if (fits !== true) return undefined;
  const before = report.report.replayed;
  const max = request.limit - run.examined;
  const { selected, sent, nextRecordNo } = await replaySubmission(run, found, {
    request,
    firstRecordNo,
    max,
    skips: report,
  });
  if (sent.size > 0) run.drained.set(submissionId, sent);
  run.examined += selected;
  if (report.report.replayed > before) report.report.submissions += 1;
  return nextRecordNo;
}

const encode = (cursor: Cursor): string => Buffer.from(JSON.stringify(cursor)).toString('base64url');

function decode(cursor: string | undefined): Cursor {
  if (cursor === undefined) return { recordNo: 1 };
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), cursorSchema), text);
  if (parsed.success) return parsed.output;
  throw new RedriveRequestError(
    `cursor is "${cursor.slice(0, 100)}": set the nextCursor of an earlier answer to the same request.`,
  );
}
