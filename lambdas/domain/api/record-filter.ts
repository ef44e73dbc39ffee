import { RECORD_STATES, type LedgerChunk, type RecordState } from '../model.ts';
import type { outcomeAt } from '../ledger/ledger.ts';
import { reasonOf, type ReasonCode } from '../reasons.ts';
import type { RecordView } from './schemas.ts';

/** What a list of records is narrowed to; everything when both are undefined. */
export interface RecordFilter {
  state: RecordState | undefined;
  reason: ReasonCode | undefined;
}

type Outcome = ReturnType<typeof outcomeAt>;

/** Records of a state in the sense of the counts of a submission. */
const STATES: Readonly<Record<RecordState, readonly RecordState[]>> = {
  pending: ['pending', 'retrying', 'deferred'],
  retrying: ['retrying'],
  deferred: ['deferred'],
  succeeded: ['succeeded'],
  failed: ['failed', 'dead_lettered'],
  dead_lettered: ['dead_lettered'],
  cancelled: ['cancelled'],
};

/** How the ledger counts records of a state. */
const OUTCOMES: Readonly<Record<RecordState, Outcome>> = {
  pending: 'pending',
  retrying: 'pending',
  deferred: 'pending',
  succeeded: 'succeeded',
  failed: 'failed',
  dead_lettered: 'failed',
  cancelled: 'cancelled',
};

/** Whether a record can belong to the list by what the ledger says of it; its row decides. */
export function mayMatch(
  { state, reason }: RecordFilter,
  outcome: Outcome,
  chunk: LedgerChunk | undefined,
  offset: number,
): boolean {
  if (state !== undefined && outcome !== OUTCOMES[state]) return false;
  if (reason === undefined) return true;
  if (outcome === 'failed') return chunk?.failed.get(reason)?.has(offset) ?? false;
  if (outcome === 'cancelled') return reason === 'cancelled';
  // A record that is still open may be in trouble of any kind but a permanent one.
  return outcome === 'pending' && reasonOf(reason).class !== 'permanent';
}

/** Whether the ledger tells too little, so that many a row is read in vain. */
export const isDecidedByRow = ({ state, reason }: RecordFilter): boolean =>
  reason !== undefined || state === 'retrying' || state === 'deferred' || state === 'dead_lettered';

export const matches = ({ state, reason }: RecordFilter, record: RecordView): boolean =>
  (state === undefined || STATES[state].includes(isRecordState(record.state) ? record.state : 'deferred')) &&
  (reason === undefined || record.reason === reason);

const isRecordState = (state: string): state is RecordState => RECORD_STATES.some((known) => known === state);
