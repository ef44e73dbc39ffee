import type { IncomingMessage } from 'node:http';

/**
 * Reads a body into memory. By events: an iterator over a stream costs more than most bodies here.
 *
 * @throws what `tooLarge` makes when the body is longer than `maxBytes`; the stream's own error when it ends early
 */
export async function readAll(
  message: IncomingMessage,
  maxBytes = Infinity,
  tooLarge: () => Error = () => new RangeError(`The body is above ${maxBytes} bytes.`),
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const refuse = (): void => {
      // The rest is read and dropped: a client that is cut off in the middle of its body never sees the answer.
      message.removeAllListeners('data').resume();
      reject(tooLarge());
    };
    if (Number(message.headers['content-length'] ?? 0) > maxBytes) return refuse();
    message.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) refuse();
      else chunks.push(chunk);
    });
    message.on('end', () =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
    );
    message.on('error', reject);
    message.on('close', () => reject(new Error('The connection was closed within the body.')));
  });
}
