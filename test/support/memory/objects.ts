import { createHash } from 'node:crypto';
import {
  InvalidDataError,
  ObjectChangedError,
  ObjectMissingError,
  SluiceError,
} from '../../../lambdas/domain/errors.ts';
import type { ObjectInfo, ObjectStore, ObjectWriter } from '../../../lambdas/domain/source/ports.ts';
import { noHook, intercept, type PortHook } from './hook.ts';

export interface MemoryObjectStore extends ObjectStore {
  /** Puts text or bytes under a key, for arranging a test. */
  seed(key: string, body: string | Uint8Array): ObjectInfo;
  keys(): string[];
  /** The whole object as text; throws ObjectMissingError. */
  text(key: string): string;
  delete(key: string): void;
}

interface StoredObject {
  bytes: Uint8Array;
  contentType: string;
}

const infoOf = ({ bytes }: StoredObject): ObjectInfo => ({
  etag: `"${createHash('md5').update(bytes).digest('hex')}"`,
  sizeBytes: bytes.byteLength,
});

async function* pieces(bytes: Uint8Array, pieceBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += pieceBytes) yield bytes.slice(at, at + pieceBytes);
}

/** @param options.pieceBytes - Size of what a read yields at a time; small values find readers that split wrongly. */
export function createMemoryObjects(options: { hook?: PortHook; pieceBytes?: number } = {}): MemoryObjectStore {
  const { hook = noHook, pieceBytes = 65_536 } = options;
  const objects = new Map<string, StoredObject>();

  const found = (key: string): StoredObject => {
    const object = objects.get(key);
    if (object === undefined) throw new ObjectMissingError(`There is no object ${key}.`);
    return object;
  };
  const store = (key: string, bytes: Uint8Array, contentType: string): ObjectInfo => {
    const object = { bytes: Uint8Array.from(bytes), contentType };
    objects.set(key, object);
    return infoOf(object);
  };
  const writerOf = (key: string, contentType: string, once = false): ObjectWriter => {
    const parts: Uint8Array[] = [];
    let isOver = false;
    const mustBeOpen = (): void => {
      if (isOver) throw new SluiceError(`The writer of ${key} was closed or given up already.`);
    };
    return {
      async write(chunk) {
        mustBeOpen();
        parts.push(Uint8Array.from(chunk));
      },
      async close() {
        mustBeOpen();
        isOver = true;
        const standing = once ? objects.get(key) : undefined;
        return standing ? infoOf(standing) : store(key, Buffer.concat(parts), contentType);
      },
      async abort() {
        isOver = true;
      },
    };
  };

  const port: MemoryObjectStore = {
    async head(key) {
      const object = objects.get(key);
      return object && { ...infoOf(object), checksum: createHash('sha256').update(object.bytes).digest('hex') };
    },
    async read(source, fromByte) {
      const object = found(source.key);
      const { etag } = infoOf(object);
      if (etag !== source.etag) {
        throw new ObjectChangedError(`The object ${source.key} has the ETag ${etag}, not the accepted ${source.etag}.`);
      }
      return pieces(object.bytes.slice(fromByte), pieceBytes);
    },
    async getSmall(key, maxBytes) {
      const object = objects.get(key);
      if (object === undefined) return undefined;
      if (object.bytes.byteLength > maxBytes) {
        throw new InvalidDataError(`The object ${key} has ${object.bytes.byteLength} bytes; ${maxBytes} are allowed.`);
      }
      return Uint8Array.from(object.bytes);
    },
    async put(key, body, contentType) {
      return store(key, body, contentType);
    },
    async create(key, body, contentType) {
      const standing = objects.get(key);
      return standing === undefined ? store(key, body, contentType) : infoOf(standing);
    },
    writer: (key, contentType, options) => intercept('objects.writer', writerOf(key, contentType, options?.once), hook),
    seed: (key, body) => store(key, typeof body === 'string' ? Buffer.from(body) : body, 'application/octet-stream'),
    keys: () => [...objects.keys()].toSorted(),
    text: (key) => Buffer.from(found(key).bytes).toString('utf8'),
    delete(key) {
      objects.delete(key);
    },
  };
  return intercept('objects', port, hook, ['writer', 'seed', 'keys', 'text', 'delete']);
}
