import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createHttpTransport } from '../../../lambdas/adapters/http/http-transport.ts';

type Transport = ReturnType<typeof createHttpTransport>;
type Request = Parameters<Transport['request']>[0];

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

async function listen(server: Server | TcpServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address() as AddressInfo | null;
  return `http://127.0.0.1:${address?.port ?? 0}`;
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  cleanUps.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return listen(server);
}

/** A server of raw bytes: `onRequest` gets the socket once a request's head has arrived. */
async function serveRaw(onRequest: (socket: Socket, count: number) => void): Promise<string> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('data', () => onRequest(socket, ++count));
  });
  cleanUps.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return listen(server);
}

function open(): Transport {
  const transport = createHttpTransport();
  cleanUps.push(() => transport.close());
  return transport;
}

const ask = async (url: string, changes: Partial<Request> = {}, transport = open()) =>
  transport.request({
    method: 'GET',
    url,
    headers: { authorization: 'Bearer key-1' },
    timeoutMs: 5_000,
    maxBodyBytes: 1_000,
    ...changes,
  });

const text = (body: Uint8Array): string => Buffer.from(body).toString();

describe('an answer', () => {
  it('comes with status, headers and body', async () => {
    const requests: IncomingMessage[] = [];
    const url = await serve((request, response) => {
      requests.push(request);
      response.writeHead(404, { 'Retry-After': '7', 'Set-Cookie': ['a=1', 'b=2'] }).end('{"x":1}');
    });
    const result = await ask(`${url}/v1/x?y=1`);
    expect(result).toMatchObject({
      kind: 'response',
      status: 404,
      truncated: false,
      headers: { 'retry-after': '7', 'set-cookie': 'a=1, b=2' },
    });
    expect(result.kind === 'response' && text(result.body)).toBe('{"x":1}');
    expect(requests[0]).toMatchObject({
      method: 'GET',
      url: '/v1/x?y=1',
      headers: { authorization: 'Bearer key-1', 'accept-encoding': 'identity' },
    });
  });

  it('to a request with a body is had by POST', async () => {
    const url = await serve((request, response) => void request.pipe(response));
    const result = await ask(url, { method: 'POST', body: '{"a":"ü"}' });
    expect(result.kind === 'response' && text(result.body)).toBe('{"a":"ü"}');
  });

  it('without a body is an answer too', async () => {
    const url = await serve((_, response) => void response.writeHead(204).end());
    expect(await ask(url)).toMatchObject({ kind: 'response', status: 204, body: Buffer.alloc(0) });
  });

  it('that is larger than allowed is cut off, not read on', async () => {
    let isClosed: Promise<void> | undefined;
    const url = await serve((_, response) => {
      isClosed = new Promise((resolve) => response.on('close', resolve));
      const fill = (): void => {
        while (response.write('x'.repeat(10_000)));
      };
      response.on('drain', fill);
      fill();
    });
    const result = await ask(url);
    expect(result).toMatchObject({ kind: 'response', status: 200, truncated: true });
    expect(result.kind === 'response' && result.body.byteLength).toBe(1_000);
    await isClosed;
  });

  it('of exactly the allowed size is whole', async () => {
    const url = await serve((_, response) => void response.end('x'.repeat(1_000)));
    expect(await ask(url)).toMatchObject({ truncated: false });
  });

  it('that is a redirect is not followed: the credential stays here', async () => {
    const elsewhere: IncomingMessage[] = [];
    const other = await serve((request, response) => {
      elsewhere.push(request);
      response.end('{}');
    });
    const url = await serve((_, response) => void response.writeHead(302, { location: other }).end());
    expect(await ask(url)).toMatchObject({ kind: 'response', status: 302 });
    expect(elsewhere).toEqual([]);
  });
});

describe('the deadline', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['a server that says nothing', () => undefined],
    ['headers that never end', (socket) => void socket.write('HTTP/1.1 200 OK\r\nX-Slow: ')],
    ['a body that never ends', (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"a":')],
  ])('covers %s', async (_, onRequest) => {
    const url = await serveRaw(onRequest);
    expect(await ask(url, { timeoutMs: 50 })).toMatchObject({ kind: 'failure', cause: 'timeout' });
  });

  it('is one for headers and body together, however the bytes trickle', async () => {
    const url = await serve((_, response) => {
      const timer = setInterval(() => response.write('x'), 10);
      response.on('close', () => clearInterval(timer));
    });
    expect(await ask(url, { timeoutMs: 100 })).toMatchObject({ kind: 'failure', cause: 'timeout' });
  });

  it('leaves the connection unusable, and the next call works on another', async () => {
    const url = await serveRaw((socket, count) => {
      if (count > 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}');
    });
    const transport = open();
    expect(await ask(url, { timeoutMs: 50 }, transport)).toMatchObject({ cause: 'timeout' });
    expect(await ask(url, {}, transport)).toMatchObject({ kind: 'response', status: 200 });
  });
});

describe('a switch of protocols', () => {
  const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

  it('is refused at once, and the connection is closed', async () => {
    let isClosed: Promise<void> | undefined;
    const url = await serveRaw((socket) => {
      isClosed = new Promise((resolve) => socket.once('close', () => resolve()));
      socket.write(SWITCH);
    });
    expect(await ask(url)).toEqual({ kind: 'failure', cause: 'reset', detail: 'UPGRADE_REFUSED' });
    await isClosed;
  });

  it('is refused also where it names no protocol', async () => {
    const url = await serveRaw((socket) => void socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'));
    expect(await ask(url)).toEqual({ kind: 'failure', cause: 'reset', detail: 'UPGRADE_REFUSED' });
  });
});

describe('informational answers', () => {
  it('are skipped: the final answer counts', async () => {
    const head = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n';
    const url = await serveRaw((socket) => void socket.write(`${head}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}`));
    expect(await ask(url)).toMatchObject({ kind: 'response', status: 200 });
  });

  it('without end do not outlast the deadline', async () => {
    const url = await serveRaw((socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 5);
      socket.once('close', () => clearInterval(timer));
    });
    expect(await ask(url, { timeoutMs: 60 })).toMatchObject({ kind: 'failure', cause: 'timeout' });
  });
});

describe('a connection that is closed without an answer', () => {
  it('is a reset', async () => {
    const url = await serveRaw((socket) => void socket.end());
    expect(await ask(url)).toMatchObject({ kind: 'failure', cause: 'reset' });
  });
});

describe('a failure', () => {
  it('is a reset when the server breaks the connection off', async () => {
    const url = await serveRaw((socket) => socket.resetAndDestroy());
    expect(await ask(url)).toMatchObject({ kind: 'failure', cause: 'reset' });
  });

  it('is a reset when the body breaks off', async () => {
    const url = await serveRaw((socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"a":'));
    expect(await ask(url)).toMatchObject({ kind: 'failure', cause: 'reset' });
  });

  it('is a reset when the answer is not HTTP', async () => {
    const url = await serveRaw((socket) => void socket.end('SSH-2.0-OpenSSH\r\n\r\n'));
    expect(await ask(url)).toMatchObject({ kind: 'failure', cause: 'reset' });
  });

  it('is a connect failure when nobody listens', async () => {
    const url = await serve(() => undefined);
    for (const cleanUp of cleanUps.splice(0)) cleanUp();
    expect(await ask(url)).toMatchObject({ kind: 'failure', cause: 'connect' });
  });

  it('is a DNS failure when the name is unknown', async () => {
    expect(await ask('https://no-such-host.invalid/')).toMatchObject({ kind: 'failure', cause: 'dns' });
  });

  it('is a TLS failure when the other side does not speak it', async () => {
    const url = await serveRaw((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(await ask(url.replace('http:', 'https:'))).toMatchObject({ kind: 'failure', cause: 'tls' });
  });

  it.each([
    'http://api.example.com/',
    'ftp://127.0.0.1/',
    'https://user:secret@127.0.0.1/',
    'no url',
    'http://127.0.0.1.example.com/',
  ])('is a refused target for %s, without any connection', async (url) => {
    expect(await ask(url)).toMatchObject({ kind: 'failure', cause: 'refused_target' });
  });

  it('tells nothing of the credential, also where it cannot be part of a header', async () => {
    const url = await serve((_, response) => void response.end());
    const result = await ask(url, { headers: { authorization: 'Bearer bad\nsecret' } });
    expect(result).toMatchObject({ kind: 'failure', cause: 'refused_target' });
    expect(JSON.stringify(result)).not.toContain('secret');
  });
});

describe('a kept connection', () => {
  const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\n{}';

  it('is used again', async () => {
    const ports = new Set<number | undefined>();
    const url = await serve((request, response) => {
      ports.add(request.socket.remotePort);
      response.end('{}');
    });
    const transport = open();
    for (let i = 0; i < 3; i++) await ask(url, {}, transport);
    expect(ports.size).toBe(1);
  });

  it('that the server closes as it is used again costs nothing: the call is repeated once on a new one', async () => {
    let count = 0;
    const url = await serveRaw((socket, request) => {
      count = request;
      if (request === 2) socket.resetAndDestroy();
      else socket.write(ANSWER);
    });
    const transport = open();
    expect(await ask(url, {}, transport)).toMatchObject({ status: 200 });
    expect(await ask(url, {}, transport)).toMatchObject({ kind: 'response', status: 200 });
    expect(count).toBe(3);
  });

  it('is not repeated a second time', async () => {
    let count = 0;
    const url = await serveRaw((socket, request) => {
      count = request;
      if (request > 1) socket.resetAndDestroy();
      else socket.write(ANSWER);
    });
    const transport = open();
    await ask(url, {}, transport);
    expect(await ask(url, {}, transport)).toMatchObject({ kind: 'failure', cause: 'reset' });
    expect(count).toBe(3);
  });

  it('that breaks after the first byte of an answer is a failure: the provider has done its work', async () => {
    let count = 0;
    const url = await serveRaw((socket, request) => {
      count = request;
      if (request === 1) socket.write(ANSWER);
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{', () => socket.resetAndDestroy());
    });
    const transport = open();
    await ask(url, {}, transport);
    expect(await ask(url, {}, transport)).toMatchObject({ kind: 'failure', cause: 'reset' });
    expect(count).toBe(2);
  });

  it('serves many calls at the same time', async () => {
    const url = await serve((_, response) => void response.end('{}'));
    const transport = open();
    const results = await Promise.all(Array.from({ length: 50 }, async () => ask(url, {}, transport)));
    expect(results.every((result) => result.kind === 'response')).toBe(true);
  });
});
