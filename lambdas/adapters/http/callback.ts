import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { Agent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { HttpTransport } from '../../domain/providers/ports.ts';
import { exchange, RefusedTargetError, refusedTarget as refused, withDeadline } from './exchange.ts';
import { isPublicAddress } from './public-address.ts';

type Resolved = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

export interface CallbackTransportOptions {
  /** Finds every address of a host name. */
  resolve?: (hostname: string, done: Resolved) => void;
  /** Which addresses may be connected to. */
  isAllowed?: (address: string) => boolean;
  /** Certificate authorities to trust instead of Node's own, as PEM. */
  ca?: string;
}

/**
 * Calls URLs that customers gave: https only, and only public addresses. The check is made on the very addresses that the connection is
 * opened to, so that a name cannot lead elsewhere between check and use. No redirect is followed, no connection is kept, and of
 * the answer only the status is read.
 */
export function createCallbackTransport(options: CallbackTransportOptions = {}): HttpTransport {
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
      const { method, headers, body, timeoutMs } = request;
      return withDeadline(timeoutMs, async (signal) => {
        const outgoing = httpsRequest(url, { agent, lookup, signal, method, headers });
        return exchange(outgoing, body, async (response) => {
          response.destroy();
          const status = response.statusCode ?? 0;
          return { kind: 'response', status, headers: {}, body: new Uint8Array(), truncated: true };
        });
      });
    },
  };
}

const resolveAll = (hostname: string, done: Resolved): void => dnsLookup(hostname, { all: true }, done);
