/*
 * What an execution environment and the process that owns it say to each other. Both ends are the same program, so
 * messages are typed and not parsed.
 */

/** A failed invocation or initialization as Lambda describes it in the answer's payload. */
export interface RuntimeError {
  errorType: string;
  errorMessage: string;
  trace: string[];
}

export interface InvokeMessage {
  type: 'invoke';
  requestId: string;
  /** The event as JSON text. */
  payload: string;
  /** When the invocation is stopped, ms since the epoch. */
  deadlineMs: number;
  functionArn: string;
}

/** Bytes written to standard output so far: the owner waits for them, since they travel on another channel. */
interface Written {
  writtenBytes: number;
}

export type ChildMessage = Written &
  (
    | { type: 'ready' }
    | { type: 'init_failed'; error: RuntimeError }
    /** Answer as JSON text. */
    | { type: 'succeeded'; payload: string; residentBytes: number }
    /** `fatal`: the environment ends itself after this, as the managed runtime does after an unhandled rejection. */
    | { type: 'failed'; error: RuntimeError; residentBytes: number; fatal: boolean }
  );
