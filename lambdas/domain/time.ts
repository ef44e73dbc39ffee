/** Wall clock of the machine that asks. Clocks of different machines differ: never compare two of them for equality. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves `ms` milliseconds later; at once when `ms` is zero or less. */
  sleep(ms: number): Promise<void>;
}

/** Source of randomness: a number in [0, 1). */
export type Random = () => number;

/** Time that is left for this invocation. */
export interface TimeBudget {
  /** Milliseconds until the function is stopped. */
  remainingMs(): number;
}

/** The longest delay that SQS accepts for one send, https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html */
export const MAX_QUEUE_DELAY_MS = 900_000;
