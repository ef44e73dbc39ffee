import type { ProviderState, ProviderStore } from '../../../lambdas/domain/providers/ports.ts';

const unused = (): ProviderState => ({
  nextAtMs: 0,
  blockedUntilMs: 0,
  throttles: 0,
  throttledAtMs: 0,
  paceAtMs: 0,
  breaker: 'closed',
  epoch: 0,
  openUntilMs: 0,
  failures: 0,
  openings: 0,
});

/** Microseconds, as the table keeps them. */
const rounded = (ms: number): number => Math.round(ms * 1000) / 1000;

export function createMemoryProviders(): ProviderStore {
  const states = new Map<string, ProviderState>();

  const stateOf = (provider: string): ProviderState => {
    const state = states.get(provider) ?? unused();
    states.set(provider, state);
    return state;
  };
  const copy = (provider: string): ProviderState => structuredClone(stateOf(provider));
  const isClosedIn = (state: ProviderState, epoch: number): boolean =>
    state.breaker === 'closed' && state.epoch === epoch;
  const isProbedBy = (state: ProviderState, epoch: number, owner: string): boolean =>
    state.breaker === 'open' && state.epoch === epoch && state.probeOwner === owner;
  const forgetProbe = (state: ProviderState): void => {
    delete state.probeOwner;
    delete state.probeLeaseUntilMs;
  };

  return {
    async get(provider) {
      return copy(provider);
    },
    async reserve({ provider, slots, intervalMs, nowMs, maxWaitMs, paceAtMs = 0 }) {
      const state = stateOf(provider);
      const free = state.breaker === 'closed' && state.blockedUntilMs <= nowMs && state.nextAtMs <= nowMs + maxWaitMs;
      if (!free || state.paceAtMs !== paceAtMs) return { granted: false, state: copy(provider) };
      const firstSlotMs = Math.max(nowMs, state.nextAtMs);
      state.nextAtMs = rounded(firstSlotMs + rounded(slots * intervalMs));
      return { granted: true, firstSlotMs, state: copy(provider) };
    },
    async block(provider, untilMs) {
      const state = stateOf(provider);
      if (state.blockedUntilMs < untilMs)
        Object.assign(state, { blockedUntilMs: untilMs, blockedReason: 'provider_throttled' });
      return copy(provider);
    },
    async throttle(provider, { seenAtMs, nowMs, throttles, blockedUntilMs, pace }) {
      const state = stateOf(provider);
      if (state.throttledAtMs !== seenAtMs) return copy(provider);
      Object.assign(state, { throttledAtMs: nowMs, throttles });
      if (blockedUntilMs !== undefined) Object.assign(state, { blockedUntilMs, blockedReason: 'provider_throttled' });
      if (pace !== undefined)
        Object.assign(state, { paceAtMs: nowMs, paceShare: pace.share, paceLimitShare: pace.limitShare });
      return copy(provider);
    },
    async addFailures(provider, epoch, failures) {
      const state = stateOf(provider);
      if (isClosedIn(state, epoch)) state.failures += failures;
      return copy(provider);
    },
    async clearFailures(provider, epoch) {
      const state = stateOf(provider);
      if (isClosedIn(state, epoch)) Object.assign(state, { failures: 0, throttles: 0 });
      return copy(provider);
    },
    async open(provider, { epoch, openUntilMs, probeOwner, reason }) {
      const state = stateOf(provider);
      const may = probeOwner === undefined ? isClosedIn(state, epoch) : isProbedBy(state, epoch, probeOwner);
      if (!may) return copy(provider);
      Object.assign(state, { breaker: 'open', openUntilMs, failures: 0 });
      state.epoch += 1;
      state.openings += 1;
      delete state.openReason;
      if (reason !== undefined) state.openReason = reason;
      forgetProbe(state);
      return copy(provider);
    },
    async claimProbe(provider, { epoch, owner, nowMs, leaseMs }) {
      const state = stateOf(provider);
      const due = state.breaker === 'open' && state.epoch === epoch && state.openUntilMs <= nowMs;
      const free =
        state.probeOwner === undefined || state.probeOwner === owner || (state.probeLeaseUntilMs ?? 0) <= nowMs;
      if (!due || !free) return { claimed: false, state: copy(provider) };
      Object.assign(state, { probeOwner: owner, probeLeaseUntilMs: nowMs + leaseMs });
      return { claimed: true, state: copy(provider) };
    },
    async close(provider, { epoch, probeOwner, canaryDistrustedUntilMs }) {
      const state = stateOf(provider);
      if (!isProbedBy(state, epoch, probeOwner)) return copy(provider);
      Object.assign(state, { breaker: 'closed', openUntilMs: 0, failures: 0, openings: 0 });
      if (canaryDistrustedUntilMs !== undefined) state.canaryDistrustedUntilMs = canaryDistrustedUntilMs;
      delete state.openReason;
      forgetProbe(state);
      return copy(provider);
    },
  };
}
