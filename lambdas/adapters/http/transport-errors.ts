import { SluiceError } from '../../domain/errors.ts';
import type { TransportFailure, TransportResult } from '../../domain/providers/ports.ts';

/** An error of Node's HTTP client, and whether the connection was an idle one that was used again without any answer. */
export class TransportError extends SluiceError {
  readonly onReusedSocket: boolean;

  constructor(cause: Error, onReusedSocket: boolean) {
    super(cause.message, { cause });
    this.onReusedSocket = onReusedSocket;
  }
}

/** True when a new connection is worth one immediate try. */
export const isStaleConnection = (error: unknown): boolean =>
  error instanceof TransportError && error.onReusedSocket && ['ECONNRESET', 'EPIPE'].includes(codeOf(error));

const CAUSES: readonly [RegExp, TransportFailure][] = [
  [/^(?:ENOTFOUND|EAI_)/, 'dns'],
  [/^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ETIMEDOUT|EMFILE)/, 'connect'],
  [/^(?:EPROTO|ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH)/, 'tls'],
  [
    /^(?:ERR_INVALID_CHAR|ERR_HTTP_INVALID|ERR_INVALID_HTTP|ERR_UNESCAPED_CHARACTERS|ERR_INVALID_PROTOCOL)/,
    'refused_target',
  ],
  [/^ABORT_ERR/, 'aborted'],
];

/** Understands what went wrong. The detail is Node's code and nothing that was sent or received. */
export function failureOf(error: unknown, isPastDeadline: boolean): TransportResult {
  if (isPastDeadline) return { kind: 'failure', cause: 'timeout', detail: 'The deadline passed.' };
  const code = codeOf(error);
  // What is left are connections that broke and answers that are not HTTP.
  const cause = CAUSES.find(([pattern]) => pattern.test(code))?.[1] ?? 'reset';
  return { kind: 'failure', cause, detail: code };
}

/** The code of an error, of what caused it, or of the first of several addresses that were tried. Classes differ between realms. */
function codeOf(error: unknown): string {
  if (error instanceof TransportError) return codeOf(error.cause);
  if (typeof error !== 'object' || error === null) return 'UNKNOWN';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return 'errors' in error && Array.isArray(error.errors) && error.errors.length > 0
    ? codeOf(error.errors[0])
    : 'UNKNOWN';
}
