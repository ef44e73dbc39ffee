import { pipeline, Readable, type Duplex } from 'node:stream';

/** Blocks of bytes on their way. */
export type Blocks = AsyncIterable<Uint8Array>;

/**
 * Passes blocks through a transform. An error of the blocks comes out as it is; one of the transform goes through `translate`.
 *
 * @param translate answers what to throw for an error of the transform
 */
export async function* through(
  blocks: Blocks,
  transform: Duplex,
  translate: (error: unknown) => unknown,
): AsyncGenerator<Uint8Array> {
  let failure: { error: unknown } | undefined;
  const watched = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* blocks;
    } catch (error) {
      failure = { error };
      throw error;
    }
  };
  const source = Readable.from(watched(), { objectMode: true, highWaterMark: 1 });
  // The iteration below gets the error.
  pipeline(source, transform, () => undefined);
  try {
    for await (const block of transform) yield block;
  } catch (error) {
    throw failure ? failure.error : translate(error);
  } finally {
    source.destroy();
    transform.destroy();
  }
}

/** The first `bytes` bytes. Ends early where there are fewer. */
export async function* first(blocks: Blocks, bytes: number): AsyncGenerator<Uint8Array> {
  let left = bytes;
  if (left <= 0) return;
  for await (const block of blocks) {
    yield block.byteLength > left ? block.subarray(0, left) : block;
    left -= block.byteLength;
    if (left <= 0) return;
  }
}

/** All of it in one piece: small things only. */
export async function gather(blocks: Blocks): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const block of blocks) pieces.push(block);
  return Buffer.concat(pieces);
}

/** The beginning of at least `bytes` bytes, or of all there is; and everything, that beginning included, to be read once. */
export async function peek(blocks: Blocks, bytes: number): Promise<{ head: Buffer; all: Blocks }> {
  const iterator = blocks[Symbol.asyncIterator]();
  const pieces: Uint8Array[] = [];
  let length = 0;
  while (length < bytes) {
    const next = await iterator.next();
    if (next.done === true) break;
    // A copy: whoever makes the blocks may use its buffer again.
    pieces.push(Uint8Array.from(next.value));
    length += next.value.byteLength;
  }
  const head = Buffer.concat(pieces);
  const all = async function* (): AsyncGenerator<Uint8Array> {
    try {
      if (head.byteLength > 0) yield head;
      for (;;) {
        const next = await iterator.next();
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  };
  return { head, all: all() };
}
