import { latestStartMs, NOT_READY_SECONDS } from './config.ts';
import { callProvider, deferred, failedInternally, startWithinMs, stoppedBy } from './call.ts';
import type { Call, EnrichDeps, ProviderResult, Run } from './call.ts';
import { CallEvidence, isFinal, type StartedCall } from './evidence.ts';
import { decideOutage, probe, waitForBreaker } from './outage.ts';
import type { OutageDecision } from './throttle.ts';
import type { ProviderState } from './ports.ts';
import type { Provider } from './provider.ts';
import { createSlotSchedule, isOpenForCalls, reserveSlots, sleepUntil, type AwaitSlot } from './slots.ts';
import type { Reservation } from './slots.ts';
import type { TimeBudget } from '../time.ts';

/** One record that is to be looked up at a provider. */
export interface Lookup extends Call {
  /** Whether another failure would end the record: that is not believed before the provider is known to work. */
  isLastAttempt: boolean;
}

/** The lookups of one batch at one provider. */
interface LookupBatch {
  lookups: readonly Lookup[];
  /** Results so far, by index of the lookup. */
  results: Map<number, ProviderResult>;
  /** Lookups that were refused for the rate although the canary was not: they are asked once more. */
  refusedOnce: Set<number>;
  /** Reservations of which calls came too late for their slots. */
  misses: number;
}

/** A block that ends within this time is waited for in place: handing the records back and receiving them again takes as long. */
const WAIT_IN_PLACE_MS = 2_000;
/**
 * Reservations that are tried for one batch: what refuses the first may pass (a block ends, a probe closes the breaker), and
 * calls that missed their slots, or were stopped by a suspicion, need others.
 */
const MAX_RESERVATIONS = 6;
/** A slot may have been reserved so long ago that the provider has stopped the fleet since: then one look is worth its price. */
const FRESH_MS = 1_000;
const LOOK_AHEAD_MS = 50;

/**
 * Looks records up at one provider: reserves exactly as many slots as calls may start now, starts the calls at them, understands the
 * answers, and decides whose trouble a failure is. One result per lookup, in their order. Never throws.
 */
export async function lookUp(
  deps: EnrichDeps,
  provider: Provider,
  lookups: readonly Lookup[],
  budget: TimeBudget,
): Promise<ProviderResult[]> {
  const run: Run = { deps, provider, budget, seenAtMs: deps.clock.now() };
  const batch: LookupBatch = { lookups, results: new Map(), refusedOnce: new Set(), misses: 0 };
  let rest: ProviderResult;
  try {
    // A credential that cannot be had must not cost slots.
    await deps.credentials.get(provider.config.name);
    rest = await runBatch(run, batch);
  } catch (error) {
    rest = failedInternally(run, error);
  }
  return lookups.map((_, index) => batch.results.get(index) ?? rest);
}

const openLookups = ({ lookups, results }: LookupBatch): number[] =>
  [...lookups.keys()].filter((index) => !results.has(index));

/** Fills in results; returns the one of those that it could not ask about. */
async function runBatch(run: Run, batch: LookupBatch): Promise<ProviderResult> {
  for (let tries = 0; tries < MAX_RESERVATIONS; tries++) {
    const open = openLookups(batch);
    if (open.length === 0) break;
    const { deps, provider } = run;
    const withinMs = startWithinMs(run);
    run.seenAtMs = deps.clock.now();
    // The calls that wait for others to end take their slots when they may start: until then, slots are lost to the fleet.
    const slots = Math.min(open.length, provider.callsAtOnce);
    const reservation = await reserveSlots(deps, { provider, slots, withinMs });
    const { slotsMs, state } = reservation;
    if (state === undefined) return deferred(run, 'out_of_time');
    if (slotsMs.length > 0) {
      const called = slotsMs.length < slots ? open.slice(0, slotsMs.length) : open;
      await callAtSlots(run, batch, state, reservation, called);
      const isAllCalled = called.every((index) => batch.results.has(index));
      if (isAllCalled) return deferred(run, 'pacer_full', state.nextAtMs - withinMs);
      continue;
    }
    const refusal = await afterRefusal(run, batch, state);
    if (refusal !== undefined) return refusal;
  }
  return deferred(run, 'pacer_full');
}

/** Handles a refused reservation. Returns what it means for the records, or nothing when it is worth trying again. */
async function afterRefusal(run: Run, batch: LookupBatch, state: ProviderState): Promise<ProviderResult | undefined> {
  const { clock } = run.deps;
  const nowMs = clock.now();
  if (state.breaker === 'open') {
    if (state.openUntilMs > nowMs) return waitForBreaker(run, state, state.openUntilMs);
    const [first = 0] = openLookups(batch);
    const { outcome, untilMs } = await probe(run, state, batch.lookups[first]);
    if (outcome?.kind === 'answer') batch.results.set(first, outcome);
    return untilMs === undefined ? undefined : waitForBreaker(run, state, untilMs);
  }
  if (isOpenForCalls(state, nowMs)) return deferred(run, 'pacer_full', state.nextAtMs - startWithinMs(run));
  if (state.blockedUntilMs - nowMs > Math.min(WAIT_IN_PLACE_MS, startWithinMs(run))) {
    return deferred(run, state.blockedReason ?? 'provider_throttled', state.blockedUntilMs);
  }
  await sleepUntil(clock, state.blockedUntilMs);
  return undefined;
}

/** Calls that are made on one reservation, and on those of calls that had to wait for others of them to end. */
interface Round {
  run: Run;
  batch: LookupBatch;
  evidence: CallEvidence;
  awaitSlot: AwaitSlot;
  /** Calls that have their slots already. */
  slots: number;
  latestMs: number;
  hasMissed: boolean;
}

/**
 * Starts one call for each of the records: at the slots, and where more are called than there are slots, each at one of its own once an
 * earlier call has ended. A record without a slot, or too late for it, stays without a result.
 */
async function callAtSlots(
  run: Run,
  batch: LookupBatch,
  state: ProviderState,
  reservation: Reservation,
  called: readonly number[],
): Promise<void> {
  const evidence = new CallEvidence();
  const latestMs = latestStartMs(run.provider.config, batch.misses);
  const awaitSlot = scheduleOf(run, reservation, latestMs);
  const round: Round = {
    run,
    batch,
    evidence,
    awaitSlot,
    latestMs,
    slots: reservation.slotsMs.length,
    hasMissed: false,
  };
  // Inside the semaphore: a call that waited there for others must not start at a slot that has long passed.
  await Promise.all(
    called.map(async (index, position) => run.provider.semaphore(async () => callOne(round, index, position))),
  );
  if (round.hasMissed) batch.misses += 1;
  const decision = await decideOutage(run, state, evidence);
  for (const call of evidence.calls) conclude(round, call, decision);
  if (!decision.isProvider) return;
  for (const index of called.filter((each) => !batch.results.has(each))) {
    batch.results.set(index, deferred(run, decision.reason, decision.untilMs));
  }
}

async function callOne(round: Round, index: number, position: number): Promise<void> {
  const { run, batch, evidence } = round;
  const lookup = batch.lookups[index];
  if (lookup === undefined || evidence.isSuspect) return;
  const stopped = stoppedBy(run);
  if (stopped !== undefined) batch.results.set(index, stopped);
  else if (await hasSlot(round, position)) {
    if (evidence.isSuspect) return;
    const late = stoppedBy(run);
    if (late !== undefined) {
      batch.results.set(index, late);
      return;
    }
    const call = evidence.started(index, lookup.isLastAttempt);
    const outcome = await callProvider(run, lookup);
    evidence.ended(call, outcome);
    evidence.isPaceTooHigh ||= outcome.kind === 'answer' && batch.refusedOnce.has(index);
  }
}

/** Waits for the slot of a call, or for one of its own. False when it got none, or came too late for it. */
async function hasSlot(round: Round, position: number): Promise<boolean> {
  const { run, slots, awaitSlot, latestMs } = round;
  let isInTime: boolean;
  if (position < slots) isInTime = await awaitSlot(position);
  else {
    run.seenAtMs = run.deps.clock.now();
    const own = await ownSlot(run);
    if (own === undefined) return false;
    isInTime = await scheduleOf(run, own, latestMs)(0);
  }
  round.hasMissed ||= !isInTime;
  return isInTime;
}

async function ownSlot(run: Run): Promise<Reservation | undefined> {
  const { deps, provider } = run;
  try {
    const reservation = await reserveSlots(deps, { provider, slots: 1, withinMs: startWithinMs(run) });
    return reservation.slotsMs.length > 0 ? reservation : undefined;
  } catch (error) {
    // The reservation that is tried next for those without a slot says what it means for them.
    failedInternally(run, error);
    return undefined;
  }
}

function scheduleOf(run: Run, { slotsMs, intervalMs }: Reservation, latestMs: number): AwaitSlot {
  const { clock, telemetry } = run.deps;
  telemetry.emit({
    name: 'pacer_wait',
    level: 'debug',
    provider: run.provider.config.name,
    durationMs: Math.max(0, (slotsMs[0] ?? 0) - clock.now()),
    count: slotsMs.length,
  });
  return createSlotSchedule(clock, { slotsMs, intervalMs, latestMs }, async (slotMs) => lookAgain(run, slotMs));
}

/** Looks at the provider's item shortly before a slot that was reserved long ago: the fleet may have been stopped since. */
async function lookAgain(run: Run, slotMs: number): Promise<void> {
  const { clock, providers } = run.deps;
  if (slotMs - run.seenAtMs <= FRESH_MS) return;
  await sleepUntil(clock, slotMs - LOOK_AHEAD_MS);
  // The first call of a batch looks for those that follow closely.
  if (clock.now() - run.seenAtMs <= FRESH_MS) return;
  run.seenAtMs = clock.now();
  try {
    const state = await providers.get(run.provider.config.name);
    const { breaker, openUntilMs, openReason = 'breaker_open', blockedUntilMs, blockedReason } = state;
    if (breaker === 'open') run.halt = { reason: openReason, untilMs: Math.max(openUntilMs, clock.now() + FRESH_MS) };
    else if (blockedUntilMs > clock.now())
      run.halt = { reason: blockedReason ?? 'provider_throttled', untilMs: blockedUntilMs };
  } catch (error) {
    // Not being able to look is no reason not to call.
    failedInternally(run, error);
  }
}

/** Turns what a call came to into the record's result, or leaves it without one where it is to be asked about again. */
function conclude(round: Round, call: StartedCall, decision: OutageDecision): void {
  const result = resultOf(round, call, decision);
  if (result !== undefined) round.batch.results.set(call.index, result);
}

function resultOf(
  { run, batch, evidence }: Round,
  call: StartedCall,
  decision: OutageDecision,
): ProviderResult | undefined {
  const { outcome, index } = call;
  if (outcome === undefined) return undefined;
  if (outcome.kind === 'deferred' || (outcome.kind === 'transient' && outcome.reason === 'internal_error'))
    return outcome;
  const nowMs = run.deps.clock.now();
  const hintMs =
    'retryAfterMs' in outcome && outcome.retryAfterMs !== undefined ? nowMs + outcome.retryAfterMs : undefined;
  const until = hintMs === undefined ? {} : { untilMs: hintMs };
  const budgetMs = 1_000 * (run.provider.config.notReadySeconds ?? NOT_READY_SECONDS);
  const notReady = (detail: string): ProviderResult => ({
    kind: 'not_ready',
    reason: 'provider_not_ready',
    detail,
    budgetMs,
    ...until,
  });
  if (outcome.kind === 'not_ready') return notReady(outcome.detail);
  // What the provider's trouble did is not the record's failure, and what it said meanwhile is not believed.
  if (
    decision.isProvider &&
    !(outcome.kind === 'answer' && !isFinal(call)) &&
    !(isFinal(call) && evidence.isVerified(call))
  ) {
    return deferred(run, decision.reason, decision.untilMs);
  }
  switch (outcome.kind) {
    case 'throttled': {
      if (batch.refusedOnce.has(index)) return notReady(outcome.detail);
      batch.refusedOnce.add(index);
      return undefined;
    }
    case 'auth':
      return {
        kind: 'transient',
        reason: 'provider_unavailable',
        detail: `${outcome.detail} Only this record meets it.`,
      };
    case 'transient':
      return { kind: 'transient', reason: outcome.reason, detail: outcome.detail, ...until };
    default:
      return outcome;
  }
}
