import type { ChunkStart, LedgerChunk } from '../../../lambdas/domain/model.ts';
import type { LedgerStore } from '../../../lambdas/domain/ledger/ports.ts';
import type { ReasonCode } from '../../../lambdas/domain/reasons.ts';
import type { Clock } from '../../../lambdas/domain/time.ts';

interface StoredChunk {
  chunk: number;
  start?: ChunkStart;
  size?: number;
  succeeded: Set<number>;
  cancelled: Set<number>;
  failed: Map<ReasonCode, Set<number>>;
  expiresAtSeconds: number;
}

export interface MemoryLedgerStore extends LedgerStore {
  /** Every unexpired item of a submission in chunk order: what `getWithLedger` reads. */
  all(submissionId: string): LedgerChunk[];
  /** Deletes an item, as somebody by hand. */
  remove(submissionId: string, chunk: number): void;
}

const empty = (chunk: number): LedgerChunk => ({
  chunk,
  succeeded: new Set(),
  cancelled: new Set(),
  failed: new Map(),
});

function visible(stored: StoredChunk): LedgerChunk {
  const { expiresAtSeconds: _expiry, failed, ...rest } = structuredClone(stored);
  // A set that has become empty is not there any more.
  return { ...rest, failed: new Map([...failed].filter(([, offsets]) => offsets.size > 0)) };
}

export function createMemoryLedger(clock: Clock): MemoryLedgerStore {
  const items = new Map<string, Map<number, StoredChunk>>();

  const find = (submissionId: string, chunk: number): StoredChunk | undefined => {
    const stored = items.get(submissionId)?.get(chunk);
    return stored !== undefined && stored.expiresAtSeconds * 1000 > clock.now() ? stored : undefined;
  };
  const upsert = (submissionId: string, chunk: number, expiresAtSeconds: number): StoredChunk => {
    const fresh = {
      chunk,
      succeeded: new Set<number>(),
      cancelled: new Set<number>(),
      failed: new Map(),
      expiresAtSeconds,
    };
    const stored = find(submissionId, chunk) ?? fresh;
    stored.expiresAtSeconds = expiresAtSeconds;
    const chunks = items.get(submissionId) ?? new Map<number, StoredChunk>();
    items.set(submissionId, chunks.set(chunk, stored));
    return stored;
  };

  return {
    async mark(submissionId, chunk, marks, expiresAtSeconds) {
      const stored = upsert(submissionId, chunk, expiresAtSeconds);
      for (const offset of marks.succeeded) stored.succeeded.add(offset);
      for (const offset of marks.cancelled) stored.cancelled.add(offset);
      for (const [reason, offsets] of marks.failed) {
        stored.failed.set(reason, new Set([...(stored.failed.get(reason) ?? []), ...offsets]));
      }
      return visible(stored);
    },
    async noteStarts(submissionId, starts, expiresAtSeconds) {
      for (const { chunk, ...start } of starts) {
        const stored = upsert(submissionId, chunk, expiresAtSeconds);
        const { crc = stored.start?.crc, ...place } = start;
        stored.start = { ...place, ...(crc !== undefined && { crc }) };
      }
    },
    async setSize(submissionId, chunk, size, expiresAtSeconds) {
      const stored = upsert(submissionId, chunk, expiresAtSeconds);
      stored.size = size;
      return visible(stored);
    },
    async reopen(submissionId, chunk, offsets) {
      const stored = find(submissionId, chunk);
      if (stored === undefined) return empty(chunk);
      for (const offset of offsets) {
        stored.cancelled.delete(offset);
        for (const failed of stored.failed.values()) failed.delete(offset);
      }
      return visible(stored);
    },
    async get(submissionId, chunk) {
      const stored = find(submissionId, chunk);
      return stored && visible(stored);
    },
    remove: (submissionId, chunk) => void items.get(submissionId)?.delete(chunk),
    all(submissionId) {
      const chunks = [...(items.get(submissionId)?.keys() ?? [])].toSorted((a, b) => a - b);
      return chunks.flatMap((chunk) => find(submissionId, chunk) ?? []).map(visible);
    },
  };
}
