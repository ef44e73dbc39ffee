/** How long a browser may keep what a preflight told. */
const MAX_AGE_SECONDS = 3_600;
const REQUEST_HEADERS = 'authorization, content-type, idempotency-key';
const EXPOSED_HEADERS = 'location, retry-after';

/** Headers that let a page of a configured origin read the answer; for any other origin, none. */
export function corsHeaders(origins: readonly string[], origin: string | undefined): Record<string, string> {
  if (origins.length === 0) return {};
  // What a cache keeps for one origin must not be given to another.
  const vary = { Vary: 'Origin' };
  if (origin === undefined || !isAllowed(origins, origin)) return vary;
  return { ...vary, 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED_HEADERS };
}

/** Answer to a preflight, beside the headers above. */
export const preflightHeaders = (methods: readonly string[]): Record<string, string> => ({
  'Access-Control-Allow-Methods': methods.join(', '),
  'Access-Control-Allow-Headers': REQUEST_HEADERS,
  'Access-Control-Max-Age': String(MAX_AGE_SECONDS),
});

const isAllowed = (origins: readonly string[], origin: string): boolean =>
  origins.includes('*') || origins.includes(origin);
