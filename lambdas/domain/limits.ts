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
const LONGEST_WRITE_MS = Math.max(AWS_TRIES * DYNAMO_TRY_MS + waitsMs(WAIT_MS), waitsMs(THROTTLED_WAIT_MS));
/** Sending what could not be written back to its queue. */
const HAND_BACK_MS = 1_000;

/**
 * Time kept at the end of an invocation for writing what was reached and handing back what was not: a write that hangs to its end, and
 * the queue that then takes the records back.
 */
export const SETTLE_RESERVE_MS = LONGEST_WRITE_MS + HAND_BACK_MS;
