import type { Random } from '../time.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Waits between attempts: ten attempts within 24 hours. */
const WAITS_MS = [
  5 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  6 * HOUR_MS,
  8 * HOUR_MS,
] as const;

export const MAX_ATTEMPTS = WAITS_MS.length + 1;
/** A server that asks for more gets this. */
const LONGEST_ASKED_WAIT_MS = 12 * HOUR_MS;
/** Random part of a wait, so that the deliveries of an outage do not return together. */
const JITTER_SHARE = 0.1;

const DELAY_SECONDS = /^\d{1,9}$/;

/**
 * Wait before the attempt that follows the `attempt`-th one (from 1 on), at least as long as the server asked for.
 *
 * @returns undefined after the last attempt
 */
export function waitAfter(attempt: number, askedMs: number | undefined, random: Random): number | undefined {
  const wait = WAITS_MS[attempt - 1];
  if (wait === undefined) return undefined;
  const jittered = Math.round(wait * (1 - JITTER_SHARE * random()));
  return Math.max(jittered, Math.min(askedMs ?? 0, LONGEST_ASKED_WAIT_MS));
}

/** What `Retry-After` asks for, as seconds or as a date (RFC 9110 §10.2.3); undefined where it cannot be read. */
export function retryAfterMs(headers: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const text = headers['retry-after']?.trim() ?? '';
  if (DELAY_SECONDS.test(text)) return Number(text) * SECOND_MS;
  const atMs = /^[A-Z][a-z]{2},/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
