import { isDeepStrictEqual } from 'node:util';
import { chunkOf, isTerminal, type RecordRow } from '../../../lambdas/domain/model.ts';
import type { RecordStore } from '../../../lambdas/domain/records/ports.ts';
import { mergeOver } from '../../../lambdas/domain/records/merge.ts';
import type { Clock } from '../../../lambdas/domain/time.ts';

export interface MemoryRecordStore extends RecordStore {
  /** Every unexpired row of a submission in record order, for checks. */
  all(submissionId: string): RecordRow[];
  /** Deletes a row, as somebody by hand. */
  remove(submissionId: string, recordNo: number): void;
}

const stands = (stored: RecordRow, row: RecordRow): boolean =>
  stored.state === 'succeeded' ||
  stored.generation > row.generation ||
  (stored.generation === row.generation && isTerminal(stored.state));

/** What this version writes: members of a newer one stay whoever writes. */
const plain = ({ others: _others, ...row }: RecordRow): unknown => row;

const isUnchanged = (stored: RecordRow, seen: RecordRow | undefined): boolean =>
  seen?.updatedAtMs === stored.updatedAtMs && seen.generation === stored.generation && seen.state === stored.state;

export function createMemoryRecords(clock: Clock): MemoryRecordStore {
  const submissions = new Map<string, Map<number, RecordRow>>();

  const find = (submissionId: string, recordNo: number): RecordRow | undefined => {
    const row = submissions.get(submissionId)?.get(recordNo);
    return row !== undefined && row.expiresAtSeconds * 1000 > clock.now() ? row : undefined;
  };
  const all = (submissionId: string): RecordRow[] => {
    const numbers = [...(submissions.get(submissionId)?.keys() ?? [])].toSorted((a, b) => a - b);
    return structuredClone(numbers.flatMap((recordNo) => find(submissionId, recordNo) ?? []));
  };

  return {
    async getMany(keys) {
      const distinct = new Map(keys.map((key) => [`${key.submissionId}#${key.recordNo}`, key]));
      return structuredClone([...distinct.values()].flatMap((key) => find(key.submissionId, key.recordNo) ?? []));
    },
    async put(row, seen, { ifUnchanged = false } = {}) {
      const stored = find(row.submissionId, row.recordNo);
      const isNews = stored !== undefined && !isUnchanged(stored, seen);
      if (stored !== undefined && (stands(stored, row) || (ifUnchanged && isNews))) {
        return {
          applied: !ifUnchanged && isDeepStrictEqual(plain(stored), plain(row)),
          stored: structuredClone(stored),
        };
      }
      const merged = isNews ? mergeOver(row, stored) : row;
      const next = stored?.others ? { ...merged, others: stored.others } : merged;
      const rows = submissions.get(row.submissionId) ?? new Map<number, RecordRow>();
      submissions.set(row.submissionId, rows.set(row.recordNo, structuredClone(next)));
      return { applied: true, stored: structuredClone(next) };
    },
    async chunkRows(submissionId, chunk) {
      return all(submissionId).filter((row) => chunkOf(row.recordNo) === chunk);
    },
    all,
    remove: (submissionId, recordNo) => void submissions.get(submissionId)?.delete(recordNo),
  };
}
