/** A token bucket: `burst` tokens at most, refilled at `ratePerSecond`. */
export class TokenBucket {
  #tokens: number | undefined;
  #updatedAtMs = 0;

  /**
   * Takes one token.
   *
   * @param nowMs a monotonic time
   * @returns 0 when there was one, else the milliseconds until there will be
   */
  take(limit: { ratePerSecond: number; burst: number }, nowMs: number): number {
    const refilled = (this.#tokens ?? limit.burst) + ((nowMs - this.#updatedAtMs) / 1000) * limit.ratePerSecond;
    const tokens = this.#tokens === undefined ? limit.burst : Math.min(limit.burst, refilled);
    this.#updatedAtMs = nowMs;
    this.#tokens = tokens >= 1 ? tokens - 1 : tokens;
    return tokens >= 1 ? 0 : ((1 - tokens) / limit.ratePerSecond) * 1000;
  }
}
