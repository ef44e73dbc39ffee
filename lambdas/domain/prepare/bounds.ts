import { grouped } from '../files/details.ts';
import { UnreadableSourceError } from '../source/unreadable-source.ts';

/** Text grows by this factor at the most when it is unpacked: what grows more is made to exhaust whoever unpacks it. */
const MAX_RATIO = 200;
/** Below this size the ratio does not matter: a short file of few different records packs well. */
const RATIO_FROM_BYTES = 1024 * 1024;

/** Passes blocks on and ends with {@link UnreadableSourceError} when there are more than `maxBytes` of them. */
export async function* atMost(
  blocks: AsyncIterable<Uint8Array>,
  maxBytes: number,
  what = 'The unpacked text',
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const block of blocks) {
    bytes += block.byteLength;
    if (bytes > maxBytes) {
      throw new UnreadableSourceError(
        'DECOMPRESSED_TOO_LARGE',
        `${what} of the file has more than ${grouped(maxBytes)} bytes. Split it and submit the parts.`,
      );
    }
    yield block;
  }
}

/**
 * Unpacks blocks, and ends with {@link UnreadableSourceError} when they grow by more than {@link MAX_RATIO} beyond their first MiB.
 *
 * @param unpack is given the packed blocks and answers the unpacked ones.
 */
export async function* withinRatio(
  packed: AsyncIterable<Uint8Array>,
  unpack: (blocks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let packedBytes = 0;
  let bytes = 0;
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const block of packed) {
      packedBytes += block.byteLength;
      yield block;
    }
  };
  for await (const block of unpack(counted())) {
    bytes += block.byteLength;
    if (bytes > Math.max(RATIO_FROM_BYTES, packedBytes * MAX_RATIO)) {
      throw new UnreadableSourceError(
        'DECOMPRESSED_TOO_LARGE',
        `The file unpacks to more than ${MAX_RATIO} times its size. Check what is in it; if it is right, submit the text unpacked.`,
      );
    }
    yield block;
  }
}
