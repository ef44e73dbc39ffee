import { ObjectChangedError, ObjectMissingError, SluiceError } from '../errors.ts';
import { FileRejectedError, type FileRejectionCode } from '../files/reader.ts';

/** Why a file cannot be unpacked or decoded. Stable: stored and shown to customers. */
export type PrepareRejectionCode =
  | 'DECOMPRESSED_TOO_LARGE'
  | 'DAMAGED_FILE'
  /** Protected by a password. */
  | 'ENCRYPTED'
  /** An archive with no file, or with several. */
  | 'ZIP_MEMBERS'
  | 'SHEET_MISSING'
  | 'FORMULA_WITHOUT_VALUE'
  /** Bytes that the declared character set does not have. */
  | 'CHARSET_MISMATCH';

/** Why reading ends before the file does. Stable: stored and shown to customers. */
export type UnreadableCode =
  | FileRejectionCode
  | PrepareRejectionCode
  | 'FILE_CHANGED'
  | 'FILE_MISSING'
  | 'TOO_MANY_RECORDS'
  | 'NO_RECORDS'
  /** The file has not as many records as were expected. */
  | 'COUNT_MISMATCH'
  /** None of the first records is valid. */
  | 'NO_VALID_RECORDS';

/** The source cannot be read, or not beyond a position, now or later. The message is a sentence for the customer, with the remedy. */
export class UnreadableSourceError extends SluiceError {
  readonly code: UnreadableCode;
  /** Physical line that the message speaks of, 1-based. */
  readonly line: number | undefined;

  constructor(code: UnreadableCode, message: string, options: { line?: number | undefined; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.line = options.line;
  }
}

/** Turns what is final about a source into {@link UnreadableSourceError}; everything else is thrown on as it is. */
export function asUnreadable(error: unknown): unknown {
  if (error instanceof FileRejectedError) {
    return new UnreadableSourceError(error.code, error.message, { line: error.line, cause: error });
  }
  if (error instanceof ObjectChangedError) {
    const sentence =
      'The file was changed after it was submitted. Upload it again under a new upload id and submit that.';
    return new UnreadableSourceError('FILE_CHANGED', sentence, { cause: error });
  }
  if (error instanceof ObjectMissingError) {
    const sentence = 'The file was deleted after it was submitted. Upload it again and submit the new upload id.';
    return new UnreadableSourceError('FILE_MISSING', sentence, { cause: error });
  }
  return error;
}
