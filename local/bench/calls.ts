import type { Rig } from '../drills/rig.ts';

/** What one provider saw of a drain. */
export interface SeenCalls {
  readonly calls: number;
  readonly throttled: number;
  /** Calls per second from the first call to the last. */
  readonly perSecond: number;
  /** The same without the first and the last twentieth of the calls. */
  readonly steadyPerSecond: number;
  /** Most calls that arrived within any one second. */
  readonly peakPerSecond: number;
}

/** Part of the calls at either end that belongs to starting and to running dry. */
const RAMP_SHARE = 0.05;

export async function seenCalls({ sluice: { providers } }: Rig): Promise<SeenCalls[]> {
  return Promise.all(
    Object.keys(providers.baseUrls).map(async (name) => {
      const { calls, throttled, peakPerSecond } = await providers.counters(name);
      const arrivals = await providers.arrivals(name);
      const ramp = Math.floor(arrivals.length * RAMP_SHARE);
      return {
        calls,
        throttled,
        peakPerSecond,
        perSecond: rateOf(arrivals),
        steadyPerSecond: rateOf(arrivals.slice(ramp, arrivals.length - ramp)),
      };
    }),
  );
}

/** Calls per second of ascending times: intervals, so that neither end counts half. */
export function rateOf(arrivals: readonly number[]): number {
  const lengthMs = (arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0);
  return lengthMs > 0 ? ((arrivals.length - 1) * 1_000) / lengthMs : 0;
}
