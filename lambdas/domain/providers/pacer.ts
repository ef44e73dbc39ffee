import type { ProviderState, ProviderStore } from './ports.ts';
import { intervalMs, type ProviderConfig } from './config.ts';
import type { Clock } from '../time.ts';

export interface PacerDeps {
  providers: ProviderStore;
  clock: Clock;
}

export interface SlotRequest {
  provider: Pick<ProviderConfig, 'name' | 'ratePerSecond'>;
  /** Calls that really will be made, at least 1: what is reserved and not used is lost for the fleet. */
  slots: number;
  /** The last of the calls must be able to start within this time. */
  withinMs: number;
}

export interface Reservation {
  /** Start times of the calls, ascending; fewer than asked for when the others would start too late, empty when none was free. */
  slotsMs: number[];
  /** Why, if fewer: what the provider's item says. Absent when not even one call fits into the time, and nothing was asked. */
  state?: ProviderState;
}

/**
 * Slots begin this much after the request: the answer takes some milliseconds to come, and calls whose slots have passed by
 * then would start all at once.
 */
const SLOT_LEAD_MS = 30;

/**
 * Reserves start times for calls of one provider, shared by the whole fleet. A refusal reserves nothing.
 *
 * @throws DependencyUnavailableError
 */
export async function reserveSlots({ providers, clock }: PacerDeps, request: SlotRequest): Promise<Reservation> {
  const interval = intervalMs(request.provider);
  const nowMs = clock.now() + SLOT_LEAD_MS;
  const withinMs = request.withinMs - SLOT_LEAD_MS;
  const reserve = async (slots: number): ReturnType<ProviderStore['reserve']> =>
    providers.reserve({
      provider: request.provider.name,
      slots,
      intervalMs: interval,
      nowMs,
      maxWaitMs: withinMs - (slots - 1) * interval,
    });

  let slots = Math.min(request.slots, slotsWithin(withinMs, interval));
  if (slots < 1) return { slotsMs: [] };
  let answer = await reserve(slots);
  if (!answer.granted && isOpenForCalls(answer.state, nowMs)) {
    // So many would end too late, but fewer may still fit.
    const fewer = slotsWithin(withinMs - (answer.state.nextAtMs - nowMs), interval);
    if (fewer >= 1 && fewer < slots) {
      slots = fewer;
      answer = await reserve(fewer);
    }
  }
  const { state } = answer;
  if (!answer.granted) return { slotsMs: [], state };
  const { firstSlotMs } = answer;
  return { slotsMs: Array.from({ length: slots }, (_, index) => firstSlotMs + index * interval), state };
}

/** Sleeps until the clock has reached `atMs`; timers may fire a little early. */
export async function sleepUntil(clock: Clock, atMs: number): Promise<void> {
  for (let waitMs = atMs - clock.now(); waitMs > 0; waitMs = atMs - clock.now()) await clock.sleep(waitMs);
}

/** True when nothing but the queue of slots can keep a call from starting. */
export const isOpenForCalls = (state: ProviderState, nowMs: number): boolean =>
  state.breaker === 'closed' && state.blockedUntilMs <= nowMs;

const slotsWithin = (ms: number, interval: number): number => (ms < 0 ? 0 : Math.floor(ms / interval) + 1);
