import type { RecordRow } from '../model.ts';

/**
 * The row to write where another writer was faster than whoever made `row`: what that one bought and counted is kept. What the
 * row says of the record's state is the later word, and is left as it is. A mark that `row` clears stays cleared: it was worked.
 */
export function mergeOver(row: RecordRow, stored: RecordRow): RecordRow {
  const merged: RecordRow = { ...row, answers: { ...stored.answers, ...row.answers } };
  if (stored.generation !== row.generation) return merged;
  merged.attempts = Math.max(row.attempts, stored.attempts);
  if (stored.resends !== undefined) merged.resends = Math.max(row.resends ?? 0, stored.resends);
  if (row.isolatedReceives !== undefined)
    merged.isolatedReceives = Math.max(row.isolatedReceives, stored.isolatedReceives ?? 0);
  return merged;
}
