import { chunkOf, offsetOf, type RecordRow, type RowState, type Submission } from '../../../lambdas/domain/model.ts';
import type { ReasonCode } from '../../../lambdas/domain/reasons.ts';
import { EXPIRES_AT_SECONDS, makeProcessing, makeRow } from '../factories.ts';
import type { MemoryWorld } from '../memory/index.ts';

export interface Outcome {
  state: RowState;
  reason?: ReasonCode;
  row?: Partial<RecordRow>;
}

/** A submission of `records` records, of which some have come somewhere: rows and ledger as the worker writes them. */
export async function arrangeSubmission(
  world: MemoryWorld,
  records: number,
  outcomes: Readonly<Record<number, Outcome>> = {},
  overrides: Partial<Submission> = {},
): Promise<Submission> {
  const { stored } = await world.submissions.create(makeProcessing(records, overrides));
  const { submissionId } = stored;
  for (const [number, { state, reason, row }] of Object.entries(outcomes)) {
    const recordNo = Number(number);
    const made = makeRow({ submissionId, recordNo, state, ...row });
    await world.records.put(reason === undefined ? made : { ...made, reason });
    const offset = offsetOf(recordNo);
    const isFailure = state === 'failed' || state === 'dead_lettered';
    const marks = {
      succeeded: state === 'succeeded' ? [offset] : [],
      cancelled: state === 'cancelled' ? [offset] : [],
      failed: new Map(isFailure && reason !== undefined ? [[reason, [offset]]] : []),
    };
    if (state !== 'retrying' && state !== 'deferred') {
      await world.ledger.mark(submissionId, chunkOf(recordNo), marks, EXPIRES_AT_SECONDS);
    }
  }
  return stored;
}
