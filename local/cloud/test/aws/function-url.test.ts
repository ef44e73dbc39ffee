import { urlAnswerOf, urlEvent } from '../../aws/services/function-url.ts';
import { Call } from '../../aws/front/call.ts';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The call that a request becomes. */
async function callOf(path: string, init: RequestInit = {}): Promise<Call> {
  let call: Call | undefined;
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const made = new Call(request, response);
    call = made;
    void made.readBody().then(() => response.end());
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  // The address of a server that listens on a port is never a path.
  await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, init);
  await new Promise((done) => void server.close(done));
  if (call === undefined) throw new Error('No call arrived.');
  return call;
}

test('a request becomes the event of a function URL, path and query as they came', async () => {
  const call = await callOf('/function-urls/name/a%20b/c?x=1&x=%2F', {
    method: 'POST',
    headers: { 'X-Key': 'k' },
    body: 'text',
  });
  expect(urlEvent(call, '/function-urls/name')).toMatchObject({
    version: '2.0',
    rawPath: '/a%20b/c',
    rawQueryString: 'x=1&x=%2F',
    headers: { 'x-key': 'k' },
    requestContext: { http: { method: 'POST', path: '/a%20b/c' } },
    body: Buffer.from('text').toString('base64'),
    isBase64Encoded: true,
  });
});

test.each([
  [{ statusCode: 200, payload: JSON.stringify({ statusCode: 404, headers: { 'X-A': 1 }, body: 'no' }) }, 404, 'no'],
  [{ statusCode: 200, payload: JSON.stringify({ statusCode: 200, body: 'eA==', isBase64Encoded: true }) }, 200, 'x'],
  [{ statusCode: 200, payload: '"text"' }, 502, '{"Message":"Internal Server Error"}'],
  [{ statusCode: 200, payload: '{}', functionError: 'Unhandled' as const }, 502, '{"Message":"Internal Server Error"}'],
])('%j is answered with %i', (result, status, body) => {
  const reply = urlAnswerOf(result);
  expect([reply.status, String(reply.body)]).toEqual([status, body]);
});
