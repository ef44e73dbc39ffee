import { DependencyMisconfiguredError, DependencyUnavailableError } from '../errors.ts';
import type { EventFields, Telemetry } from '../telemetry.ts';
import type { SendFailure } from './ports.ts';

/** The error for messages that a queue did not take, `what` as the beginning of a sentence. Repeating the send may help. */
export function notSent(what: string, { code, refused }: SendFailure): DependencyUnavailableError {
  const sentence = `${what} not sent: ${code}.`;
  return refused ? new DependencyMisconfiguredError(sentence, refused) : new DependencyUnavailableError(sentence);
}

/** Reports messages that a queue did not take: what a person must allow rings the alarm about misconfigurations. */
export function reportUnsent(telemetry: Telemetry, failures: readonly SendFailure[], about: EventFields = {}): void {
  const [failure] = failures;
  if (failure === undefined) return;
  const error = notSent(`${failures.length} messages were`, failure);
  telemetry.emit({ name: 'unexpected_error', level: 'warn', ...about, error, count: failures.length });
}
