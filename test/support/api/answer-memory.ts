import { InProgressError, KeyReusedError, type IdempotencyStore } from '../../../lambdas/domain/api/ports.ts';

export interface TestAnswerMemory extends IdempotencyStore {
  /** Forgets every answer, as an expired table does. */
  clear(): void;
  /** A request that is under way elsewhere and never answers. */
  occupy(request: { tenantId: string; idempotencyKey: string; requestHash: string }): void;
}

/** Remembers answers as Powertools does: the request's hash is compared first, refusals are forgotten. */
export function createTestAnswerMemory(): TestAnswerMemory {
  const entries = new Map<string, { requestHash: string; answer?: string }>();
  const keyOf = ({ tenantId, idempotencyKey }: { tenantId: string; idempotencyKey: string }): string =>
    JSON.stringify([tenantId, idempotencyKey]);
  return {
    async once(request, _budget, answer) {
      const standing = entries.get(keyOf(request));
      if (standing !== undefined) {
        if (standing.requestHash !== request.requestHash) throw new KeyReusedError('another request');
        if (standing.answer === undefined) throw new InProgressError('under way');
        return standing.answer;
      }
      const entry: { requestHash: string; answer?: string } = { requestHash: request.requestHash };
      entries.set(keyOf(request), entry);
      try {
        entry.answer = await answer();
        return entry.answer;
      } catch (error) {
        entries.delete(keyOf(request));
        throw error;
      }
    },
    clear: () => entries.clear(),
    occupy: (request) => void entries.set(keyOf(request), { requestHash: request.requestHash }),
  };
}
