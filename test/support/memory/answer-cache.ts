import type { AnswerCache, AnswerKey, KeptAnswer } from '../../../lambdas/domain/providers/ports.ts';
import type { Clock } from '../../../lambdas/domain/time.ts';

export function createMemoryAnswerCache(clock: Clock): AnswerCache {
  const items = new Map<string, { kept: KeptAnswer; expiresAtSeconds: number }>();
  const nameOf = ({ provider, tenantId, hash }: AnswerKey): string => JSON.stringify([provider, tenantId, hash]);
  return {
    async get(key) {
      const item = items.get(nameOf(key));
      return item !== undefined && item.expiresAtSeconds > clock.now() / 1_000 ? structuredClone(item.kept) : undefined;
    },
    async put(key, kept, expiresAtSeconds) {
      if ((items.get(nameOf(key))?.kept.askedAtMs ?? -1) >= kept.askedAtMs) return;
      items.set(nameOf(key), { kept: structuredClone(kept), expiresAtSeconds });
    },
  };
}
