import type { Readable } from 'node:stream';
import { ShortReadError } from '../../domain/errors.ts';

export interface ObjectStreamOptions {
  key: string;
  /** Bytes that must come. */
  expectedBytes: number;
  /** Longest wait for the next piece. Counted only while somebody waits, so a slow reader is no stalled stream. */
  stallTimeoutMs: number;
}

/**
 * Passes a response body on and ends with {@link ShortReadError} when it breaks off, stalls or ends before `expectedBytes`.
 * The connection is closed when the reader stops early.
 */
export async function* objectStream(
  body: Readable,
  { key, expectedBytes, stallTimeoutMs }: ObjectStreamOptions,
): AsyncGenerator<Uint8Array> {
  const pieces: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
  let received = 0;
  const short = (why: string, cause?: unknown): ShortReadError =>
    new ShortReadError(`The object ${key} ${why} after ${received} of ${expectedBytes} bytes.`, { cause });
  try {
    for (;;) {
      const piece = await nextPiece(pieces, stallTimeoutMs).catch((cause: unknown) => {
        throw short('broke off', cause);
      });
      if (piece === 'stalled') throw short(`sent nothing for ${stallTimeoutMs} ms`);
      if (piece.done === true) break;
      received += piece.value.byteLength;
      yield piece.value;
    }
    if (received < expectedBytes) throw short('ended');
  } finally {
    body.destroy();
  }
}

async function nextPiece(
  pieces: AsyncIterator<Uint8Array>,
  stallTimeoutMs: number,
): Promise<IteratorResult<Uint8Array> | 'stalled'> {
  let timer: NodeJS.Timeout | undefined;
  const stalled = new Promise<'stalled'>((resolve) => {
    timer = setTimeout(() => resolve('stalled'), stallTimeoutMs);
  });
  try {
    return await Promise.race([pieces.next(), stalled]);
  } finally {
    clearTimeout(timer);
  }
}
