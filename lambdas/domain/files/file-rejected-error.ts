import { SluiceError } from '../errors.ts';

/** Why a file as a whole is refused. Stable: stored and shown to customers. */
export type FileRejectionCode =
  | 'EMPTY_FILE'
  | 'UNSUPPORTED_ENCODING'
  | 'UNSUPPORTED_COMPRESSION'
  | 'UNSUPPORTED_CONTAINER'
  /** The content is of another format than the one that was announced. */
  | 'FORMAT_MISMATCH'
  | 'MISSING_REQUIRED_COLUMN'
  | 'DUPLICATE_HEADER'
  | 'EMPTY_HEADER'
  | 'RESERVED_HEADER'
  | 'INVALID_HEADER'
  | 'HEADER_TOO_LARGE'
  | 'UNTERMINATED_QUOTE'
  /** The JSON array breaks off before its closing bracket. */
  | 'TRUNCATED_ARRAY'
  /** Something other than a comma or the closing bracket stands between two elements of the JSON array, or after it. */
  | 'INVALID_ARRAY';

/** The file as a whole cannot be read, now or later. The message is a sentence for the customer, with the remedy. */
export class FileRejectedError extends SluiceError {
  readonly code: FileRejectionCode;
  /** Physical line that the message speaks of, 1-based. */
  readonly line: number | undefined;

  constructor(code: FileRejectionCode, message: string, line?: number) {
    super(message);
    this.code = code;
    this.line = line;
  }
}
