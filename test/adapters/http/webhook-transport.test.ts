import { readFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  createWebhookTransport,
  type WebhookTransportOptions,
} from '../../../lambdas/adapters/http/webhook-transport.ts';

const pem = (name: string): string => readFileSync(new URL(`../../support/tls/${name}.pem`, import.meta.url), 'utf8');

interface Target {
  port: number;
  requests: { method: string | undefined; url: string | undefined; body: string; contentType: string | undefined }[];
  connections: () => number;
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(answer: RequestListener): Promise<Target> {
  const requests: Target['requests'] = [];
  let connections = 0;
  const server = createServer({ key: pem('key'), cert: pem('certificate') }, (request, response) => {
    receive(request, response).catch(() => response.destroy());
  });
  const receive = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url, headers } = incoming;
    requests.push({ method, url, body: await bodyOf(incoming), contentType: headers['content-type'] });
    answer(incoming, Object.assign(response, { req: incoming }));
  };
  server.on('connection', () => {
    connections += 1;
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, requests, connections: () => connections };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const piece of request as AsyncIterable<Buffer>) body += piece.toString('utf8');
  return body;
}

/** A transport for which every name leads to this machine, and this machine may be called. */
const transport = (options: WebhookTransportOptions = {}) =>
  createWebhookTransport({
    resolve: (_, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    isAllowed: () => true,
    ca: pem('certificate'),
    ...options,
  });

const request = (url: string, timeoutMs = 5_000) => ({
  method: 'POST' as const,
  url,
  headers: { 'content-type': 'application/json' },
  body: '{"state":"complete"}',
  timeoutMs,
  maxBodyBytes: 1_024,
});

describe('a webhook over https', () => {
  it('posts the body and answers the status', async () => {
    const target = await serve((_, response) => response.writeHead(202).end('thanks'));
    const result = await transport().request(request(`https://callback.test:${target.port}/hook?a=1`));
    expect(result).toMatchObject({ kind: 'response', status: 202 });
    expect(target.requests).toEqual([
      { method: 'POST', url: '/hook?a=1', body: '{"state":"complete"}', contentType: 'application/json' },
    ]);
  });

  it('does not follow a redirect', async () => {
    const target = await serve((_, response) => response.writeHead(307, { location: '/other' }).end());
    const result = await transport().request(request(`https://callback.test:${target.port}/hook`));
    expect(result).toMatchObject({ kind: 'response', status: 307 });
    expect(target.requests).toHaveLength(1);
  });

  it('does not wait for the end of an answer', async () => {
    const target = await serve((_, response) => response.writeHead(200).write('for ever'));
    const result = await transport().request(request(`https://callback.test:${target.port}/hook`));
    expect(result).toMatchObject({ kind: 'response', status: 200 });
  });

  it('reads the beginning of an answer that is no success, and when to come back', async () => {
    const target = await serve((_, response) => {
      response.writeHead(503, { 'retry-after': '120' }).write('Down for maintenance. '.repeat(100));
    });
    const result = await transport().request(request(`https://callback.test:${target.port}/hook`));
    if (result.kind !== 'response') throw new Error(result.detail);
    expect(result).toMatchObject({ status: 503, headers: { 'retry-after': '120' } });
    expect(Buffer.from(result.body).toString()).toBe('Down for maintenance. '.repeat(100).slice(0, 1_024));
  });

  it('answers the status of an answer whose body does not come', async () => {
    const target = await serve((_, response) => response.writeHead(500, { 'content-length': '9' }).flushHeaders());
    const result = await transport().request(request(`https://callback.test:${target.port}/hook`));
    expect(result).toMatchObject({ kind: 'response', status: 500 });
  });

  it('refuses a switch of protocols at once: nothing waits for it', async () => {
    const target = await serve((incoming) => {
      incoming.socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    });
    const result = await transport().request(request(`https://callback.test:${target.port}/hook`));
    expect(result).toEqual({ kind: 'failure', cause: 'reset', detail: 'UPGRADE_REFUSED' });
  });

  it('gives up at its deadline', async () => {
    const target = await serve(() => {});
    const result = await transport().request(request(`https://callback.test:${target.port}/hook`, 100));
    expect(result).toMatchObject({ kind: 'failure', cause: 'timeout' });
  });

  it('trusts no certificate that it cannot verify', async () => {
    const target = await serve((_, response) => response.end());
    const result = await createWebhookTransport({
      resolve: (_, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
      isAllowed: () => true,
    }).request(request(`https://callback.test:${target.port}/hook`));
    expect(result.kind).toBe('failure');
    expect(target.requests).toEqual([]);
  });

  it('says that a name has no address', async () => {
    const error = Object.assign(new Error('unknown'), { code: 'ENOTFOUND' });
    const result = await transport({ resolve: (_, done) => done(error, []) }).request(request('https://none.test/'));
    expect(result).toMatchObject({ kind: 'failure', cause: 'dns' });
  });
});

describe('a webhook to an address that is not public', () => {
  it.each([
    'http://callback.test/hook',
    'https://user:secret@callback.test/hook',
    'ftp://callback.test/hook',
    'nonsense',
    'https://127.0.0.1/hook',
    'https://0x7f.1/hook',
    'https://2130706433/hook',
    'https://[::1]/hook',
    'https://[::ffff:169.254.169.254]/hook',
  ])('is refused: %s', async (url) => {
    const result = await createWebhookTransport().request(request(url));
    expect(result).toMatchObject({ kind: 'failure', cause: 'refused_target' });
  });

  it('is refused when its name leads there, without a connection', async () => {
    const target = await serve((_, response) => response.end());
    const strict = createWebhookTransport({
      resolve: (_, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
      ca: pem('certificate'),
    });
    const result = await strict.request(request(`https://callback.test:${target.port}/hook`));
    expect(result).toMatchObject({ kind: 'failure', cause: 'refused_target' });
    expect(target.connections()).toBe(0);
  });

  it('uses only the allowed ones among several addresses', async () => {
    const target = await serve((_, response) => response.end());
    const result = await transport({
      resolve: (_, done) =>
        done(null, [
          { address: '127.0.0.2', family: 4 },
          { address: '127.0.0.1', family: 4 },
        ]),
      isAllowed: (address) => address === '127.0.0.1',
    }).request(request(`https://callback.test:${target.port}/hook`));
    expect(result).toMatchObject({ kind: 'response', status: 200 });
    expect(target.connections()).toBe(1);
  });
});
