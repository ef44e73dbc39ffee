/** Runs a bounded number of tasks at a time. The first failure stops it: it is thrown by whoever starts or settles next. */
export class InFlight {
  readonly #limit: number;
  readonly #running = new Set<Promise<void>>();
  #failure: { error: unknown } | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Starts `task` as soon as there is room for it. Throws the error of an earlier task. */
  async start(task: () => Promise<void>): Promise<void> {
    while (this.#running.size >= this.#limit) await Promise.race(this.#running);
    this.#throwFailure();
    const running = this.#watch(task).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Waits for every task. Throws the error of the first that failed. */
  async settle(): Promise<void> {
    await this.drain();
    this.#throwFailure();
  }

  /** Waits for every task, whatever became of it. */
  async drain(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #watch(task: () => Promise<void>): Promise<void> {
    try {
      await task();
    } catch (error) {
      this.#failure ??= { error };
    }
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }
}
