export type CallOutcome = 'ok' | 'throttled' | 'failed';

/** What a stand-in provider counted since the last reset. */
export interface ProviderCounters {
  calls: number;
  /** Answered as in good health: found, nothing found, or the request refused as invalid. */
  ok: number;
  /** Refused by the rate limit. */
  throttled: number;
  /** Everything else: faults that were switched on, refused credentials, answers that a key asks for. */
  failed: number;
  /** Most calls that arrived within any one second, throttled ones included. */
  peakPerSecond: number;
}

/** Counts calls, and finds the busiest second of any position, not only of the clock's. */
export class CallCounters {
  readonly #totals = { calls: 0, ok: 0, throttled: 0, failed: 0, peakPerSecond: 0 };
  readonly #byKey = new Map<string, number>();
  #arrivals: number[] = [];
  #oldest = 0;

  /** @param nowMs a monotonic time */
  arrived(key: string, nowMs: number): void {
    this.#totals.calls++;
    this.#byKey.set(key, (this.#byKey.get(key) ?? 0) + 1);
    this.#arrivals.push(nowMs);
    while ((this.#arrivals[this.#oldest] ?? nowMs) <= nowMs - 1000) this.#oldest++;
    this.#totals.peakPerSecond = Math.max(this.#totals.peakPerSecond, this.#arrivals.length - this.#oldest);
  }

  ended(outcome: CallOutcome): void {
    this.#totals[outcome]++;
  }

  totals(): ProviderCounters {
    return { ...this.#totals };
  }

  /** Calls by lookup key, for example by domain. */
  byKey(): Record<string, number> {
    return Object.fromEntries(this.#byKey);
  }

  /** Arrival of every call, monotonic ms, ascending. */
  arrivals(): readonly number[] {
    return this.#arrivals;
  }

  reset(): void {
    Object.assign(this.#totals, { calls: 0, ok: 0, throttled: 0, failed: 0, peakPerSecond: 0 });
    this.#byKey.clear();
    this.#arrivals = [];
    this.#oldest = 0;
  }
}
