import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { HttpTransport } from '../../domain/providers/ports.ts';
import { exchange, RefusedTargetError, refusedTarget as refused, withDeadline } from './exchange.ts';
import { createHttpTransport } from './http-transport.ts';
import { isPublicAddress } from './public-address.ts';

type Resolved = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

export interface WebhookTransportOptions {
  /** Finds every address of a host name. */
  resolve?: (hostname: string, done: Resolved) => void;
  /** Which addresses may be connected to. */
  isAllowed?: (address: string) => boolean;
  /** Certificate authorities to trust instead of Node's own, as PEM. */
  ca?: string;
}

/**
 * Calls URLs that customers gave: https only, and only public addresses. The check is made on the very addresses that the connection is
 * opened to, so that a name cannot lead elsewhere between check and use. No redirect is followed, and no connection is kept. Of an answer
 * that is no success the beginning of the body is read, as far as it comes at once.
 */
export function createWebhookTransport(options: WebhookTransportOptions = {}): HttpTransport {
  const { resolve = resolveAll, isAllowed = isPublicAddress, ca } = options;
  const agent = new Agent({ keepAlive: false, ...(ca !== undefined && { ca }) });
  const lookup: LookupFunction = (hostname, { all }, callback) => {
    resolve(hostname, (error, addresses) => {
      const allowed = error ? [] : addresses.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      if (!first) callback(error ?? new RefusedTargetError('The host has no public address.'), '');
      else if (all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
  return {
    async request(request) {
      const url = URL.parse(request.url);
      if (url?.protocol !== 'https:') return refused('The URL is not https.');
      if (url.username !== '' || url.password !== '') return refused('The URL carries credentials.');
      // Node looks an address up nowhere, so it would pass the check above.
      const host = url.hostname.replace(/^\[|\]$/g, '');
      if (isIP(host) > 0 && !isAllowed(host)) return refused('The address is not public.');
      const { method, headers, body, timeoutMs, maxBodyBytes } = request;
      return withDeadline(timeoutMs, async (signal) => {
        const outgoing = httpsRequest(url, { agent, lookup, signal, method, headers });
        return exchange(outgoing, body, async (response) => {
          const status = response.statusCode ?? 0;
          const isSuccess = status >= 200 && status <= 299;
          const excerpt = isSuccess ? new Uint8Array() : await beginningOf(response, maxBodyBytes);
          response.destroy();
          const retryAfter = response.headers['retry-after'];
          const answerHeaders = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
          return { kind: 'response', status, headers: answerHeaders, body: excerpt, truncated: true };
        });
      });
    },
  };
}

/** How long the body of an answer is waited for: the status is what counts. */
const EXCERPT_WAIT_MS = 500;

async function beginningOf(response: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, EXCERPT_WAIT_MS);
    const finish = (): void => {
      clearTimeout(timer);
      resolve();
    };
    response.on('data', (piece: Buffer) => {
      pieces.push(piece);
      bytes += piece.byteLength;
      if (bytes >= maxBytes) finish();
    });
    response.once('end', finish).once('error', finish).once('close', finish);
  });
  return Buffer.concat(pieces).subarray(0, maxBytes);
}

/**
 * Sends everything to one receiver on this machine, whatever the URL's host: the local cloud has no customers. The path stays, and
 * `x-forwarded-host` has the host.
 */
export function createForwardingTransport(receiver: string): HttpTransport {
  const transport = createHttpTransport();
  return {
    async request(request) {
      const { host, pathname, search } = new URL(request.url);
      const headers = { ...request.headers, 'x-forwarded-host': host };
      return transport.request({ ...request, url: `${receiver}${pathname}${search}`, headers });
    },
  };
}

const resolveAll = (hostname: string, done: Resolved): void => dnsLookup(hostname, { all: true }, done);
