import type { FaultKind, FaultRule, Faults } from '../../contract.ts';
import type { Principal } from '../authorization/principals.ts';

interface ActiveRule extends FaultRule {
  readonly endsAtMs: number;
}

/** Makes calls fail on purpose, for tests and demonstrations. */
export class FaultInjector implements Faults {
  readonly #rules = new Set<ActiveRule>();
  readonly #random: () => number;
  #injected = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  add(rule: FaultRule): () => void {
    const active = { ...rule, endsAtMs: rule.forMs === undefined ? Infinity : Date.now() + rule.forMs };
    this.#rules.add(active);
    return () => this.#rules.delete(active);
  }

  clear(): void {
    this.#rules.clear();
  }

  injected(): number {
    return this.#injected;
  }

  /** How a call is to fail, if at all. */
  draw(call: { service: string; operation: string; action: string; principal: Principal }): FaultKind | undefined {
    for (const rule of this.#rules) {
      if (rule.endsAtMs <= Date.now()) this.#rules.delete(rule);
      else if (matches(rule, call) && this.#random() < rule.rate) {
        this.#injected += 1;
        return rule.error;
      }
    }
    return undefined;
  }
}

function matches(
  { match }: FaultRule,
  call: { service: string; operation: string; action: string; principal: Principal },
): boolean {
  const { principal } = call;
  const names = [principal.arn, principal.functionName, principal.kind === 'role' ? principal.role.name : undefined];
  return (
    (match.service === undefined || match.service === call.service) &&
    (match.action === undefined || match.action === call.operation || match.action === call.action) &&
    (match.principal === undefined || names.includes(match.principal))
  );
}

/** Mulberry32: small, fast and the same on every machine. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
