import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { Agent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { SluiceError } from '../../domain/errors.ts';
import type { HttpTransport, TransportResult } from '../../domain/providers/ports.ts';
import { withDeadline } from './deadline.ts';
import { isPublicAddress } from './public-address.ts';

type HttpRequest = Parameters<HttpTransport['request']>[0];

type Resolved = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

export interface CallbackTransportOptions {
  /** Finds every address of a host name. */
  resolve?: (hostname: string, done: Resolved) => void;
  /** Which addresses may be connected to. */
  isAllowed?: (address: string) => boolean;
  /** Certificate authorities to trust instead of Node's own, as PEM. */
  ca?: string;
}

/** The host has no address that may be connected to. */
class RefusedAddressError extends SluiceError {}

const refused = (detail: string): TransportResult => ({ kind: 'failure', cause: 'refused_target', detail });

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
      if (!first) callback(error ?? new RefusedAddressError(`${hostname} has no public address.`), '');
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
      return withDeadline(request.timeoutMs, async (signal) => exchange(request, url, { agent, lookup, signal }));
    },
  };
}

const resolveAll = (hostname: string, done: Resolved): void => dnsLookup(hostname, { all: true }, done);

async function exchange(
  { method, headers, body }: HttpRequest,
  url: URL,
  connection: { agent: Agent; lookup: LookupFunction; signal: AbortSignal },
): Promise<TransportResult> {
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest(url, { ...connection, method, headers });
    outgoing.once('response', (response) => {
      resolve({
        kind: 'response',
        status: response.statusCode ?? 0,
        headers: {},
        body: new Uint8Array(),
        truncated: true,
      });
      response.destroy();
    });
    outgoing.on('error', (error) => {
      if (error instanceof RefusedAddressError) resolve(refused('The host has no public address.'));
      else reject(error);
    });
    outgoing.end(body);
  });
}
