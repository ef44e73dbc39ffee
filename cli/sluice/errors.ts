/** How `sluice` ends: what scripts decide by. */
export const EXIT = {
  done: 0,
  /** A defect, or a file that cannot be read or written. */
  failed: 1,
  usage: 2,
  /** The API refused the request. */
  refused: 3,
  /** The key is missing, not valid, or lacks a scope. */
  unauthorized: 4,
  /** The submission has ended, but records of it failed. */
  recordsFailed: 5,
  /** The submission was rejected or cancelled, or has expired. */
  notProcessed: 6,
  /** Neither the API nor the storage answered, also after retries. */
  unavailable: 7,
  /** Results are not what the API says that they are. */
  damaged: 8,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A command cannot be carried out; the message says why and what helps. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** The arguments do not make a command. */
export const usageError = (message: string): CommandError => new CommandError(EXIT.usage, message);
