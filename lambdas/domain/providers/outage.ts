import { FAILURES_TO_SUSPECT, isKnownOutage, openForMs, type FailureStreak } from './breaker.ts';
import { reserveSlots, sleepUntil } from './pacer.ts';
import type { ProviderState } from './ports.ts';
import { intervalMs } from './config.ts';
import { callProvider, deferred, failedInternally, startWithinMs } from './call.ts';
import type { CallSubject, ProviderResult, Run } from './call.ts';

/** What a call says about the provider as a whole. */
type Health = 'working' | 'failing' | 'unknown';

function healthOf(result: ProviderResult): Health {
  if (result.kind === 'transient') return result.reason === 'internal_error' ? 'unknown' : 'failing';
  if (result.kind !== 'deferred') return 'working';
  // It limits us or refuses our credential: that is an answer.
  return result.reason === 'provider_throttled' || result.reason === 'provider_auth' ? 'working' : 'unknown';
}

/** Notes a result in the row of failures. Refusals of ours or of the provider's limiter neither add to it nor end it. */
export function note(row: FailureStreak, result: ProviderResult, isLastAttempt: boolean): void {
  const health = healthOf(result);
  if (health === 'failing') row.failed(isLastAttempt);
  else if (health === 'working' && result.kind !== 'deferred') row.succeeded();
}

export type Probed =
  { outcome: 'closed'; result?: ProviderResult } | { outcome: 'refused'; untilMs: number; result?: ProviderResult };

/** Beyond the probe's own time: for the update that ends it. */
const PROBE_MARGIN_MS = 5_000;
/** How long to wait where somebody else is probing: it takes a call's time. */
const OTHER_PROBE_MS = 2_000;

/** The lookup of a waiting record, for a provider without a canary. */
interface ProbeTarget {
  url: string;
  about?: CallSubject;
}

/**
 * Claims the one probe of an open breaker whose time has come, and makes it: with the canary, or else with the lookup of a
 * waiting record, whose result is then returned too. A probe that fails costs the record nothing.
 */
export async function probe(run: Run, state: ProviderState, waiting: ProbeTarget | undefined): Promise<Probed> {
  const { deps, provider } = run;
  const { clock, providers, owner } = deps;
  const { config, canaryUrl } = provider;
  const nowMs = clock.now();
  // Slots that were reserved before the opening may still be used, and the provider may have asked for more time.
  const startMs = Math.max(nowMs, state.nextAtMs, state.blockedUntilMs);
  if (startMs - nowMs > startWithinMs(run)) return { outcome: 'refused', untilMs: startMs };
  const leaseMs = Math.ceil(startMs - nowMs + 2 * config.timeoutMs + intervalMs(config) + PROBE_MARGIN_MS);
  const claim = await providers.claimProbe(config.name, { epoch: state.epoch, owner, nowMs, leaseMs });
  if (!claim.claimed) return refusedClaim(claim.state, nowMs);

  await sleepUntil(clock, startMs);
  deps.telemetry.emit({ name: 'probe_started', level: 'info', provider: config.name });
  const result = await (canaryUrl === undefined
    ? callProvider(run, waiting?.url ?? '', waiting?.about)
    : callProvider(run, canaryUrl));
  const end = await endProbe(run, claim.state, healthOf(result), startMs);
  if (canaryUrl !== undefined) return end;
  // What the record got is kept; a failure was the outage's, not its own.
  if (result.kind !== 'transient') return { ...end, result };
  return { ...end, result: deferred(run, 'breaker_open', end.outcome === 'refused' ? end.untilMs : undefined) };
}

async function endProbe(run: Run, state: ProviderState, health: Health, startMs: number): Promise<Probed> {
  const { deps, provider } = run;
  const { name } = provider.config;
  try {
    if (health === 'failing') return { outcome: 'refused', untilMs: await open(run, state, deps.owner) };
    if (health === 'unknown') return { outcome: 'refused', untilMs: deps.clock.now() + OTHER_PROBE_MS };
    // The next slot is counted from the closing, so it must not come sooner than one interval after the probe.
    await sleepUntil(deps.clock, startMs + intervalMs(provider.config));
    await deps.providers.close(name, state.epoch, deps.owner, deps.clock.now());
    deps.telemetry.emit({ name: 'breaker_closed', level: 'info', provider: name });
    return { outcome: 'closed' };
  } catch (error) {
    // The probe's lease ends by itself; what the call brought must not be lost over it.
    failedInternally(run, error);
    return { outcome: 'refused', untilMs: deps.clock.now() + OTHER_PROBE_MS };
  }
}

function refusedClaim(state: ProviderState, nowMs: number): Probed {
  if (state.breaker === 'closed') return { outcome: 'closed' };
  return { outcome: 'refused', untilMs: Math.max(state.openUntilMs, nowMs + OTHER_PROBE_MS) };
}

/** Whether the failures of a run are to be put down to an outage; then also until when nobody is to call. */
export type Verdict =
  { outage: false } | { outage: true; reason: 'breaker_open' | 'dependency_unavailable'; untilMs: number };

/**
 * Reports what a run of calls saw. One extra update for a run that ends in failures, none while all is well. From
 * {@link FAILURES_TO_SUSPECT} failures in a row on, and before a record ends by one, the canary decides; without one, or without
 * time for it, the breaker opens.
 *
 * @param state - The provider's item as the reservation of the run returned it.
 */
export async function judge(run: Run, state: ProviderState, row: FailureStreak): Promise<Verdict> {
  try {
    return await report(run, state, row);
  } catch (error) {
    // Nobody can tell whether it was an outage: the records get the benefit of the doubt.
    const result = failedInternally(run, error);
    if (result.kind !== 'deferred') return { outage: false };
    return { outage: true, reason: 'dependency_unavailable', untilMs: result.untilMs };
  }
}

async function report(run: Run, state: ProviderState, row: FailureStreak): Promise<Verdict> {
  const { providers } = run.deps;
  const { name } = run.provider.config;
  if (row.sawSuccess() && state.failures > 0) await providers.clearFailures(name, state.epoch);
  if (row.consecutiveFailures() === 0) return { outage: false };
  const now = await providers.addFailures(name, state.epoch, row.consecutiveFailures());
  if (isKnownOutage(now, state.epoch)) return knownOutage(run, now);
  // A record that would end by this failure gets the proof that it is not the provider's.
  const isDoubted = row.endsRecord() && run.provider.canaryUrl !== undefined;
  return now.failures < FAILURES_TO_SUSPECT && !isDoubted ? { outage: false } : confirm(run, now);
}

async function confirm(run: Run, state: ProviderState): Promise<Verdict> {
  const { deps, provider } = run;
  const { config, canaryUrl } = provider;
  const withinMs = startWithinMs(run);
  if (canaryUrl === undefined || withinMs < 0) return openNow(run, state);
  const { slotsMs, state: current } = await reserveSlots(deps, { provider: config, slots: 1, withinMs });
  if (current !== undefined && isKnownOutage(current, state.epoch)) return knownOutage(run, current);
  const [slotMs] = slotsMs;
  if (slotMs === undefined) return openNow(run, state);
  await sleepUntil(deps.clock, slotMs);
  if (healthOf(await callProvider(run, canaryUrl)) === 'failing') return openNow(run, state);
  await deps.providers.clearFailures(config.name, state.epoch);
  return { outage: false };
}

const openNow = async (run: Run, state: ProviderState): Promise<Verdict> => ({
  outage: true,
  reason: 'breaker_open',
  untilMs: await open(run, state),
});

const knownOutage = ({ deps }: Run, state: ProviderState): Verdict => ({
  outage: true,
  reason: 'breaker_open',
  untilMs: state.breaker === 'open' ? state.openUntilMs : deps.clock.now(),
});

/** Opens the breaker, or, as the owner of its probe, opens it for longer. Returns until when. */
async function open({ deps, provider }: Run, state: ProviderState, probeOwner?: string): Promise<number> {
  const { name } = provider.config;
  const openUntilMs = deps.clock.now() + openForMs(state.openings, deps.random);
  const owned = probeOwner === undefined ? {} : { probeOwner };
  const now = await deps.providers.open(name, { epoch: state.epoch, openUntilMs, ...owned });
  if (now.openUntilMs === openUntilMs) {
    deps.telemetry.emit({
      name: 'breaker_opened',
      level: 'warn',
      provider: name,
      durationMs: openUntilMs - deps.clock.now(),
    });
  }
  return now.breaker === 'open' ? now.openUntilMs : deps.clock.now();
}
