import * as v from 'valibot';
import { isReasonCode, reasonOf } from '../lambdas/domain/reasons.ts';
import { MAX_REDRIVES } from '../lambdas/domain/redrive/request.ts';
import type { Skip } from '../lambdas/domain/redrive/run.ts';

const counts = v.record(v.string(), v.number());

/** The answer of the redrive function, as far as it is shown. */
export const reportSchema = v.object({
  dryRun: v.boolean(),
  replayed: v.number(),
  byReason: counts,
  submissions: v.number(),
  givenUp: v.optional(v.number(), 0),
  providerCalls: counts,
  seconds: v.number(),
  skipped: counts,
  unsent: v.number(),
  deadLettersDeleted: v.optional(v.number(), 0),
  setApart: v.optional(v.number(), 0),
  stoppedEarly: v.optional(v.boolean(), false),
  deadLetters: v.optional(
    v.array(
      v.object({
        lane: v.string(),
        messageId: v.string(),
        submissionId: v.optional(v.string()),
        recordNo: v.optional(v.number()),
        reason: v.optional(v.string()),
        sentAtMs: v.number(),
      }),
    ),
    [],
  ),
  nextCursor: v.optional(v.string()),
});
export type Report = v.InferOutput<typeof reportSchema>;

const SKIPS: Readonly<Record<Skip, string>> = {
  exhausted: `replayed ${MAX_REDRIVES} times already: parked for good, somebody has to look at them`,
  not_helpful: 'a replay cannot help, the file has to be corrected; --force replays them all the same',
  expiring: 'their submission expires within hours',
  source_gone: 'their file is gone or was changed',
  busy: 'their submission is being finalized or stopped: try again in a minute',
  settled: 'already finished, or replaced by a newer generation',
};

/** The sum of two answers to the same request. */
export function addReports(a: Report, b: Report): Report {
  return {
    ...b,
    replayed: a.replayed + b.replayed,
    byReason: addCounts(a.byReason, b.byReason),
    submissions: a.submissions + b.submissions,
    providerCalls: addCounts(a.providerCalls, b.providerCalls),
    seconds: a.seconds + b.seconds,
    skipped: addCounts(a.skipped, b.skipped),
    unsent: a.unsent + b.unsent,
    deadLettersDeleted: a.deadLettersDeleted + b.deadLettersDeleted,
    setApart: a.setApart + b.setApart,
    deadLetters: [...a.deadLetters, ...b.deadLetters],
  };
}

const addCounts = (a: Report['byReason'], b: Report['byReason']): Report['byReason'] =>
  Object.fromEntries(
    [...new Set([...Object.keys(a), ...Object.keys(b)])].map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]),
  );

/** What a redrive found or did, in words. */
export function describeReport(report: Report): string[] {
  const { dryRun, replayed, submissions, seconds, unsent } = report;
  const of = submissions > 0 ? ` of ${submissions} submission${submissions === 1 ? '' : 's'}` : '';
  const lines = [dryRun ? 'Dry run: nothing was changed.' : 'Done.'];
  if (report.givenUp > 0) {
    lines.push(
      `The submission ${dryRun ? 'would end' : 'ends'} as rejected within ten minutes, unless its results can be verified by then.`,
    );
    return lines;
  }
  lines.push(`${replayed} record${replayed === 1 ? '' : 's'}${of} ${dryRun ? 'would be' : 'were'} replayed.`);
  lines.push(
    ...table(report.byReason, (code) =>
      code === 'unreadable_message' || !isReasonCode(code) ? UNREADABLE : reasonOf(code).operator,
    ),
  );
  if (replayed > 0) {
    const calls = Object.entries(report.providerCalls).map(([name, count]) => `${name} ${count}`);
    lines.push(
      `Provider calls: ${calls.join(', ')}; what was answered before is kept. At the paced rate: ${seconds} s.`,
    );
  }
  const skipped = Object.values(report.skipped).reduce((sum, count) => sum + count, 0);
  if (skipped > 0) lines.push(`${skipped} left alone:`, ...table(report.skipped, skipInWords));
  if (unsent > 0) lines.push(`${unsent} could not be sent now: the reconciler sends them later.`);
  const { deadLettersDeleted, deadLetters } = report;
  if (deadLettersDeleted > 0) lines.push(`${deadLettersDeleted} dead letters deleted: nothing is left to do for them.`);
  if (report.setApart > 0) {
    const what = report.setApart === 1 ? 'unreadable message' : 'unreadable messages';
    lines.push(`${report.setApart} ${what} ${dryRun ? 'would be' : 'were'} moved to set-apart/ in the bucket.`);
  }
  if (report.stoppedEarly) lines.push('It stopped before the end of the queues: run it again in two minutes.');
  if (deadLetters.length > 0) lines.push('The first dead letters:', ...deadLetters.map(deadLetterLine));
  if (dryRun && replayed > 0) lines.push('Add --execute to do it.');
  return lines;
}

/** What it stands for, never what the customer sent. */
function deadLetterLine({ lane, messageId, submissionId, recordNo, reason, sentAtMs }: Report['deadLetters'][number]) {
  const record = submissionId === undefined ? `unreadable message ${messageId}` : `${submissionId} record ${recordNo}`;
  const why = reason ?? 'moved by SQS after its worker died';
  return `  ${lane.padEnd(5)}  ${record}  ${why}  sent ${new Date(sentAtMs).toISOString().slice(0, 16)}Z`;
}

const UNREADABLE = 'A body that no worker can read; perhaps a newer version can.';
const isSkip = (why: string): why is Skip => Object.hasOwn(SKIPS, why);
const skipInWords = (why: string): string => (isSkip(why) ? SKIPS[why] : '');

function table(rows: Report['byReason'], inWords: (name: string) => string): string[] {
  return Object.entries(rows).map(([name, count]) =>
    `  ${String(count).padStart(7)}  ${name.padEnd(22)}  ${inWords(name)}`.trimEnd(),
  );
}
