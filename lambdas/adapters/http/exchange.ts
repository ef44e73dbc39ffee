import type { ClientRequest, IncomingMessage } from 'node:http';
import { SluiceError } from '../../domain/errors.ts';
import type { TransportFailure, TransportResult } from '../../domain/providers/ports.ts';

/** An error of Node's HTTP client, and whether the connection was an idle one that was used again without any answer. */
class TransportError extends SluiceError {
  readonly onReusedSocket: boolean;

  constructor(cause: Error, onReusedSocket: boolean) {
    super(cause.message, { cause });
    this.onReusedSocket = onReusedSocket;
  }
}

/** The address may not be connected to. */
export class RefusedTargetError extends SluiceError {}

/** The server switched protocols, or closed the connection without a final answer. */
class NoAnswerError extends SluiceError {
  readonly code: string;

  constructor(code: string) {
    super(`The exchange ended with ${code}.`);
    this.code = code;
  }
}

/** True when a new connection is worth one immediate try. */
export const isStaleConnection = (error: unknown): boolean =>
  error instanceof TransportError && error.onReusedSocket && ['ECONNRESET', 'EPIPE'].includes(codeOf(error));

/**
 * Runs one exchange over HTTP with one deadline over everything: whatever the client does or leaves undone, the result is
 * there when the deadline passes. What the network does is a result, never an error.
 */
export async function withDeadline(
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<TransportResult>,
): Promise<TransportResult> {
  const deadline = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new NoAnswerError('ABORT_ERR'));
      deadline.abort();
    }, timeoutMs);
  });
  try {
    return await Promise.race([work(deadline.signal), passed]);
  } catch (error) {
    return failureOf(error, deadline.signal.aborted);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Sends the body and passes the final answer to `read`. Informational answers (100, 102, 103) are skipped. A switch of protocols is
 * refused: Node emits neither `response` nor `error` for it.
 */
export async function exchange(
  outgoing: ClientRequest,
  body: string | undefined,
  read: (response: IncomingMessage) => Promise<TransportResult>,
): Promise<TransportResult> {
  return new Promise((resolve, reject) => {
    let answered = false;
    const refuseUpgrade = (connection: { destroy(): void }): void => {
      connection.destroy();
      reject(new NoAnswerError('UPGRADE_REFUSED'));
    };
    outgoing.once('response', (response) => {
      answered = true;
      if (response.statusCode === 101) refuseUpgrade(response);
      else read(response).then(resolve, reject);
    });
    outgoing.once('upgrade', (_response, socket) => refuseUpgrade(socket));
    outgoing.on('error', (error) => reject(new TransportError(error, outgoing.reusedSocket && !answered)));
    outgoing.once('close', () => {
      if (!answered) reject(new NoAnswerError('CLOSED_WITHOUT_ANSWER'));
    });
    outgoing.end(body);
  });
}

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

/** The failure that an error stands for. The detail is Node's code and nothing that was sent or received. */
function failureOf(error: unknown, isPastDeadline: boolean): TransportResult {
  if (isPastDeadline) return { kind: 'failure', cause: 'timeout', detail: 'The deadline passed.' };
  const cause = error instanceof TransportError ? error.cause : error;
  if (cause instanceof RefusedTargetError) return refusedTarget(cause.message);
  const code = codeOf(error);
  // What is left are connections that broke and answers that are not HTTP.
  return { kind: 'failure', cause: CAUSES.find(([pattern]) => pattern.test(code))?.[1] ?? 'reset', detail: code };
}

export const refusedTarget = (detail: string): TransportResult => ({
  kind: 'failure',
  cause: 'refused_target',
  detail,
});

/** The code of an error, of its cause, or of the first of several addresses that were tried. Classes differ between realms. */
function codeOf(error: unknown): string {
  if (error instanceof TransportError) return codeOf(error.cause);
  if (typeof error !== 'object' || error === null) return 'UNKNOWN';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return 'errors' in error && Array.isArray(error.errors) && error.errors.length > 0
    ? codeOf(error.errors[0])
    : 'UNKNOWN';
}
