import { DependencyMisconfiguredError, DependencyUnavailableError } from '../errors.ts';
import type { SendFailure } from './ports.ts';

/** The error for messages that a queue did not take, `what` as the beginning of a sentence. Repeating the send may help. */
export function notSent(what: string, { code, refused }: SendFailure): DependencyUnavailableError {
  const sentence = `${what} not sent: ${code}.`;
  return refused ? new DependencyMisconfiguredError(sentence, refused) : new DependencyUnavailableError(sentence);
}
