import { setTimeout as sleep } from 'node:timers/promises';
import { createApiClient, type ApiClient } from '../client/client.ts';
import { CommandError, EXIT, type ExitCode } from './errors.ts';
import type { Settings } from './settings.ts';

const TRIES = 6;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_SECONDS = 60;

/** The API; calls wait and are repeated where that is safe and may help. */
export const connect = ({ url, key }: Settings): ApiClient => createApiClient(url, key, fetchAgain);

/**
 * Repeats what the API asks to repeat (an answer with `Retry-After`), and calls without an answer where they are safe to repeat: those that read, and
 * those with an idempotency key.
 */
async function fetchAgain(request: Request): Promise<Response> {
  const isSafe = request.method === 'GET' || request.headers.has('idempotency-key');
  for (let tries = 1; ; tries++) {
    const isLast = tries === TRIES;
    const answer = await fetch(request.clone()).catch((cause: unknown) => {
      if (isLast || !isSafe) throw unreachable(request.url, cause);
      return undefined;
    });
    const waitSeconds = Number(answer?.headers.get('retry-after') ?? Number.NaN);
    if (answer !== undefined && (isLast || answer.ok || !(waitSeconds <= LONGEST_WAIT_SECONDS))) return answer;
    await sleep(waitSeconds >= 0 ? waitSeconds * 1000 : FIRST_WAIT_MS * 2 ** (tries - 1));
  }
}

function unreachable(url: string, cause: unknown): CommandError {
  const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause.message : String(cause);
  return new CommandError(EXIT.unavailable, `${new URL(url).origin} does not answer: ${reason}.`, { cause });
}

/** The body of an answer. Throws a CommandError with the API's own words where it refused. */
export function bodyOf<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): T {
  if (response.ok && data !== undefined) return data;
  throw new CommandError(exitCodeOf(response.status), wordsOf(error, response));
}

function exitCodeOf(status: number): ExitCode {
  if (status === 401 || status === 403) return EXIT.unauthorized;
  return status === 429 || status >= 500 ? EXIT.unavailable : EXIT.refused;
}

function wordsOf(problem: unknown, { status, url }: Response): string {
  const text = (name: string): string | undefined => {
    const found: unknown = typeof problem === 'object' && problem !== null ? Reflect.get(problem, name) : undefined;
    return typeof found === 'string' ? found : undefined;
  };
  const title = text('title');
  if (title === undefined) return `${url} answered ${status} without saying why. Is it the URL of the API?`;
  const [detail, requestId] = [text('detail'), text('requestId')];
  return `${title}.${detail === undefined ? '' : ` ${detail}`}${requestId === undefined ? '' : ` (request ${requestId})`}`;
}

/** The stable code of a refusal; undefined where there is none. */
export function codeOf(problem: unknown): string | undefined {
  const code: unknown = typeof problem === 'object' && problem !== null ? Reflect.get(problem, 'code') : undefined;
  return typeof code === 'string' ? code : undefined;
}
