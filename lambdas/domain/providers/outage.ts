import type { Random } from '../time.ts';
import { callProvider, deferred, failedInternally, logRefusedCredential, startWithinMs } from './call.ts';
import type { Call, Run, Unanswered } from './call.ts';
import type { CallOutcome } from './classify.ts';
import { signOf, type CallEvidence } from './evidence.ts';
import type { ProviderState } from './ports.ts';
import { intervalMs } from './config.ts';
import { reserveSlots, sleepUntil } from './slots.ts';
import { FIRST_BLOCK_MS, logBlock, providerTrouble, reportThrottle, throttleFleet } from './throttle.ts';
import type { OutageDecision } from './throttle.ts';

/** So many outage-class failures in a row raise the suspicion that the provider is out. */
const FAILURES_TO_SUSPECT = 3;

const FIRST_OPEN_MS = 5_000;
const LONGEST_OPEN_MS = 120_000;
/** A person has replaced the credential: that must not be found out minutes later. */
const LONGEST_OPEN_FOR_AUTH_MS = 15_000;
/** The longest block of the fleet that nothing but one record's answer speaks for. */
const UNCONFIRMED_BLOCK_MS = 3_000;
/** A canary that was proved wrong is not asked for data for so long; then one more opening of the breaker finds out whether it was corrected. */
const CANARY_DISTRUSTED_MS = 3_600_000;
/** How long a breaker that has been opened `openings` times in a row stays open: doubling, give or take a tenth. */
const openForMs = (openings: number, longestMs: number, random: Random): number =>
  Math.round(Math.min(longestMs, FIRST_OPEN_MS * 2 ** openings) * (0.9 + random() / 5));

/** Whether failures of calls that were made in `epoch` are explained by an outage that somebody has found meanwhile. */
export const isKnownOutage = (state: ProviderState, epoch: number): boolean =>
  state.breaker === 'open' || state.epoch > epoch;

const RECORDS_ONLY: OutageDecision = { isProvider: false };

/**
 * Decides about a round of calls. While all is well nothing is written and nothing is called. What looks like trouble of the provider
 * (a row of failures, a failure that would end its record, a refusal for the rate or of the credential, an answer without data that no
 * later answer with data speaks for) is checked with the canary: only what the canary meets too is the provider's.
 *
 * @param state - The provider's item as the reservation of the round returned it.
 */
export async function decideOutage(run: Run, state: ProviderState, evidence: CallEvidence): Promise<OutageDecision> {
  try {
    return await decide(run, state, evidence);
  } catch (error) {
    // Nobody can tell whether it was an outage: the records get the benefit of the doubt.
    const result = failedInternally(run, error);
    if (result.kind !== 'deferred') return RECORDS_ONLY;
    return { isProvider: true, reason: 'dependency_unavailable', untilMs: result.untilMs };
  }
}

async function decide(run: Run, state: ProviderState, evidence: CallEvidence): Promise<OutageDecision> {
  const { providers } = run.deps;
  const { name } = run.provider.config;
  let current = state;
  if (evidence.sawAnswer && (state.failures > 0 || state.throttles > 0)) {
    current = await providers.clearFailures(name, state.epoch);
  }
  if (evidence.isPaceTooHigh) current = await reportThrottle(run, current, { slotsOf: state });
  if (evidence.failuresInARow > 0) {
    current = await providers.addFailures(name, state.epoch, evidence.failuresInARow);
    if (isKnownOutage(current, state.epoch)) return knownOutage(run, current);
  }
  const isOutageSuspected = current.failures >= FAILURES_TO_SUSPECT || evidence.endsRecord;
  const isSuspected = (evidence.failuresInARow > 0 && isOutageSuspected) || evidence.isRefused;
  return isSuspected || evidence.isUnverified ? askCanary(run, current, evidence, isOutageSuspected) : RECORDS_ONLY;
}

async function askCanary(
  run: Run,
  state: ProviderState,
  evidence: CallEvidence,
  isOutageSuspected: boolean,
): Promise<OutageDecision> {
  const { deps, provider } = run;
  if (evidence.isThrottled) {
    // Of many workers that are refused at the same time one asks the canary.
    const { throttledAtMs, blockedUntilMs } = await deps.providers.get(provider.config.name);
    if (throttledAtMs > state.throttledAtMs) {
      return providerTrouble('provider_throttled', Math.max(blockedUntilMs, deps.clock.now() + FIRST_BLOCK_MS));
    }
  }
  const withinMs = startWithinMs(run);
  const reservation =
    withinMs < 0 ? undefined : await reserveSlots(deps, { provider, slots: 1, withinMs, isForCanary: true });
  const current = reservation?.state ?? state;
  if (isKnownOutage(current, state.epoch)) return knownOutage(run, current);
  const [slotMs] = reservation?.slotsMs ?? [];
  if (slotMs === undefined) return unconfirmed(run, current, evidence, isOutageSuspected);
  await sleepUntil(deps.clock, slotMs);
  const outcome = await provider.semaphore(async () => callProvider(run, provider.canary));
  const sign = signOf(outcome);
  const isDistrusted = (current.canaryDistrustedUntilMs ?? 0) > deps.clock.now();
  if (sign === 'found' || (sign === 'no_data' && isDistrusted)) return answered(run, state, evidence);
  if (sign === 'throttled') return throttleFleet(run, current, outcome, state);
  if (sign === 'unknown') return unconfirmed(run, current, evidence, isOutageSuspected);
  // One failure of the canary alone is no outage: where records only lack data, they are asked about again.
  const isFailingAlone = sign === 'failing' && evidence.failuresInARow === 0 && !evidence.isRefused;
  return isFailingAlone ? unconfirmed(run, current, evidence, false) : open(run, current, outcome);
}

/** The canary was answered: what the records met is theirs. */
async function answered({ deps, provider }: Run, { epoch }: ProviderState, evidence: CallEvidence) {
  if (evidence.failuresInARow > 0) await deps.providers.clearFailures(provider.config.name, epoch);
  return RECORDS_ONLY;
}

/** The canary could not be asked: the records wait, and only a row of failures stops the fleet for longer than a moment. */
async function unconfirmed(
  run: Run,
  state: ProviderState,
  evidence: CallEvidence,
  isOutageSuspected: boolean,
): Promise<OutageDecision> {
  const { clock, providers } = run.deps;
  const nowMs = clock.now();
  if (state.blockedUntilMs > nowMs) return providerTrouble('provider_throttled', state.blockedUntilMs);
  if (evidence.failuresInARow > 0 && isOutageSuspected) return open(run, state);
  if (!evidence.isThrottled) {
    return providerTrouble(evidence.isRefused ? 'provider_auth' : 'pacer_full', nowMs + UNCONFIRMED_BLOCK_MS);
  }
  const untilMs = nowMs + UNCONFIRMED_BLOCK_MS;
  logBlock(run, untilMs);
  await providers.block(run.provider.config.name, untilMs);
  return providerTrouble('provider_throttled', untilMs);
}

const knownOutage = ({ deps }: Run, state: ProviderState): OutageDecision =>
  providerTrouble(state.openReason ?? 'breaker_open', state.breaker === 'open' ? state.openUntilMs : deps.clock.now());

/** Opens the breaker, or, as the owner of its probe, opens it for longer. */
async function open(
  run: Run,
  state: ProviderState,
  outcome?: CallOutcome | Unanswered,
  probeOwner?: string,
): Promise<OutageDecision> {
  const { deps } = run;
  const { name } = run.provider.config;
  const isAuth = outcome !== undefined && signOf(outcome) === 'auth';
  const longestMs = isAuth ? LONGEST_OPEN_FOR_AUTH_MS : LONGEST_OPEN_MS;
  const openUntilMs = deps.clock.now() + openForMs(state.openings, longestMs, deps.random);
  const now = await deps.providers.open(name, {
    epoch: state.epoch,
    openUntilMs,
    ...(probeOwner === undefined ? {} : { probeOwner }),
    ...(isAuth ? { reason: 'provider_auth' } : {}),
  });
  if (now.openUntilMs === openUntilMs) {
    if (outcome?.kind === 'auth') logRefusedCredential(run, outcome.detail);
    const detail = outcome !== undefined && 'detail' in outcome ? { detail: `Canary: ${outcome.detail}` } : {};
    const durationMs = openUntilMs - deps.clock.now();
    deps.telemetry.emit({ name: 'breaker_opened', level: 'warn', provider: name, durationMs, ...detail });
  }
  return knownOutage(run, now);
}

/** Beyond the probe's own time: for the update that ends it. */
const PROBE_MARGIN_MS = 5_000;
/** How long to wait where somebody else is probing: it takes a call's time. */
const OTHER_PROBE_MS = 2_000;

/** The breaker after a probe; with the outcome of the waiting record's call, where one was made. */
export type Probed = { untilMs?: number; outcome?: CallOutcome };

/**
 * Claims the one probe of an open breaker whose time has come, and makes it with the canary. Where the canary is answered without data,
 * a waiting record is looked up as well: one that gets data proves that it is the canary which is wrong.
 */
export async function probe(run: Run, state: ProviderState, waiting: Call | undefined): Promise<Probed> {
  const { deps, provider: api } = run;
  const { clock, providers, owner } = deps;
  const { config, canary: asked } = api;
  const nowMs = clock.now();
  // Slots that were reserved before the opening may still be used, and the provider may have asked for more time.
  const startMs = Math.max(nowMs, state.nextAtMs, state.blockedUntilMs);
  if (startMs - nowMs > startWithinMs(run)) return { untilMs: startMs };
  const leaseMs = Math.ceil(startMs - nowMs + 4 * (config.timeoutMs + intervalMs(config)) + PROBE_MARGIN_MS);
  const claim = await providers.claimProbe(config.name, { epoch: state.epoch, owner, nowMs, leaseMs });
  if (!claim.claimed) return refusedClaim(claim.state, nowMs);

  // Nobody else calls while the breaker is open: the probe needs no slots, only the distance between its own calls.
  let lastStartMs = startMs;
  const keepDistance = async (): Promise<boolean> => {
    lastStartMs = Math.max(clock.now(), lastStartMs + intervalMs(config));
    await sleepUntil(clock, lastStartMs);
    return startWithinMs(run) >= 0;
  };
  await sleepUntil(clock, startMs);
  deps.telemetry.emit({ name: 'probe_started', level: 'info', provider: config.name });
  const canary = await api.semaphore(async () => callProvider(run, asked, keepDistance));
  if (signOf(canary) !== 'no_data') return endProbe(run, claim.state, canary, lastStartMs);
  const isDistrusted = (state.canaryDistrustedUntilMs ?? 0) > clock.now();
  const record =
    waiting !== undefined && (await keepDistance())
      ? await api.semaphore(async () => callProvider(run, waiting, keepDistance))
      : undefined;
  // A canary without data that is known to be wrong says that the provider answers: records are asked about again.
  if (record?.kind !== 'answer' || signOf(record) !== 'found') {
    return endProbe(run, claim.state, canary, lastStartMs, { isAnswered: isDistrusted });
  }
  const detail = 'The canary is answered without data, a record with data: correct the canary in config/providers.ts.';
  deps.telemetry.emit({ name: 'canary_refused', level: 'error', provider: config.name, detail });
  const canaryDistrustedUntilMs = clock.now() + CANARY_DISTRUSTED_MS;
  return {
    ...(await endProbe(run, claim.state, record, lastStartMs, { isAnswered: true, canaryDistrustedUntilMs })),
    outcome: record,
  };
}

async function endProbe(
  run: Run,
  state: ProviderState,
  outcome: CallOutcome | Unanswered,
  startMs: number,
  found: { isAnswered: boolean; canaryDistrustedUntilMs?: number } = { isAnswered: signOf(outcome) === 'found' },
): Promise<Probed> {
  const { clock, providers, owner, telemetry } = run.deps;
  const { name } = run.provider.config;
  const otherMs = clock.now() + OTHER_PROBE_MS;
  const { isAnswered, ...distrust } = found;
  try {
    const sign = signOf(outcome);
    if (sign === 'unknown') return { untilMs: otherMs };
    if (!isAnswered && sign !== 'throttled') {
      const decision = await open(run, state, outcome, owner);
      return { untilMs: decision.isProvider ? decision.untilMs : otherMs };
    }
    // It limits us: that is an answer.
    if (sign === 'throttled') await throttleFleet(run, state, outcome, state);
    // The next slot is counted from the closing, so it must not come sooner than one interval after the probe.
    await sleepUntil(clock, startMs + intervalMs(run.provider.config));
    const closed = { epoch: state.epoch, probeOwner: owner, nowMs: clock.now(), ...distrust };
    await providers.close(name, closed);
    telemetry.emit({ name: 'breaker_closed', level: 'info', provider: name });
    return {};
  } catch (error) {
    // The probe's lease ends by itself; what the call brought must not be lost over it.
    failedInternally(run, error);
    return { untilMs: otherMs };
  }
}

function refusedClaim(state: ProviderState, nowMs: number): Probed {
  if (state.breaker === 'closed') return {};
  return { untilMs: Math.max(state.openUntilMs, nowMs + OTHER_PROBE_MS) };
}

/** The wait of records while the breaker of the provider is open. */
export const waitForBreaker = (run: Run, { openReason }: ProviderState, untilMs: number) =>
  deferred(run, openReason ?? 'breaker_open', untilMs);
