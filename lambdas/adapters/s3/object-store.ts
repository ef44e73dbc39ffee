import { GetObjectCommand, HeadObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { Readable } from 'node:stream';
import { DependencyUnavailableError, InvalidDataError, SluiceError } from '../../domain/errors.ts';
import type { ObjectInfo, ObjectStore } from '../../domain/source/ports.ts';
import { awsErrorFacts, dependencyError } from '../aws-errors.ts';
import { isMissing, readError } from './object-errors.ts';
import { objectStream } from './object-stream.ts';
import { S3ObjectWriter } from './object-writer.ts';

export interface ObjectStoreOptions {
  /** Longest silence in the middle of a body. */
  stallTimeoutMs?: number;
}

const STALL_TIMEOUT_MS = 10_000;

interface ObjectToPut {
  Key: string;
  Body: Uint8Array;
  ContentType: string;
  IfNoneMatch?: '*';
}

/** One bucket, see {@link ObjectStore}. */
export function createObjectStore(client: S3Client, bucket: string, options: ObjectStoreOptions = {}): ObjectStore {
  const { stallTimeoutMs = STALL_TIMEOUT_MS } = options;

  const head = async (key: string): Promise<ObjectInfo | undefined> => {
    try {
      const { ETag, ContentLength } = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
      return infoOf(key, ETag, ContentLength);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw dependencyError(error, `looking at the object ${key}`);
    }
  };

  /** The body from `fromByte` on, of the accepted object only. */
  const open = async (key: string, fromByte: number, etag?: string): Promise<{ body: Readable; bytes: number }> => {
    try {
      const answer = await client.send(
        new GetObjectCommand({
          Bucket: bucket,
          Key: key,
          ...(etag === undefined ? {} : { IfMatch: etag }),
          ...(fromByte > 0 ? { Range: `bytes=${fromByte}-` } : {}),
        }),
      );
      return { body: bodyOf(answer.Body, key), bytes: answer.ContentLength ?? 0 };
    } catch (error) {
      throw readError(error, key);
    }
  };

  const put = async (object: ObjectToPut): Promise<ObjectInfo> => {
    try {
      const { ETag } = await client.send(new PutObjectCommand({ Bucket: bucket, ...object }));
      return infoOf(object.Key, ETag, object.Body.byteLength);
    } catch (error) {
      throw dependencyError(error, `writing the object ${object.Key}`);
    }
  };

  return {
    head,

    async read({ key, etag, sizeBytes }, fromByte) {
      // A range that begins at the end is refused by S3.
      if (fromByte > 0 && fromByte >= sizeBytes) return Readable.from([]);
      const { body } = await open(key, fromByte, etag);
      return objectStream(body, { key, expectedBytes: sizeBytes - fromByte, stallTimeoutMs });
    },

    async getSmall(key, maxBytes) {
      const opened = await open(key, 0).catch((error: unknown) => {
        if (error instanceof SluiceError && isMissing(error.cause)) return undefined;
        throw error;
      });
      if (opened === undefined) return undefined;
      if (opened.bytes > maxBytes) {
        opened.body.destroy();
        throw new InvalidDataError(`The object ${key} has ${opened.bytes} bytes; ${maxBytes} are allowed.`);
      }
      const pieces: Uint8Array[] = [];
      const stream = objectStream(opened.body, { key, expectedBytes: opened.bytes, stallTimeoutMs });
      for await (const piece of stream) pieces.push(piece);
      return Buffer.concat(pieces);
    },

    put: async (key, body, contentType) => put({ Key: key, Body: body, ContentType: contentType }),

    async create(key, body, contentType) {
      try {
        return await put({ Key: key, Body: body, ContentType: contentType, IfNoneMatch: '*' });
      } catch (error) {
        const standing = isAlreadyThere(error) ? await head(key) : undefined;
        if (standing === undefined) throw error;
        return standing;
      }
    },

    writer: (key, contentType) => new S3ObjectWriter({ client, bucket, key, contentType, head }),
  };
}

/** Refused because of `If-None-Match`, also by a write of the same key that is under way and may or may not succeed. */
const isAlreadyThere = (error: unknown): boolean =>
  error instanceof DependencyUnavailableError && [409, 412].includes(awsErrorFacts(error.cause)?.status ?? 0);

function infoOf(key: string, etag: string | undefined, sizeBytes: number | undefined): ObjectInfo {
  if (etag !== undefined && sizeBytes !== undefined) return { etag, sizeBytes };
  throw new InvalidDataError(`S3 described the object ${key} without an ETag or a size.`);
}

function bodyOf(body: unknown, key: string): Readable {
  if (body instanceof Readable) return body;
  throw new InvalidDataError(`S3 answered without a body for the object ${key}.`);
}
