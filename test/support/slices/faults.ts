import { DependencyUnavailableError, ShortReadError } from '../../../lambdas/domain/errors.ts';
import type { PortCall, PortHook } from '../memory/hook.ts';

/** Thrown in place of what a killed process would never have come to. */
class CrashError extends Error {
  constructor() {
    super('The process was killed.');
    this.name = 'CrashError';
  }
}

/**
 * `crash`: killed before the call reached anyone; `crash_after`: killed when it had been carried out. From then on this process does nothing
 * more. `refused`: the dependency fails; `lost_reply`: it carries the call out and then fails.
 */
export type Fault = 'crash' | 'crash_after' | 'refused' | 'lost_reply';
export const FAULTS: readonly Fault[] = ['crash', 'crash_after', 'refused', 'lost_reply'];

export interface FaultPlan {
  hook: PortHook;
  /** Runs a process whose call number `at` (from 0 on) meets `fault`; without them, one that lives. */
  process(work: () => Promise<void>, fault?: Fault, at?: number): Promise<void>;
  /** Calls of the newest process. */
  readonly calls: number;
  /** True when a fault has struck. */
  readonly struck: boolean;
}

/** Makes one port call fail. Every block that an object read yields counts as a call of its own. */
export function createFaultPlan(observe: (call: PortCall) => void = () => {}): FaultPlan {
  let armed = false;
  let fault: { kind: Fault; at: number } | undefined;
  let calls = 0;
  let struck = false;
  let isDead = false;

  const meet = async <T>(apply: () => Promise<T>): Promise<T> => {
    if (isDead) throw new CrashError();
    const strikes = fault !== undefined && calls === fault.at;
    calls += 1;
    if (!strikes || !fault) return apply();
    struck = true;
    const { kind } = fault;
    isDead = kind === 'crash' || kind === 'crash_after';
    if (kind === 'crash_after' || kind === 'lost_reply') await apply();
    if (isDead) throw new CrashError();
    throw new DependencyUnavailableError('The dependency throttled this call.');
  };

  async function* counted(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const block of blocks) {
      try {
        await meet(async () => {});
      } catch (error) {
        throw error instanceof DependencyUnavailableError ? new ShortReadError('The body ended too early.') : error;
      }
      yield block;
    }
  }

  const isStream = (value: unknown): value is AsyncIterable<Uint8Array> =>
    typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

  return {
    hook: async (call, apply) => {
      if (!armed) return apply();
      const result = await meet(async () => {
        observe(call);
        return apply();
      });
      return isStream(result) ? counted(result) : result;
    },
    async process(work, kind, at = 0) {
      armed = true;
      fault = kind && { kind, at };
      calls = 0;
      isDead = false;
      try {
        await work();
      } finally {
        armed = false;
      }
    },
    get calls() {
      return calls;
    },
    get struck() {
      return struck;
    },
  };
}
