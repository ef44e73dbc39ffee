import { sleepUntil } from './pacer.ts';
import { intervalMs } from './config.ts';
import { failedInternally, type Run } from './call.ts';

/** Timers count whole milliseconds: a call that is late by no more than this, or by half an interval, moves nobody. */
const UNNOTICED_MS = 3;
/** A slot may have been reserved so long ago that the provider has stopped the fleet since: then one look is worth its price. */
const FRESH_MS = 1_000;
const LOOK_AHEAD_MS = 50;

/** Waits for the turn of a batch's call. False when it came too late: then the slot is lost, and the call needs another one. */
export type Turns = (index: number) => Promise<boolean>;

/**
 * Start times of one batch's calls. Where the process was asleep beyond some of its slots, those calls keep their distance instead
 * of starting all at once, and a slot that lies back further than `latestMs` is given up.
 *
 * @param slotsMs - Ascending, one per call.
 */
export function createTurns(run: Run, slotsMs: readonly number[], latestMs: number): Turns {
  const { clock } = run.deps;
  const unnoticedMs = Math.max(UNNOTICED_MS, intervalMs(run.provider.config) / 2);
  /** How far the batch is behind its slots. */
  let delayMs = 0;
  return async (index) => {
    const slotMs = slotsMs[index] ?? 0;
    await untilLook(run, slotMs);
    let plannedMs: number;
    do {
      plannedMs = slotMs + delayMs;
      await sleepUntil(clock, plannedMs);
      // A call of an earlier slot may have come late meanwhile.
    } while (slotMs + delayMs > plannedMs);
    const nowMs = clock.now();
    if (nowMs - slotMs > latestMs) return false;
    if (nowMs - plannedMs > unnoticedMs) delayMs = nowMs - slotMs;
    return true;
  };
}

async function untilLook(run: Run, slotMs: number): Promise<void> {
  const { clock } = run.deps;
  if (slotMs - run.seenAtMs <= FRESH_MS) return;
  await sleepUntil(clock, slotMs - LOOK_AHEAD_MS);
  // The first call of a batch looks for those that follow closely.
  if (clock.now() - run.seenAtMs > FRESH_MS) await lookAgain(run);
}

async function lookAgain(run: Run): Promise<void> {
  const { clock, providers } = run.deps;
  run.seenAtMs = clock.now();
  try {
    const state = await providers.get(run.provider.config.name);
    const { breaker, openUntilMs, blockedUntilMs, blockedReason = 'provider_throttled' } = state;
    if (breaker === 'open')
      run.halt = { reason: 'breaker_open', untilMs: Math.max(openUntilMs, clock.now() + FRESH_MS) };
    else if (blockedUntilMs > clock.now()) run.halt = { reason: blockedReason, untilMs: blockedUntilMs };
  } catch (error) {
    // Not being able to look is no reason not to call.
    failedInternally(run, error);
  }
}
