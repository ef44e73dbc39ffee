/** Failed attempts after which a record goes to the dead-letter queue. */
export const MAX_ATTEMPTS = 5;

/** Receives after which SQS moves a message to the dead-letter queue. Every planned return is a new message, so they count crashes. */
export const MAX_RECEIVE_COUNT = 5;

/** Time kept at the end of an invocation for writing what was reached and handing back what was not. */
export const SETTLE_RESERVE_MS = 8_000;
