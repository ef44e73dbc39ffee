import {
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type HeadObjectCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { Readable } from 'node:stream';
import {
  DependencyUnavailableError,
  InvalidDataError,
  ObjectChangedError,
  ObjectMissingError,
} from '../../domain/errors.ts';
import type { ObjectDescription, ObjectInfo, ObjectStore } from '../../domain/source/ports.ts';
import { awsErrorFacts, callAws, classify, dependencyError, type AwsCall } from '../aws-errors.ts';
import { objectStream } from './object-stream.ts';
import { isAlreadyThere, S3ObjectWriter } from './object-writer.ts';

export interface ObjectStoreOptions {
  /** Longest silence in the middle of a body. */
  stallTimeoutMs?: number;
}

const STALL_TIMEOUT_MS = 10_000;

/** One bucket, see {@link ObjectStore}. */
export function createObjectStore(client: S3Client, bucket: string, options: ObjectStoreOptions = {}): ObjectStore {
  const { stallTimeoutMs = STALL_TIMEOUT_MS } = options;
  const callOf = (action: string, key: string): AwsCall => ({ service: 's3', action, resource: `${bucket}/${key}` });

  const head = async (key: string): Promise<ObjectDescription | undefined> => {
    try {
      const answer = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key, ChecksumMode: 'ENABLED' }));
      const checksum = checksumOf(answer);
      return { ...infoOf(key, answer.ETag, answer.ContentLength), ...(checksum !== undefined && { checksum }) };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw dependencyError(error, `looking at the object ${key}`, callOf('GetObject', key));
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
      throw readError(error, key, callOf('GetObject', key));
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
        if (error instanceof ObjectMissingError) return undefined;
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

    put: async (key, body, contentType) =>
      callAws(`writing the object ${key}`, callOf('PutObject', key), async () => {
        const command = new PutObjectCommand({ Bucket: bucket, Key: key, Body: body, ContentType: contentType });
        return infoOf(key, (await client.send(command)).ETag, body.byteLength);
      }),

    async create(key, body, contentType) {
      const doing = `writing the object ${key}`;
      return callAws(doing, callOf('PutObject', key), async () => {
        try {
          const { ETag } = await client.send(
            new PutObjectCommand({
              Bucket: bucket,
              Key: key,
              Body: body,
              ContentType: contentType,
              IfNoneMatch: '*',
            }),
          );
          return infoOf(key, ETag, body.byteLength);
        } catch (error) {
          const standing = isAlreadyThere(error) ? await head(key) : undefined;
          if (standing !== undefined) return standing;
          // A write of the same key is under way, or the object went away in between.
          throw isAlreadyThere(error)
            ? new DependencyUnavailableError(`A conflict while ${doing}.`, { cause: error })
            : error;
        }
      });
    },

    writer: (key, contentType, { once = false } = {}) =>
      new S3ObjectWriter({ client, bucket, key, contentType, head, once }),
  };
}

/** True when there is no such object. Readers may list their prefix, so 403 never means that. */
const isMissing = (error: unknown): boolean => {
  const facts = awsErrorFacts(error);
  return facts?.status === 404 && classify('s3', facts) === 'final';
};

/** What to throw for an error of a read: what became of the object, or that S3 did not work. */
function readError(error: unknown, key: string, call: AwsCall): unknown {
  if (isMissing(error)) return new ObjectMissingError(`There is no object ${key}.`, { cause: error });
  if (awsErrorFacts(error)?.status === 412) {
    return new ObjectChangedError(`The object ${key} is not the accepted one any more.`, { cause: error });
  }
  return dependencyError(error, `reading the object ${key}`, call);
}

/** An ETag is the MD5 of the bytes only where they came in one piece and S3 encrypts by its own key. */
const ETAG_OF_BYTES = /^"[0-9a-f]{32}"$/;

/**
 * A checksum of the whole object: the one that S3 makes of every upload that brings none, or the ETag where it is one,
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html
 */
function checksumOf({
  ChecksumCRC64NVME,
  ETag = '',
  ServerSideEncryption,
}: HeadObjectCommandOutput): string | undefined {
  if (ChecksumCRC64NVME !== undefined) return `crc64nvme ${ChecksumCRC64NVME}`;
  return ServerSideEncryption === 'AES256' && ETAG_OF_BYTES.test(ETag) ? `md5 ${ETag}` : undefined;
}

function infoOf(key: string, etag: string | undefined, sizeBytes: number | undefined): ObjectInfo {
  if (etag !== undefined && sizeBytes !== undefined) return { etag, sizeBytes };
  throw new InvalidDataError(`S3 described the object ${key} without an ETag or a size.`);
}

function bodyOf(body: unknown, key: string): Readable {
  if (body instanceof Readable) return body;
  throw new InvalidDataError(`S3 answered without a body for the object ${key}.`);
}
