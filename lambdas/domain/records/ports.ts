import type { RecordKey, RecordRow } from '../model.ts';

/** The rows of the records table. */
export interface RecordStore {
  /** Consistent reads by key, in any number. Missing and expired rows are absent from the answer. */
  getMany(keys: readonly RecordKey[]): Promise<RecordRow[]>;
  /**
   * Writes the row unless the stored one stands above it. The stored one stands when it has `succeeded`, when its generation
   * is higher, or when it has the same generation and is terminal. Where the stored one gives way, but is not the one that was
   * `seen` when `row` was made, what its writer bought and counted is merged into the row, see `mergeOver`; or, `ifUnchanged`, it stands
   * as well. Returns what is stored afterwards: `applied` is true also when this very row (same content) was already there; `ifUnchanged`
   * only when this call has written it, so that of several that write the same at the same moment one goes on.
   */
  put(
    row: RecordRow,
    seen?: RecordRow,
    options?: { ifUnchanged?: boolean },
  ): Promise<{ applied: boolean; stored: RecordRow }>;
  /** Every row of a chunk in record order. */
  chunkRows(submissionId: string, chunk: number): Promise<RecordRow[]>;
}
