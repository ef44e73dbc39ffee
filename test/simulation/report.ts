import type { Plan } from './plan.ts';
import { run, type RunResult } from './run.ts';
import { shrink } from './shrink.ts';

const LINES_OF_HISTORY = 80;

/** What a person needs to find a defect: the seed, what is broken, the smallest plan that breaks it, and the history behind it. */
export async function explain(failed: RunResult): Promise<string> {
  const smallest = await shrink(failed);
  const { violation, lines, plan } = await run(smallest.plan, { trace: true });
  if (violation === undefined)
    return `Seed ${failed.plan.seed} does not fail again: the run depends on more than its seed.`;
  const subjects = violation.subjects.map((subject) => patternOf(subject));
  const about = subjects.length === 0 ? lines : lines.filter((line) => subjects.some((pattern) => pattern.test(line)));
  return [
    `Seed ${failed.plan.seed} breaks "${failed.violation?.invariant}": ${failed.violation?.message}`,
    `Shrunk to ${summary(plan)}, which breaks it ${(violation.atMs / 1_000).toFixed(3)} s after the start: ${violation.message}`,
    JSON.stringify({
      ...plan,
      submissions: plan.submissions.map((each) => ({ ...each, kinds: each.kinds.join(' ') })),
    }),
    `What happened to ${violation.subjects.join(', ') || 'everything'} before:`,
    ...about.slice(-LINES_OF_HISTORY),
    `Replay it with: npm run sim -- --seed ${failed.plan.seed} --trace`,
  ].join('\n');
}

/** Lines about a record or a submission: by its name, or by its key in a stored item. */
function patternOf(subject: string): RegExp {
  const [, submission, recordNo] = /^s(\d+)r(\d+)$/.exec(subject) ?? [];
  if (submission === undefined) return new RegExp(`${subject}\\b`);
  return new RegExp(`\\b${subject}\\b|"submissionId":"sub_${submission}".*"recordNo":${recordNo}\\b`);
}

function summary({ submissions, outages, throttles, brownOuts, deployment, mishaps }: Plan): string {
  const records = submissions.reduce((sum, { kinds }) => sum + kinds.length, 0);
  const deployed = deployment === undefined ? 0 : 1;
  return `${submissions.length} submissions, ${records} records, ${outages.length} outages, ${throttles.length} throttles, ${brownOuts.length} brown-outs, ${deployed} deployments, ${mishaps.length} mishaps`;
}
