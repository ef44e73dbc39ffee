import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../authorization/principals.ts';
import { AwsError } from './errors.ts';
import { readAll } from './read-all.ts';
import type { SignatureClaim, SignedRequest } from './signature.ts';

/** Larger bodies than any of the buffered services accepts are refused (DynamoDB takes 16 MiB, Lambda 6 MB). */
const MAX_BUFFERED_BYTES = 20 * 2 ** 20;

/** One request on its way through the front. */
export class Call implements SignedRequest {
  readonly startedAtMs = Date.now();
  readonly #startedAt = performance.now();
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  /** Set once the caller is known. */
  principal: Principal | undefined;
  claim: SignatureClaim | undefined;
  service = 'unknown';
  operation = 'Unknown';
  target: string | undefined;
  /** The parsed body of a JSON protocol. */
  input: unknown;
  /** The body where it was read into memory. */
  body: Buffer = Buffer.alloc(0);
  /** The call is to be done, and its answer to be lost. */
  losesReply = false;
  errorCode: string | undefined;
  /** Capacity units that a table charged for it, where they are metered. */
  capacityUnits: number | undefined;
  responseBytes = 0;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.request = request;
    this.response = response;
    this.method = request.method ?? 'GET';
    const url = request.url ?? '/';
    const mark = url.indexOf('?');
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.query = mark < 0 ? [] : parseQuery(url.slice(mark + 1));
  }

  get headers(): IncomingMessage['headers'] {
    return this.request.headers;
  }

  get durationMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** A header's value; the first one where it is repeated. */
  header(name: string): string | undefined {
    const value = this.headers[name];
    return Array.isArray(value) ? value[0] : value;
  }

  /** A query parameter's value; undefined where there is none, empty where it has none. */
  parameter(name: string): string | undefined {
    return this.query.find(([found]) => found === name)?.[1];
  }

  async readBody(): Promise<void> {
    this.body = await readAll(
      this.request,
      MAX_BUFFERED_BYTES,
      () => new AwsError(413, 'RequestEntityTooLarge', 'The request is too large.'),
    );
  }

  /** Parses the body of a JSON protocol. */
  readJson(): Record<string, unknown> {
    const input: unknown = this.body.length === 0 ? {} : parse(this.body.toString());
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      throw new AwsError(400, 'SerializationException', 'The body is not a JSON object.');
    }
    this.input = input;
    return Object.fromEntries(Object.entries(input));
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AwsError(400, 'SerializationException', `The body is not JSON: ${String(error)}`);
  }
}

/** Like `URLSearchParams`, but a plus sign stays one, as in the canonical query of a signature. */
function parseQuery(query: string): [name: string, value: string][] {
  return query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const mark = part.indexOf('=');
      return mark < 0 ? [decode(part), ''] : [decode(part.slice(0, mark)), decode(part.slice(mark + 1))];
    });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new AwsError(400, 'InvalidURI', `${text} is not percent-encoded correctly.`);
  }
}
