import { SluiceError } from '../errors.ts';
import type { Wrapping } from './detect.ts';

/** The source must be unpacked or decoded before records can be read from it. */
export class NotPreparedError extends SluiceError {
  readonly wrapping: Wrapping;

  constructor(submissionId: string, wrapping: Wrapping) {
    super(`The source of ${submissionId} is to be prepared (${wrapping.kind}) before it is read.`);
    this.wrapping = wrapping;
  }
}
