import type { RecordRow, Submission } from '../model.ts';

/** A row for a record of which no message tells: from the row that is stored, or from nothing but its number. */
export function rowFor(
  { submissionId, generation, createdAtMs, expiresAtSeconds }: Submission,
  recordNo: number,
  stored: RecordRow | undefined,
  change: Pick<RecordRow, 'state' | 'updatedAtMs'> & Partial<Pick<RecordRow, 'reason' | 'detail' | 'resends'>>,
): RecordRow {
  const {
    waitingOn: _on,
    waitingUntilMs: _until,
    isolatedReceives: _alone,
    detail: _detail,
    ...known
  } = stored ?? {
    attempts: 0,
    generation,
    redrives: 0,
    answers: {},
    firstEnqueuedAtMs: createdAtMs,
  };
  return { submissionId, recordNo, expiresAtSeconds, ...known, ...change };
}
