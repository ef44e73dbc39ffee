import { isOpenForCalls, reserveSlots, sleepUntil } from './pacer.ts';
import type { ProviderState } from './ports.ts';
import type { TimeBudget } from '../time.ts';
import { deferred, failedInternally, startWithinMs } from './call.ts';
import type { EnrichDeps, ProviderResult, Run } from './call.ts';
import { probe } from './outage.ts';
import type { Provider } from './provider.ts';
import { callAtSlots, type Inquiry, type Question } from './round.ts';

/** A block that ends within this time is sat out: handing the records back and receiving them again takes as long. */
const SIT_OUT_MS = 2_000;
/**
 * Reservations that are tried for one batch: what refuses the first may pass (a block ends, a probe closes the breaker), and
 * calls that missed their slots need others.
 */
const MAX_TRIES = 5;

/**
 * Asks one provider about several records: reserves exactly as many slots as calls may start now, starts the calls at them,
 * understands the answers, and tells the breaker. One result per question, in their order. Never throws.
 */
export async function lookUp(
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

const waiting = ({ questions, results }: Inquiry): number[] =>
  [...questions.keys()].filter((index) => !results.has(index));

/** Fills in results; returns the one of those that it could not ask about. */
async function inquire(run: Run, inquiry: Inquiry): Promise<ProviderResult> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const open = waiting(inquiry);
    if (open.length === 0) break;
    const withinMs = startWithinMs(run);
    const { config, callsAtOnce } = run.provider;
    run.seenAtMs = run.deps.clock.now();
    // The calls that wait for others to end take their slots when they may start: until then, slots are lost to the fleet.
    const slots = Math.min(open.length, callsAtOnce);
    const { slotsMs, state } = await reserveSlots(run.deps, { provider: config, slots, withinMs });
    if (state === undefined) return deferred(run, 'out_of_time');
    if (slotsMs.length > 0) {
      const called = slotsMs.length < slots ? open.slice(0, slotsMs.length) : open;
      const again = await callAtSlots(run, inquiry, state, slotsMs, called);
      if (again === 0) return deferred(run, 'pacer_full', state.nextAtMs - withinMs);
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
