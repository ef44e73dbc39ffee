/** Spreads what is replayed over time, so that a replay never pushes new work aside. */
export class Pace {
  readonly ratePerSecond: number;
  #sent = 0;

  constructor(ratePerSecond: number) {
    this.ratePerSecond = ratePerSecond;
  }

  /** Milliseconds that the next message is to be delayed. */
  next(): number {
    return Math.floor((this.#sent++ * 1000) / this.ratePerSecond);
  }
}
