import { callbackify } from 'node:util';
import type { Entry, ZipFile } from 'yauzl';
import { isPassingFailure, ObjectChangedError, ObjectMissingError } from '../../domain/errors.ts';
import type { SourceObject } from '../../domain/model.ts';
import type { ObjectStore } from '../../domain/source/ports.ts';
import { UnreadableSourceError } from '../../domain/source/unreadable-source.ts';
import { first, gather, type Blocks } from './blocks.ts';
import { inflate } from './inflate.ts';

/** Bytes of the directory that one request brings: a request per member would be two for each of thousands. */
const WINDOW_BYTES = 256 * 1024;

/** As `yauzl` calls it; its types leave out the number of bytes. */
type ReadCallback = (error: Error | null, bytesRead?: number) => void;

/** Method of a member that is not compressed. */
const STORED = 0;

type Objects = Pick<ObjectStore, 'read'>;

/** A member of an archive. */
export interface Member {
  name: string;
  /** The unpacked bytes. Throws {@link UnreadableSourceError} when they are encrypted, packed in another way, or damaged. */
  read(): Promise<Blocks>;
}

/**
 * Names the members of an archive, in the order of its directory, which stands at its end; its bytes are read where they are
 * asked for. Throws {@link UnreadableSourceError} for a file that is no archive.
 */
export async function* membersOf(objects: Objects, source: SourceObject): AsyncGenerator<Member> {
  const zip = await open(objects, source);
  try {
    for await (const entry of zip.eachEntry()) {
      const isFolder = entry.fileName.endsWith('/');
      if (!isFolder) yield { name: entry.fileName, read: async () => readEntry(objects, source, zip, entry) };
    }
  } catch (error) {
    throw asDamaged(error);
  }
}

async function open(objects: Objects, source: SourceObject): Promise<ZipFile> {
  const { default: yauzl } = await import('yauzl');
  class ObjectReader extends yauzl.RandomAccessReader {
    #window: { from: number; bytes: Buffer } = { from: 0, bytes: Buffer.alloc(0) };

    override read(buffer: Buffer, offset: number, length: number, position: number, callback: ReadCallback): void {
      const copy = async (): Promise<number> => (await this.#bytes(position, length)).copy(buffer, offset);
      callbackify(copy)(callback);
    }

    async #bytes(position: number, length: number): Promise<Buffer> {
      const { from, bytes } = this.#window;
      if (position < from || position + length > from + bytes.byteLength) {
        const wanted = first(await objects.read(source, position), Math.max(length, WINDOW_BYTES));
        this.#window = { from: position, bytes: await gather(wanted) };
      }
      const start = position - this.#window.from;
      return this.#window.bytes.subarray(start, start + length);
    }
  }
  try {
    const options = { autoClose: false, lazyEntries: true, strictFileNames: false };
    return await yauzl.fromRandomAccessReaderPromise(new ObjectReader(), source.sizeBytes, options);
  } catch (error) {
    throw asDamaged(error);
  }
}

async function readEntry(objects: Objects, source: SourceObject, zip: ZipFile, entry: Entry): Promise<Blocks> {
  if (entry.isEncrypted()) {
    const remedy = 'Pack it without one and submit it again.';
    throw new UnreadableSourceError('ENCRYPTED', `The archive is protected by a password. ${remedy}`);
  }
  if (!entry.canDecodeFileData()) {
    throw new UnreadableSourceError(
      'UNSUPPORTED_COMPRESSION',
      'The archive is packed by another method than deflate. Pack it as an ordinary ZIP file, or submit the file unpacked.',
    );
  }
  const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true }).catch((error: unknown) => {
    throw asDamaged(error);
  });
  const packed = first(await objects.read(source, fileDataStart), entry.compressedSize);
  return verified(entry.compressionMethod === STORED ? packed : inflate(packed), entry);
}

async function* verified(blocks: Blocks, { crc32: expected, uncompressedSize }: Entry): AsyncGenerator<Uint8Array> {
  const { crc32 } = await import('node:zlib');
  let sum = 0;
  let bytes = 0;
  for await (const block of blocks) {
    sum = crc32(block, sum);
    bytes += block.byteLength;
    if (bytes > uncompressedSize) break;
    yield block;
  }
  if (bytes !== uncompressedSize || sum !== expected) throw asDamaged(new Error('Size or checksum differ.'));
}

/** What the archive is to blame for; what reading it met is thrown on as it is. */
function asDamaged(error: unknown): unknown {
  const isOurs =
    error instanceof UnreadableSourceError ||
    error instanceof ObjectChangedError ||
    error instanceof ObjectMissingError ||
    isPassingFailure(error);
  if (isOurs) return error;
  return new UnreadableSourceError(
    'DAMAGED_FILE',
    'The archive is damaged or incomplete. Pack it again, or submit the file that is in it.',
    { cause: error },
  );
}
