/** A command or a test asked for what cannot be done; the message says why, without a stack. */
export class LocalError extends Error {
  override readonly name = 'LocalError';
}
