import { Agent, type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { readAll } from './read-all.ts';

/** Headers that belong to one connection, and those that the new request gets by itself. */
const NOT_FORWARDED = new Set(['connection', 'keep-alive', 'transfer-encoding', 'expect', 'host', 'content-length']);

export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** An emulator behind the front, reached over connections that stay open. */
export class Upstream {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 256 });

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends a body that is in memory, and reads the whole answer. */
  async send(
    method: string,
    path: string,
    headers: OutgoingHttpHeaders,
    body: Buffer | string,
  ): Promise<UpstreamAnswer> {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const length = Buffer.byteLength(body);
      const outgoing = this.#request(method, path, { ...headers, 'content-length': length }, resolve);
      outgoing.on('error', reject).end(body);
    });
    return { status: answer.statusCode ?? 500, headers: answer.headers, body: await readAll(answer) };
  }

  /** Passes a body on as it arrives; the answer's body is left to the caller to read. */
  async stream(method: string, path: string, headers: OutgoingHttpHeaders, body: Readable): Promise<IncomingMessage> {
    let sent: Promise<void> | undefined;
    const answer = new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = this.#request(method, path, headers, resolve).on('error', reject);
      sent = pipeline(body, outgoing);
      sent.catch(reject);
    });
    return answer;
  }

  stop(): void {
    this.#agent.destroy();
  }

  #request(
    method: string,
    path: string,
    headers: OutgoingHttpHeaders,
    onAnswer: (answer: IncomingMessage) => void,
  ): ReturnType<typeof request> {
    return request({ host: '127.0.0.1', port: this.#port, agent: this.#agent, method, path, headers }, onAnswer);
  }
}

/** Headers of a request or an answer without those that belong to one connection. */
export function forwarded(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_FORWARDED.has(name)));
}
