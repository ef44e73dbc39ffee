import type { DeferralReason, Run, Unanswered } from './call.ts';
import type { CallOutcome } from './classify.ts';
import type { ProviderState } from './ports.ts';
import { loweredPace } from './slots.ts';

/** The wait after a refusal for the rate without a usable hint is random between this and twice this; it doubles while nothing is answered. */
export const FIRST_BLOCK_MS = 2_000;
const LONGEST_BLOCK_MS = 120_000;
/** Two refusals for the rate within this time, with answers in between, are no accident: the pace is too high. */
const REPEATED_WITHIN_MS = 300_000;

/**
 * Whether what a round of calls met is the provider's trouble or that of single records. With `isProvider` nobody is to call until
 * `untilMs`, and nothing but answers with data is believed.
 */
export type OutageDecision = { isProvider: false } | { isProvider: true; reason: DeferralReason; untilMs: number };

export const providerTrouble = (reason: DeferralReason, untilMs: number): OutageDecision => ({
  isProvider: true,
  reason,
  untilMs,
});

/** Stops the fleet's calls: the canary was refused for the rate as well. */
export async function throttleFleet(
  run: Run,
  state: ProviderState,
  outcome: CallOutcome | Unanswered,
  slotsOf: ProviderState,
): Promise<OutageDecision> {
  const { clock, random } = run.deps;
  const untoldMs = Math.min(LONGEST_BLOCK_MS, FIRST_BLOCK_MS * 2 ** state.throttles) * (1 + random());
  const waitMs = ('retryAfterMs' in outcome ? outcome.retryAfterMs : undefined) ?? Math.round(untoldMs);
  const untilMs = Math.max(state.blockedUntilMs, clock.now() + waitMs);
  const after = await reportThrottle(run, state, { blockedUntilMs: untilMs, slotsOf });
  return providerTrouble('provider_throttled', Math.max(clock.now(), after.blockedUntilMs));
}

/**
 * Reports a refusal for the rate, once for all who met it at the same time. Where calls were answered since the last one, and that is
 * not long ago, the pace is lowered for the fleet. `slotsOf` is the item as the refused calls' reservation returned it.
 */
export async function reportThrottle(
  run: Run,
  state: ProviderState,
  { blockedUntilMs, slotsOf }: { blockedUntilMs?: number; slotsOf: Pick<ProviderState, 'paceAtMs'> },
): Promise<ProviderState> {
  const { clock, providers, telemetry } = run.deps;
  const { name, ratePerSecond } = run.provider.config;
  const nowMs = clock.now();
  const isRepeated = state.throttledAtMs > 0 && nowMs - state.throttledAtMs < REPEATED_WITHIN_MS;
  // Slots that were reserved at the pace before say nothing about this one.
  const isOfThisPace = slotsOf.paceAtMs === state.paceAtMs;
  const pace = isRepeated && isOfThisPace && state.throttles === 0 ? loweredPace(state, nowMs) : undefined;
  const after = await providers.throttle(name, {
    seenAtMs: state.throttledAtMs,
    nowMs,
    throttles: blockedUntilMs === undefined ? 0 : state.throttles + 1,
    ...(blockedUntilMs === undefined ? {} : { blockedUntilMs }),
    ...(pace === undefined ? {} : { pace }),
  });
  if (after.throttledAtMs !== nowMs) return after;
  if (blockedUntilMs !== undefined) logBlock(run, blockedUntilMs);
  if (pace !== undefined) {
    const perSecond = (ratePerSecond * pace.share).toPrecision(3);
    const detail = `Calls are refused although paced: ${perSecond} of ${ratePerSecond} calls/s from now on.`;
    telemetry.emit({ name: 'provider_pace_lowered', level: 'warn', provider: name, detail });
  }
  return after;
}

export function logBlock({ deps, provider: { config } }: Run, untilMs: number): void {
  const durationMs = untilMs - deps.clock.now();
  const reason = 'provider_throttled';
  deps.telemetry.emit({ name: 'provider_blocked', level: 'warn', provider: config.name, reason, durationMs });
}
