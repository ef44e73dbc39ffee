import { createFailureRow, FAILURES_TO_SUSPECT } from '../breaker.ts';
import { isOpenForCalls, reserveSlots, sleepUntil } from '../pacer.ts';
import type { ProviderState } from '../ports.ts';
import { latestStartMs } from '../providers.ts';
import type { TimeBudget } from '../time.ts';
import { callUnlessStopped, deferred, failedInternally, startWithinMs } from './call.ts';
import type { CallSubject, EnrichDeps, ProviderResult, Run } from './call.ts';
import { judge, note, probe, type Verdict } from './outage.ts';
import type { Provider } from './provider.ts';
import { createTurns } from './turns.ts';

/** A block that ends within this time is sat out: handing the records back and receiving them again takes as long. */
const SIT_OUT_MS = 2_000;
/**
 * Reservations that are tried for one batch: what refuses the first may pass (a block ends, a probe closes the breaker), and
 * calls that missed their slots need others.
 */
const MAX_TRIES = 5;

/** One record that a provider is to be asked about. */
export interface Question {
  url: string;
  /** Whose log lines the calls are. */
  about?: CallSubject;
  /** Whether another failure would end the record: that is not believed before the provider is known to work. */
  isLastAttempt: boolean;
}

/**
 * Asks one provider about several records: reserves exactly as many slots, starts the calls at them, understands the
 * answers, and tells the breaker. One result per question, in their order. Never throws.
 */
export async function askProvider(
  deps: EnrichDeps,
  provider: Provider,
  questions: readonly Question[],
  budget: TimeBudget,
): Promise<ProviderResult[]> {
  const run: Run = { deps, provider, budget, seenAtMs: deps.clock.now() };
  const inquiry: Inquiry = { questions, results: new Map(), misses: 0 };
  let rest: ProviderResult;
  try {
    // A credential that cannot be had must not cost slots.
    await deps.credentials.get(provider.config.name);
    rest = await inquire(run, inquiry);
  } catch (error) {
    rest = failedInternally(run, error);
  }
  return questions.map((_, index) => inquiry.results.get(index) ?? rest);
}

interface Inquiry {
  questions: readonly Question[];
  /** Results so far, by index of the question. */
  results: Map<number, ProviderResult>;
  /** Reservations of which calls came too late for their slots. */
  misses: number;
}

const waiting = ({ questions, results }: Inquiry): number[] =>
  [...questions.keys()].filter((index) => !results.has(index));

/** Fills in results; returns the one of those that it could not ask about. */
async function inquire(run: Run, inquiry: Inquiry): Promise<ProviderResult> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const open = waiting(inquiry);
    if (open.length === 0) break;
    const withinMs = startWithinMs(run);
    const { config } = run.provider;
    run.seenAtMs = run.deps.clock.now();
    const { slotsMs, state } = await reserveSlots(run.deps, { provider: config, slots: open.length, withinMs });
    if (state === undefined) return deferred(run, 'out_of_time');
    if (slotsMs.length > 0) {
      const missed = await callAtSlots(run, inquiry, state, slotsMs);
      if (missed === 0) return deferred(run, 'pacer_full', state.nextAtMs - withinMs);
      inquiry.misses += 1;
      continue;
    }
    const refusal = await refused(run, inquiry, state);
    if (refusal !== undefined) return refusal;
  }
  return deferred(run, 'pacer_full');
}

/** Does what can be done about a refused reservation. Returns what it means for the records, or nothing when it is worth trying again. */
async function refused(run: Run, inquiry: Inquiry, state: ProviderState): Promise<ProviderResult | undefined> {
  const { clock } = run.deps;
  const nowMs = clock.now();
  if (state.breaker === 'open') {
    if (state.openUntilMs > nowMs) return deferred(run, 'breaker_open', state.openUntilMs);
    return probeFirst(run, inquiry, state);
  }
  if (isOpenForCalls(state, nowMs)) return deferred(run, 'pacer_full', state.nextAtMs - startWithinMs(run));
  if (state.blockedUntilMs - nowMs > Math.min(SIT_OUT_MS, startWithinMs(run))) {
    return deferred(run, state.blockedReason ?? 'provider_throttled', state.blockedUntilMs);
  }
  await sleepUntil(clock, state.blockedUntilMs);
  return undefined;
}

async function probeFirst(run: Run, inquiry: Inquiry, state: ProviderState): Promise<ProviderResult | undefined> {
  const first = waiting(inquiry)[0] ?? 0;
  const probed = await probe(run, state, inquiry.questions[first]);
  if (probed.result !== undefined) inquiry.results.set(first, probed.result);
  return probed.outcome === 'closed' ? undefined : deferred(run, 'breaker_open', probed.untilMs);
}

/**
 * Starts one call at every slot, for the records that wait longest; the others stay without a result. Returns how many calls
 * came too late for their slots: they are without a result, too.
 */
async function callAtSlots(
  run: Run,
  inquiry: Inquiry,
  state: ProviderState,
  slotsMs: readonly number[],
): Promise<number> {
  const { clock, telemetry } = run.deps;
  const waitMs = Math.max(0, (slotsMs[0] ?? 0) - clock.now());
  const provider = run.provider.config.name;
  telemetry.emit({ name: 'pacer_wait', level: 'debug', provider, durationMs: waitMs, count: slotsMs.length });

  const row = createFailureRow();
  const turns = createTurns(run, slotsMs, latestStartMs(run.provider.config, inquiry.misses));
  const missed = new Set<number>();
  const called = waiting(inquiry).slice(0, slotsMs.length);
  await Promise.all(
    called.map(async (index, turn) => {
      if (!(await turns(turn))) {
        missed.add(index);
        return;
      }
      // Something is wrong, and the calls of this batch that have not started need not find it out once more.
      if (row.inARow() >= FAILURES_TO_SUSPECT) return;
      const question = inquiry.questions[index];
      const result = await callInTime(run, question?.url ?? '', question?.about);
      note(row, result, question?.isLastAttempt === true);
      inquiry.results.set(index, result);
    }),
  );
  const verdict = await judge(run, state, row);
  for (const index of called.filter((each) => !missed.has(each))) {
    const result = inquiry.results.get(index);
    // What an outage did is not the record's failure: it costs no attempt.
    const isOutage = result?.kind === 'transient' && result.reason !== 'internal_error' && verdict.outage;
    if (result === undefined || isOutage) inquiry.results.set(index, excuse(run, verdict));
  }
  return missed.size;
}

const excuse = (run: Run, verdict: Verdict): ProviderResult =>
  verdict.outage ? deferred(run, verdict.reason, verdict.untilMs) : deferred(run, 'breaker_open');

async function callInTime(run: Run, url: string, about: CallSubject = {}): Promise<ProviderResult> {
  try {
    return await callUnlessStopped(run, url, about);
  } catch (error) {
    return failedInternally(run, error, about);
  }
}
