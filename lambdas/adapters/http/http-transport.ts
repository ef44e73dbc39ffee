import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isSafeBaseUrl } from '../../domain/providers/config.ts';
import type { HttpTransport, TransportResult } from '../../domain/providers/ports.ts';
import { exchange, isStaleConnection, refusedTarget, withDeadline } from './exchange.ts';

type HttpRequest = Parameters<HttpTransport['request']>[0];

export interface HttpTransportOptions {
  /** Connections per host that stay open between calls and invocations. */
  maxSockets?: number;
}

/** More than a batch has calls under way, so that none waits for a connection. */
const DEFAULT_MAX_SOCKETS = 100;
/** Idle connections are given up before most servers and load balancers (60 s) do so on their side. */
const IDLE_MS = 50_000;

/**
 * Calls over HTTP with one deadline over everything, bounded bodies and no redirects: what a 3xx says is for the caller to
 * read, and the credential goes nowhere else. Only https, or http to this machine.
 */
export function createHttpTransport(options: HttpTransportOptions = {}): HttpTransport & { close(): void } {
  const agentOptions = {
    keepAlive: true,
    maxSockets: options.maxSockets ?? DEFAULT_MAX_SOCKETS,
    timeout: IDLE_MS,
    scheduling: 'lifo' as const,
  };
  const agents = { 'http:': new HttpAgent(agentOptions), 'https:': new HttpsAgent(agentOptions) };
  return {
    async request(request) {
      const url = URL.parse(request.url);
      if (url === null || !isSafeBaseUrl(url.origin) || url.username !== '' || url.password !== '') {
        return refusedTarget('The URL is not https, or carries credentials.');
      }
      const protocol = url.protocol === 'http:' ? 'http:' : 'https:';
      return withDeadline(request.timeoutMs, async (signal) => {
        try {
          return await send(request, url, { agent: agents[protocol], signal });
        } catch (error) {
          // The server closed an idle connection just as it was used again: it has not seen the request.
          if (!isStaleConnection(error)) throw error;
          return send(request, url, { agent: false, signal });
        }
      });
    },
    close() {
      agents['http:'].destroy();
      agents['https:'].destroy();
    },
  };
}

async function send(
  { method, headers, body, maxBodyBytes }: HttpRequest,
  url: URL,
  connection: Pick<RequestOptions, 'agent' | 'signal'>,
): Promise<TransportResult> {
  const open = url.protocol === 'http:' ? httpRequest : httpsRequest;
  // An answer in another encoding would have to be unpacked, and could be much larger than it looks.
  const outgoing = open(url, { ...connection, method, headers: { 'accept-encoding': 'identity', ...headers } });
  return exchange(outgoing, body, async (response) => readBody(response, maxBodyBytes));
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<TransportResult> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let truncated = false;
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    const room = maxBytes - bytes;
    chunks.push(chunk.byteLength > room ? chunk.subarray(0, room) : chunk);
    bytes += Math.min(chunk.byteLength, room);
    truncated = chunk.byteLength > room;
    // Leaving the loop destroys the response, and its connection with it.
    if (truncated) break;
  }
  const status = response.statusCode ?? 0;
  return { kind: 'response', status, headers: flatten(response), body: Buffer.concat(chunks), truncated };
}

const flatten = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
