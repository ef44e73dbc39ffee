import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { runSluice } from '../../../cli/sluice/main.ts';

export const KEY = 'slk_12345678_abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG';

export interface Call {
  call: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
}
type Answer = { status: number; body?: unknown; headers?: Record<string, string> } | 'cut';

export interface StandIn {
  url: string;
  calls: Call[];
  close: () => Promise<void>;
}

/** An API and its storage on a port of this machine: `answer` says what a call gets, or that the connection is cut. */
export async function startStandIn(answer: (call: Call, url: string) => Answer): Promise<StandIn> {
  const calls: Call[] = [];
  let url = '';
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const call = { call: `${request.method} ${request.url}`, headers: request.headers, body: await buffer(request) };
    calls.push(call);
    const given = answer(call, url);
    if (given === 'cut') return void request.socket.destroy();
    const body = Buffer.isBuffer(given.body) ? given.body : Buffer.from(JSON.stringify(given.body ?? {}));
    response.writeHead(given.status, {
      'content-type': 'application/json',
      'content-length': body.length,
      ...given.headers,
    });
    response.end(body);
  };
  const server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  // The address of a server that listens on a port is never a path.
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, calls, close: () => new Promise((done) => void server.close(() => done())) };
}

/** Runs one command line against a stand-in. */
export async function sluice(url: string, ...args: readonly string[]) {
  const output: string[] = [];
  const errors: string[] = [];
  const exitCode = await runSluice(args, {
    environment: { SLUICE_URL: url, SLUICE_KEY: KEY, XDG_CONFIG_HOME: '/nowhere' },
    input: process.stdin,
    output: { write: (text) => output.push(text) },
    terminal: { write: (text) => errors.push(text) },
  });
  return { exitCode, output: output.join(''), errors: errors.join('') };
}

export const submission = (changes: object = {}) => ({
  id: 'sub_1',
  state: 'complete',
  lane: 'small',
  createdAt: '2026-01-31T00:00:00.000Z',
  updatedAt: '2026-01-31T00:00:00.000Z',
  counts: { total: 2, pending: 0, succeeded: 2, failed: 0, cancelled: 0 },
  failures: {},
  expiresAt: '2026-03-31T00:00:00.000Z',
  links: { self: '', records: '', results: '' },
  ...changes,
});

export const sha256 = (data: string): string => createHash('sha256').update(data).digest('hex');
