import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Call } from '../front/call.ts';
import { AwsError } from '../front/errors.ts';
import { copySourceOf, type S3Location } from './s3-operations.ts';

/** The ETag of an object as it is stored now; undefined when there is none. */
export type ReadETag = (location: S3Location) => Promise<string | undefined>;

/**
 * The conditions under which an object may be written, which the emulator does not look at. While one conditional write
 * of a key is under way, another one is refused with 409, as S3 may do.
 */
export class ConditionalWrites {
  readonly #underway = new Set<string>();

  /** Runs a write if its conditions hold. */
  async run<T>(call: Call, location: S3Location, readETag: ReadETag, write: () => Promise<T>): Promise<T> {
    await checkCopySource(call, readETag);
    const ifNoneMatch = call.header('if-none-match');
    const ifMatch = call.header('if-match');
    if (ifNoneMatch === undefined && ifMatch === undefined) return write();
    const name = `${location.bucket}/${location.key}`;
    if (this.#underway.has(name)) {
      const message = 'The conditional request cannot succeed due to a conflicting operation against this resource.';
      throw new AwsError(409, 'ConditionalRequestConflict', message, { Key: location.key });
    }
    this.#underway.add(name);
    try {
      checkWrite(ifNoneMatch, ifMatch, await readETag(location));
      return await write();
    } finally {
      this.#underway.delete(name);
    }
  }
}

/**
 * A presigned URL may carry the checksum of the body, for example when it was signed with an empty one; S3 holds every
 * upload against it, the emulator does not.
 */
export function checkSignedChecksum(call: Call, body: Buffer): void {
  const algorithms: Record<string, () => string> = {
    'x-amz-checksum-crc32': () => crc32Base64(body),
    'x-amz-checksum-sha1': () => createHash('sha1').update(body).digest('base64'),
    'x-amz-checksum-sha256': () => createHash('sha256').update(body).digest('base64'),
  };
  for (const [name, value] of signedChecksums(call)) {
    const compute = algorithms[name];
    if (compute === undefined) throw new AwsError(501, 'NotImplemented', `The local cloud cannot compute ${name}.`);
    if (compute() !== value) {
      const algorithm = name.replace('x-amz-checksum-', '').toUpperCase();
      const message = `The ${algorithm} you specified did not match the calculated checksum.`;
      throw new AwsError(400, 'BadDigest', message);
    }
  }
}

/** Checksums of the body in the query of a presigned URL. */
export function signedChecksums(call: Call): (readonly [name: string, value: string])[] {
  return call.query
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => name.startsWith('x-amz-checksum-') && name !== 'x-amz-checksum-algorithm');
}

function checkWrite(ifNoneMatch: string | undefined, ifMatch: string | undefined, etag: string | undefined): void {
  if (ifNoneMatch !== undefined && ifNoneMatch !== '*') {
    throw new AwsError(501, 'NotImplemented', 'A header you provided implies functionality that is not implemented.', {
      Header: 'If-None-Match',
    });
  }
  if (ifNoneMatch === '*' && etag !== undefined) throw preconditionFailed('If-None-Match');
  if (ifMatch === undefined) return;
  if (etag === undefined) throw new AwsError(404, 'NoSuchKey', 'The specified key does not exist.');
  if (unquoted(ifMatch) !== unquoted(etag)) throw preconditionFailed('If-Match');
}

async function checkCopySource(call: Call, readETag: ReadETag): Promise<void> {
  const source = copySourceOf(call);
  if (source === undefined) return;
  const condition = Object.keys(call.headers).find((name) => name.startsWith('x-amz-copy-source-if-'));
  if (condition === undefined) return;
  if (condition !== 'x-amz-copy-source-if-match') {
    throw new AwsError(501, 'NotImplemented', `The local cloud does not support ${condition}.`);
  }
  const etag = await readETag(source);
  if (etag === undefined) throw new AwsError(404, 'NoSuchKey', 'The specified key does not exist.');
  if (unquoted(etag) !== unquoted(call.header(condition) ?? '')) throw preconditionFailed(condition);
}

function preconditionFailed(condition: string): AwsError {
  const message = 'At least one of the pre-conditions you specified did not hold';
  return new AwsError(412, 'PreconditionFailed', message, { Condition: condition });
}

function unquoted(etag: string): string {
  return etag.replaceAll('"', '');
}

function crc32Base64(body: Buffer): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(body));
  return bytes.toString('base64');
}
