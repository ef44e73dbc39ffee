import type { ProviderState, ProviderStore } from './ports.ts';
import { intervalMs, type ProviderConfig } from './config.ts';
import type { Clock } from '../time.ts';

export interface SlotDeps {
  providers: ProviderStore;
  clock: Clock;
}

export interface SlotRequest {
  /** `lastState` is what this process saw last of the provider's item; every reservation renews it. */
  provider: { config: Pick<ProviderConfig, 'name' | 'ratePerSecond'>; lastState?: ProviderState };
  /** Calls that really will be made, at least 1: what is reserved and not used is lost for the fleet. */
  slots: number;
  /** The last of the calls must be able to start within this time. */
  withinMs: number;
  /** The call decides about the calls of the fleet: it does not compete with the queue of slots while the pace is lowered. */
  isForCanary?: boolean;
}

export interface Reservation {
  /** Start times of the calls, ascending; fewer than asked for when the others would start too late, empty when none was free. */
  slotsMs: number[];
  /** Milliseconds between two slots, at the pace that the fleet grants at the moment. */
  intervalMs: number;
  /** Why, if fewer: what the provider's item says. Absent when not even one call fits into the time, and nothing was asked. */
  state?: ProviderState;
}

/**
 * Slots begin this much after the request: the answer takes some milliseconds to come, and calls whose slots have passed by
 * then would start all at once.
 */
const SLOT_LEAD_MS = 30;
/** Slots are reserved no further ahead while the pace is lowered: all of them are used before a change of it takes effect. */
const SLOWED_WITHIN_MS = 3_000;
/** A refused reservation is worth another one when the pace was changed meanwhile, or when fewer calls fit. */
const MAX_RESERVATIONS = 4;

/**
 * Reserves start times for calls of one provider, shared by the whole fleet. A refusal reserves nothing.
 *
 * @throws DependencyUnavailableError
 */
export async function reserveSlots({ providers, clock }: SlotDeps, request: SlotRequest): Promise<Reservation> {
  const { provider } = request;
  const nowMs = clock.now() + SLOT_LEAD_MS;
  let wanted = request.slots;
  let state: ProviderState | undefined;
  let interval = 0;
  for (let tries = 0; tries < MAX_RESERVATIONS; tries++) {
    const { lastState: known } = provider;
    interval = intervalMs(provider.config) / grantedShare(known, nowMs);
    const isSlowed = interval > intervalMs(provider.config) && request.isForCanary !== true;
    const withinMs = Math.min(request.withinMs, isSlowed ? SLOWED_WITHIN_MS : Infinity) - SLOT_LEAD_MS;
    const slots = Math.min(wanted, slotsWithin(withinMs, interval));
    if (slots < 1) break;
    const paceAtMs = known?.paceAtMs ?? 0;
    const maxWaitMs = withinMs - (slots - 1) * interval;
    const { name } = provider.config;
    const answer = await providers.reserve({ provider: name, slots, intervalMs: interval, nowMs, maxWaitMs, paceAtMs });
    state = answer.state;
    provider.lastState = state;
    if (answer.granted) {
      const { firstSlotMs } = answer;
      const slotsMs = Array.from({ length: slots }, (_, index) => firstSlotMs + index * interval);
      return { slotsMs, intervalMs: interval, state };
    }
    if (!isOpenForCalls(state, nowMs)) break;
    if (state.paceAtMs !== paceAtMs) continue;
    // So many would end too late, but fewer may still fit.
    const fewer = slotsWithin(withinMs - (state.nextAtMs - nowMs), interval);
    if (fewer < 1 || fewer >= slots) break;
    wanted = fewer;
  }
  return { slotsMs: [], intervalMs: interval, ...(state === undefined ? {} : { state }) };
}

type Pace = Pick<ProviderState, 'paceAtMs' | 'paceShare' | 'paceLimitShare'>;

/** By then a lowered pace is back where calls were refused; it rises slowly around there, and fast beyond. */
const RECOVERY_MS = 60_000;
/** A pace that is lowered again within this time was far too high. */
const FAR_TOO_HIGH_MS = 10_000;
const LOWEST_LIMIT_SHARE = 0.02;

/**
 * Share of the configured pace that the fleet grants itself: all of it, unless the provider refused calls although they were paced. A
 * cubic function of the time since, as in RFC 9438 (CUBIC): nobody has to write anything for the pace to rise.
 */
export function grantedShare(pace: Pace | undefined, nowMs: number): number {
  if (pace?.paceShare === undefined || pace.paceLimitShare === undefined) return 1;
  const rise = (Math.max(0, nowMs - pace.paceAtMs) - RECOVERY_MS) / RECOVERY_MS;
  return Math.min(1, pace.paceLimitShare + (pace.paceLimitShare - pace.paceShare) * rise ** 3);
}

/** The pace after calls were refused at the present one. It is always below `limitShare`, or it would never rise again. */
export function loweredPace(pace: Pace, nowMs: number): { share: number; limitShare: number } {
  const limitShare = Math.max(LOWEST_LIMIT_SHARE, grantedShare(pace, nowMs));
  // Once a gentle step was enough, the limit is near.
  const wasHalved = (pace.paceShare ?? 0) <= 0.6 * (pace.paceLimitShare ?? 1);
  const isFarTooHigh = pace.paceAtMs === 0 || (wasHalved && nowMs - pace.paceAtMs < FAR_TOO_HIGH_MS);
  return { share: limitShare * (isFarTooHigh ? 0.5 : 0.9), limitShare };
}

/** Timers count whole milliseconds: a call that is late by no more than this, or by half an interval, delays no other. */
const NEGLIGIBLE_MS = 3;

/** Waits for the slot of one call. False when the call came too late for it: the slot is lost, the call needs another. */
export type AwaitSlot = (index: number) => Promise<boolean>;

/**
 * The slot schedule of one batch. Where the process was asleep beyond some of its slots, those calls keep their distance instead of
 * starting all at once, and a slot that lies back further than `latestMs` is given up.
 *
 * @param slotsMs - Ascending, one per call.
 * @param beforeSlot - Called with each slot before it is waited for.
 */
export function createSlotSchedule(
  clock: Clock,
  slots: { slotsMs: readonly number[]; intervalMs: number; latestMs: number },
  beforeSlot: (slotMs: number) => Promise<void>,
): AwaitSlot {
  const negligibleMs = Math.max(NEGLIGIBLE_MS, slots.intervalMs / 2);
  /** How far the batch is behind its slots. */
  let delayMs = 0;
  return async (index) => {
    const slotMs = slots.slotsMs[index] ?? 0;
    await beforeSlot(slotMs);
    let plannedMs: number;
    do {
      plannedMs = slotMs + delayMs;
      await sleepUntil(clock, plannedMs);
      // A call of an earlier slot may have come late meanwhile.
    } while (slotMs + delayMs > plannedMs);
    const nowMs = clock.now();
    if (nowMs - slotMs > slots.latestMs) return false;
    if (nowMs - plannedMs > negligibleMs) delayMs = nowMs - slotMs;
    return true;
  };
}

/** Sleeps until the clock has reached `atMs`; timers may fire a little early. */
export async function sleepUntil(clock: Clock, atMs: number): Promise<void> {
  for (let waitMs = atMs - clock.now(); waitMs > 0; waitMs = atMs - clock.now()) await clock.sleep(waitMs);
}

/** True when nothing but the queue of slots can keep a call from starting. */
export const isOpenForCalls = (state: ProviderState, nowMs: number): boolean =>
  state.breaker === 'closed' && state.blockedUntilMs <= nowMs;

const slotsWithin = (ms: number, interval: number): number => (ms < 0 ? 0 : Math.floor(ms / interval) + 1);
