import type { InvokeResult } from '../contract.ts';

/** How the service treats events that a function did not manage. */
export interface AsyncPolicy {
  /** Further tries after the first; the service's default is 2. */
  readonly maxRetries: number;
  /** Events older than this are dropped; the service's default is 6 hours. */
  readonly maxAgeMs: number;
}

export const DEFAULT_ASYNC_POLICY: AsyncPolicy = { maxRetries: 2, maxAgeMs: 6 * 60 * 60 * 1000 };

/** Waits before the second and the third try, https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html */
const RETRY_DELAYS_MS = [60_000, 120_000];
const THROTTLE_DELAY_MS = 1_000;
const MAX_THROTTLE_DELAY_MS = 300_000;

export interface AsyncInvocationsOptions {
  invoke(functionName: string, payload: string): Promise<InvokeResult>;
  policyOf(functionName: string): AsyncPolicy;
  /** Called when an event is given up. */
  onDropped(functionName: string, payload: string, why: 'retries_exhausted' | 'too_old'): void;
  /** Divides the waits, for tests and demonstrations. Default 1. */
  readonly speed?: number;
}

interface Pending {
  readonly functionName: string;
  readonly payload: string;
  readonly acceptedAtMs: number;
  failures: number;
  throttles: number;
}

/** Events that were accepted (202) and are delivered later, with the service's retries. */
export class AsyncInvocations {
  readonly #options: AsyncInvocationsOptions;
  readonly #timers = new Set<NodeJS.Timeout>();
  #running = 0;
  #closed = false;

  constructor(options: AsyncInvocationsOptions) {
    this.#options = options;
  }

  /** Events that are neither done nor given up. */
  get pending(): number {
    return this.#running + this.#timers.size;
  }

  accept(functionName: string, payload: string): void {
    this.#schedule({ functionName, payload, acceptedAtMs: Date.now(), failures: 0, throttles: 0 }, 0);
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #schedule(event: Pending, delayMs: number): void {
    if (this.#closed) return;
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        void this.#deliver(event);
      },
      delayMs / (this.#options.speed ?? 1),
    );
    this.#timers.add(timer);
  }

  async #deliver(event: Pending): Promise<void> {
    const policy = this.#options.policyOf(event.functionName);
    if (Date.now() - event.acceptedAtMs > policy.maxAgeMs) {
      return this.#options.onDropped(event.functionName, event.payload, 'too_old');
    }
    this.#running++;
    const result = await this.#options.invoke(event.functionName, event.payload);
    this.#running--;
    if (result.statusCode === 429) {
      const delayMs = Math.min(MAX_THROTTLE_DELAY_MS, THROTTLE_DELAY_MS * 2 ** event.throttles++);
      return this.#schedule(event, delayMs);
    }
    if (result.functionError === undefined) return;
    if (event.failures >= policy.maxRetries) {
      return this.#options.onDropped(event.functionName, event.payload, 'retries_exhausted');
    }
    this.#schedule(event, RETRY_DELAYS_MS[event.failures++] ?? 120_000);
  }
}
