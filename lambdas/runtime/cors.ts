import { REQUEST_HEADERS, RESPONSE_HEADERS } from '../domain/api/headers.ts';

/** How long a browser may keep the answer to a preflight. */
const MAX_AGE_SECONDS = 3_600;
const namesOf = (...names: readonly string[]): string => names.join(', ').toLowerCase();
const ALLOWED_HEADERS = namesOf('authorization', 'content-type', ...Object.keys(REQUEST_HEADERS));
const EXPOSED_HEADERS = namesOf(...Object.keys(RESPONSE_HEADERS));

/** Headers that let a page of a configured origin read the answer; for any other origin, none. */
export function corsHeaders(origins: readonly string[], origin: string | undefined): Record<string, string> {
  if (origins.length === 0) return {};
  // A cache must not give what it keeps for one origin to another.
  const vary = { Vary: 'Origin' };
  if (origin === undefined || !(origins.includes('*') || origins.includes(origin))) return vary;
  return { ...vary, 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED_HEADERS };
}

/** Answer to a preflight, beside the headers above. */
export const preflightHeaders = (methods: readonly string[]): Record<string, string> => ({
  'Access-Control-Allow-Methods': methods.join(', '),
  'Access-Control-Allow-Headers': ALLOWED_HEADERS,
  'Access-Control-Max-Age': String(MAX_AGE_SECONDS),
});
