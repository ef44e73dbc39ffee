import { invalidPart, ProblemError } from './problems.ts';
import type { ApiRequest } from './request.ts';

const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;
/** What a client should wait before it repeats a request that is still being answered. */
const IN_PROGRESS_RETRY_SECONDS = 1;

/** @throws ProblemError `invalid_request` for what is no key */
export function idempotencyKeyOf({ headers }: ApiRequest): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined || IDEMPOTENCY_KEY.test(key)) return key;
  throw invalidPart({ header: 'Idempotency-Key', detail: 'Idempotency-Key has 1 to 255 printable ASCII characters.' });
}

/** Headers of an answer to a repeated request. */
export const replayHeaders = (replayed: boolean): Record<string, string> =>
  replayed ? { 'Idempotency-Replayed': 'true' } : {};

export const keyReused = (): ProblemError =>
  new ProblemError('idempotency_key_reused', 'Use a new idempotency key for every new request.', {
    errors: [{ header: 'Idempotency-Key', detail: 'was sent with another request before' }],
  });

export const stillInProgress = (cause: Error): ProblemError =>
  new ProblemError('request_in_progress', 'Repeat the request in a moment: it will get the same answer.', {
    retryAfterSeconds: IN_PROGRESS_RETRY_SECONDS,
    cause,
  });
