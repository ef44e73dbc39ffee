/** Failed attempts after which a record goes to the dead-letter queue. */
export const MAX_ATTEMPTS = 5;

/** Receives after which SQS moves a message to the dead-letter queue. Every planned return is a new message, so they count crashes. */
export const MAX_RECEIVE_COUNT = 5;

/** Tries of one call of AWS, the first one included. */
export const AWS_TRIES = 4;
/** How long one try of a DynamoDB call may take: it answers in milliseconds, a large page of a query in some hundred. */
export const DYNAMO_TRY_MS = 1_500;

/** The SDK's longest wait before the second try of a call that hung, or was throttled; before each further try it is twice as long. */
const WAIT_MS = 50;
const THROTTLED_WAIT_MS = 1_000;
const waitsMs = (firstMs: number): number => firstMs * (2 ** (AWS_TRIES - 1) - 1);
/** A DynamoDB call of which every try hangs, or every try is throttled, whichever takes longer. */
export const LONGEST_WRITE_MS = Math.max(AWS_TRIES * DYNAMO_TRY_MS + waitsMs(WAIT_MS), waitsMs(THROTTLED_WAIT_MS));
/** Sending records that could not be written back to their queue. */
const HAND_BACK_MS = 1_000;

/** Time that must be left when a write of the settlement starts: it may hang to its end, and its records must still be sent back. */
export const WRITE_RESERVE_MS = LONGEST_WRITE_MS + HAND_BACK_MS;

/** Writes of a settlement, each of which waits for the one before: row, ledger, closed chunk, start of finalization. */
const SETTLE_WRITES = 4;
/** How long such a write takes while the table is well, with one try repeated. */
const ORDINARY_WRITE_MS = 500;

/**
 * Time kept at the end of an invocation for the settlement: the whole chain of writes, of which the last one hangs to its end. Where the table is slower than that, the writes that have not started are left to the next delivery, see
 * {@link WRITE_RESERVE_MS}.
 */
export const SETTLE_RESERVE_MS = (SETTLE_WRITES - 1) * ORDINARY_WRITE_MS + WRITE_RESERVE_MS;

/** Time that an isolated record needs: its row is written before it starts, then the slowest call, then the settlement. */
export const isolatedRunMs = (slowestCallMs: number): number => LONGEST_WRITE_MS + slowestCallMs + SETTLE_RESERVE_MS;
