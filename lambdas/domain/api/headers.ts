/* Every header of the API beside those of HTTP clients themselves: the OpenAPI document and CORS are made from these. */

interface Header {
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly example: string | number | boolean;
}

/** Headers of requests, by the operations that name them. `Authorization` and `Content-Type` are described elsewhere. */
export const REQUEST_HEADERS = {
  'Idempotency-Key': {
    description: 'Repetitions with the same key and request are one request and get the current state of its result.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
    example: 'customers-2026-01',
  },
  'If-None-Match': {
    description: 'The `ETag` of an earlier answer: while nothing has changed, the answer is 304 without a body.',
    schema: { type: 'string', maxLength: 1_000 },
    example: 'W/"4NUcoFYPqPb7vYqyTBcIvw"',
  },
} as const satisfies Record<string, Header>;

/** Headers of answers. */
export const RESPONSE_HEADERS = {
  'X-Request-Id': {
    description: 'Identifies the request. Name it when you ask about an answer.',
    schema: { type: 'string' },
    example: '0f9d1f3c-6b0e-4d0e-9a5e-3f1c2b7a9d10',
  },
  Location: {
    description: 'URL of the submission.',
    schema: { type: 'string', format: 'uri' },
    example: 'https://api.example.com/v1/submissions/sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD',
  },
  ETag: {
    description: 'Changes whenever the submission does. Send it back as `If-None-Match`.',
    schema: { type: 'string' },
    example: 'W/"4NUcoFYPqPb7vYqyTBcIvw"',
  },
  'Idempotency-Replayed': {
    description: 'Present and true where an earlier request with the same idempotency key was accepted.',
    schema: { type: 'boolean' },
    example: true,
  },
  'RateLimit-Policy': {
    description: 'What the tenant may have open at once: submissions, and records by estimate.',
    schema: { type: 'string' },
    example: '"submissions";q=100, "records";q=1000000',
  },
  RateLimit: {
    description: 'What is left of it after this request.',
    schema: { type: 'string' },
    example: '"submissions";r=99, "records";r=999800',
  },
  'Retry-After': {
    description: 'Seconds to wait before the request is repeated.',
    schema: { type: 'integer', minimum: 0 },
    example: 5,
  },
  'WWW-Authenticate': {
    description: 'The scheme by which a key is sent.',
    schema: { type: 'string' },
    example: 'Bearer realm="sluice"',
  },
  Allow: { description: 'The methods that the path has.', schema: { type: 'string' }, example: 'GET, HEAD, POST' },
} as const satisfies Record<string, Header>;

export type RequestHeader = keyof typeof REQUEST_HEADERS;
export type ResponseHeader = keyof typeof RESPONSE_HEADERS;
