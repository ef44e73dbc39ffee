import type { Plan } from './plan.ts';
import { run, type RunResult } from './run.ts';

/** Runs that shrinking may take: a failure is looked at by a person, who waits for it. */
const MOST_RUNS = 150;

/**
 * Looks for a smaller plan that breaks the same invariant: takes away submissions, records and faults as long as it is still broken. Every
 * concern draws from a stream of its own, so what is left mostly goes on as before.
 */
export async function shrink(failed: RunResult, runPlan = run): Promise<RunResult> {
  let smallest = failed;
  const budget = { runs: MOST_RUNS };
  const stillFails = async (plan: Plan): Promise<boolean> => {
    if (budget.runs-- <= 0) return false;
    const result = await runPlan(plan);
    if (result.violation?.invariant !== failed.violation?.invariant) return false;
    smallest = result;
    return true;
  };
  for (let before: RunResult | undefined; before !== smallest && budget.runs > 0;) {
    before = smallest;
    for (const smaller of smallerPlans(smallest.plan)) if (await stillFails(smaller)) break;
  }
  return smallest;
}

/** Plans that are smaller by one step, the biggest steps first. */
function* smallerPlans(plan: Plan): Generator<Plan> {
  if (plan.submissions.length > 1) {
    for (const submission of plan.submissions) yield { ...plan, submissions: without(plan.submissions, submission) };
  }
  const { deployment, ...undeployed } = plan;
  if (deployment !== undefined) yield undeployed;
  for (const outage of plan.outages) yield { ...plan, outages: without(plan.outages, outage) };
  for (const brownOut of plan.brownOuts) yield { ...plan, brownOuts: without(plan.brownOuts, brownOut) };
  for (const throttle of plan.throttles) yield { ...plan, throttles: without(plan.throttles, throttle) };
  for (const mishap of plan.mishaps) yield { ...plan, mishaps: without(plan.mishaps, mishap) };
  for (const name of SHARES) if (plan[name] > 0) yield { ...plan, [name]: 0 };
  for (const submission of plan.submissions) {
    const { kinds, cancelAfterMs, ...rest } = submission;
    const replaced = (by: typeof submission): Plan => ({
      ...plan,
      submissions: plan.submissions.map((other) => (other === submission ? by : other)),
    });
    if (kinds.length > 1) yield replaced({ ...submission, kinds: kinds.slice(0, Math.ceil(kinds.length / 2)) });
    if (cancelAfterMs !== undefined) yield replaced({ ...rest, kinds });
  }
  if (plan.workers > 1) yield { ...plan, workers: 1 };
}

const SHARES = [
  'crashShare',
  'lostReplyShare',
  'failureShare',
  'partialShare',
  'duplicateShare',
  'delayShare',
  'flakyShare',
  'skewMs',
] as const;

const without = <T>(items: readonly T[], item: T): T[] => items.filter((other) => other !== item);
