import type { TokenStore } from '../../../lambdas/domain/providers/ports.ts';

/** The fleet's access tokens in memory, and what is stored of them. */
export function createMemoryTokens(): TokenStore & { sealed: Map<string, string> } {
  const sealed = new Map<string, string>();
  const leases = new Map<string, { owner: string; untilMs: number }>();
  return {
    sealed,
    read: async (provider) => sealed.get(provider),
    async claim(provider, { owner, nowMs, untilMs }) {
      const lease = leases.get(provider);
      if (lease !== undefined && lease.untilMs > nowMs && lease.owner !== owner) return false;
      leases.set(provider, { owner, untilMs });
      return true;
    },
    async write(provider, owner, text) {
      if (leases.get(provider)?.owner !== owner) return;
      leases.delete(provider);
      sealed.set(provider, text);
    },
  };
}
