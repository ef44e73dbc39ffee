import { MAX_ATTEMPTS } from '../limits.ts';
import type { ProviderAnswer } from '../model.ts';
import { askOnce } from '../providers/ask-once.ts';
import type { ProviderResult } from '../providers/call.ts';
import type { ProviderRequest } from '../providers/request.ts';
import { sentencesOf } from '../records/inspection.ts';
import type { TimeBudget } from '../time.ts';
import { logFieldsOf } from './deliveries.ts';
import type { WorkerDeps } from './process-batch.ts';
import { awaitReady, defer, fail, retry, succeed, type Job, type Resolution, type Resolved } from './resolution.ts';

/** A record that passed validation, with the requests to make and the answers that need none. */
interface Prepared {
  job: Job;
  /** By provider. */
  requests: Map<string, ProviderRequest>;
  answers: Record<string, ProviderAnswer>;
}

/**
 * Validates records and asks the providers for what is not yet known, all providers at the same time: each has its own pace, and
 * the answer of one is kept whatever the other does. An error of one record affects only that record. Never throws.
 */
export async function enrich(deps: WorkerDeps, jobs: readonly Job[], budget: TimeBudget): Promise<Resolved[]> {
  const resolved: Resolved[] = [];
  const prepared: Prepared[] = [];
  for (const job of jobs) {
    const step = guarded(deps, job, () => prepare(deps, job));
    if ('kind' in step) resolved.push({ item: job.item, resolution: step });
    else prepared.push(step);
  }
  const results = new Map<Prepared, Map<string, ProviderResult>>(prepared.map((each) => [each, new Map()]));
  await Promise.all(
    deps.apis.map(async (api) => {
      const { name } = api.config;
      const asking = prepared.filter(({ requests }) => requests.has(name));
      if (asking.length === 0) return;
      const lookups = asking.map(({ job, requests }) => ({
        ...(requests.get(name) ?? { url: '' }),
        tenantId: job.message.tenantId,
        checkBody: job.checks.responses.get(name),
        about: logFieldsOf(deps, job.message),
        isLastAttempt: job.message.attempt >= MAX_ATTEMPTS,
      }));
      const answers = await askOnce(deps, api, lookups, budget);
      for (const [index, each] of asking.entries()) {
        const answer = answers[index];
        if (answer !== undefined) results.get(each)?.set(name, answer);
      }
    }),
  );
  for (const each of prepared) {
    const resolution = guarded(deps, each.job, () => resolve(deps, each, results.get(each)));
    resolved.push({ item: each.job.item, resolution });
  }
  return resolved;
}

/** An unexpected error is a failed attempt of the one record in whose processing it occurred. */
function guarded<T>(deps: WorkerDeps, job: Job, step: () => T): T | Resolution {
  try {
    return step();
  } catch (error) {
    deps.telemetry.emit({ name: 'unexpected_error', level: 'error', ...logFieldsOf(deps, job.message), error });
    return retry(job, deps, { reason: 'internal_error', detail: 'An unexpected error on our side.' });
  }
}

function prepare(deps: WorkerDeps, job: Job): Prepared | Resolution {
  const { content } = job.message;
  if (content.kind === 'defect') return fail(job, deps, { reason: content.reason, detail: content.detail });
  const fields = content.kind === 'mapped' ? content.used : content.fields;
  const { problems } = job.checks.record(fields);
  if (problems.length > 0) return fail(job, deps, { reason: 'invalid_record', detail: sentencesOf(problems) });

  const requests = new Map<string, ProviderRequest>();
  const answers: Record<string, ProviderAnswer> = { ...job.answers };
  for (const { config, requestFor } of deps.apis) {
    if (Object.hasOwn(answers, config.name) || job.asked?.includes(config.name) === false) continue;
    const request = requestFor(fields);
    if (request.kind === 'request') requests.set(config.name, request);
    else if (request.kind === 'not_applicable') answers[config.name] = { kind: 'not_applicable' };
    else {
      const detail = `Field "${request.field}" holds a value that provider ${config.name} cannot be asked about.`;
      return fail(job, deps, { reason: 'provider_rejected', detail });
    }
  }
  return { job, requests, answers };
}

/**
 * Combines the results of all providers: a refusal ends the record, a failure costs it an attempt, and where every missing answer
 * only has to be waited for, the record waits for the longest wait.
 */
function resolve(
  deps: WorkerDeps,
  { job, answers }: Prepared,
  results: Map<string, ProviderResult> = new Map(),
): Resolution {
  const all = [...results].map(([provider, result]) => ({ provider, ...result }));
  for (const result of all) if (result.kind === 'answer') answers[result.provider] = result.answer;
  const known: Job = { ...job, answers };

  const refusal = all.find((result) => result.kind === 'permanent');
  if (refusal !== undefined) return fail(known, deps, refusal);

  const waits = all.filter((result) => result.kind === 'deferred').toSorted((a, b) => b.untilMs - a.untilMs);
  const longest = waits[0];
  const failures = all.filter((result) => result.kind === 'transient');
  const failure = failures.toSorted((a, b) => (b.untilMs ?? 0) - (a.untilMs ?? 0))[0];
  if (failure !== undefined) {
    const untilMs = Math.max(failure.untilMs ?? 0, longest?.untilMs ?? 0);
    return retry(known, deps, { ...failure, waitingOn: failure.provider, untilMs });
  }
  const [notReady] = all.filter((result) => result.kind === 'not_ready').toSorted((a, b) => a.budgetMs - b.budgetMs);
  if (notReady !== undefined) return awaitReady(known, deps, { ...notReady, waitingOn: notReady.provider });
  if (longest === undefined) return succeed(known, deps);
  return defer(known, deps, { ...longest, waitingOn: longest.provider });
}
