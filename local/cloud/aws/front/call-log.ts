import type { CallCount, ObservedCall } from '../../contract.ts';

interface Counter {
  calls: number;
  errors: number;
}

/** Counts calls by caller, operation and target, and tells observers of each. */
export class CallLog {
  readonly #counts = new Map<string, { call: ObservedCall; counter: Counter }>();
  readonly #observers = new Set<(call: ObservedCall) => void>();

  record(call: ObservedCall): void {
    const key = [call.principal, call.service, call.operation, call.target ?? ''].join('\u0000');
    let entry = this.#counts.get(key);
    if (entry === undefined) {
      // Kept for its names only; the input of a first call could be large.
      entry = { call: { ...call, input: undefined }, counter: { calls: 0, errors: 0 } };
      this.#counts.set(key, entry);
    }
    entry.counter.calls += 1;
    if (call.status >= 400 || call.status === 0) entry.counter.errors += 1;
    for (const observer of this.#observers) observer(call);
  }

  counts(): CallCount[] {
    return [...this.#counts.values()].map(({ call, counter }) => ({
      principal: call.principal,
      functionName: call.functionName,
      service: call.service,
      operation: call.operation,
      target: call.target,
      ...counter,
    }));
  }

  observe(observer: (call: ObservedCall) => void): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }
}
