import type { IncomingMessage } from 'node:http';
import { GatewayError } from './gateway-responses.ts';

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html */
const MAX_BODY_BYTES = 10 * 1024 * 1024;

/**
 * Reads a request's body.
 *
 * @throws GatewayError `REQUEST_TOO_LARGE` as soon as it is known to be; what follows is not kept
 */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((done, failed) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const refuse = (): void => {
      // The rest is read and dropped: a client that is cut off in the middle of its body never sees the answer.
      request.removeAllListeners('data').resume();
      failed(new GatewayError('REQUEST_TOO_LARGE'));
    };
    if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return refuse();
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) refuse();
      else chunks.push(chunk);
    });
    request.on('end', () => done(Buffer.concat(chunks)));
    request.on('error', failed);
  });
}
