import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { objectStream } from '../../../lambdas/adapters/s3/object-stream.ts';
import { ShortReadError } from '../../../lambdas/domain/errors.ts';

const bytes = (text: string): Buffer => Buffer.from(text);
const options = { key: 'uploads/x', expectedBytes: 6, stallTimeoutMs: 60_000 };

async function read(body: Readable, overrides: Partial<typeof options> = {}): Promise<string> {
  let text = '';
  for await (const piece of objectStream(body, { ...options, ...overrides })) text += Buffer.from(piece).toString();
  return text;
}

/** Sends the pieces and then neither ends nor fails. */
function stalling(...pieces: Buffer[]): Readable {
  const rest = [...pieces];
  return new Readable({
    read() {
      const next = rest.shift();
      if (next !== undefined) this.push(next);
    },
  });
}

describe('the stream of an object', () => {
  test('passes on what comes, piece by piece', async () => {
    expect(await read(Readable.from([bytes('abc'), bytes('def')]))).toBe('abcdef');
  });

  test('that ends too early is a short read', async () => {
    const reading = read(Readable.from([bytes('abc')]));

    await expect(reading).rejects.toThrow(/uploads\/x ended after 3 of 6 bytes/);
    await expect(read(Readable.from([]))).rejects.toBeInstanceOf(ShortReadError);
  });

  test('that breaks off is a short read with its cause', async () => {
    const cause = new Error('aborted');
    const body = Readable.from(
      (async function* () {
        yield bytes('abc');
        await Promise.reject(cause);
      })(),
    );

    await expect(read(body)).rejects.toMatchObject({ name: 'ShortReadError', retryable: true, cause });
  });

  test('that sends nothing more is a short read, and its connection is closed', async () => {
    const body = stalling(bytes('abc'));

    await expect(read(body, { stallTimeoutMs: 5 })).rejects.toThrow(/sent nothing for 5 ms after 3 of 6 bytes/);
    expect(body.destroyed).toBe(true);
  });

  test('closes the connection when its reader has seen enough', async () => {
    const body = stalling(bytes('abc'), bytes('def'));

    for await (const piece of objectStream(body, options)) {
      expect(Buffer.from(piece).toString()).toBe('abc');
      break;
    }

    expect(body.destroyed).toBe(true);
  });
});
