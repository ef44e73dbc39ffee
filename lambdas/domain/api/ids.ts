import { createHash } from 'node:crypto';
import { decodeTime, ulid } from 'ulid';
import type { Random } from '../time.ts';

/** Crockford's base 32, as ULIDs use it: no I, L, O and U. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ID_LENGTH = 26;
const BITS_PER_CHARACTER = 5;

const SUBMISSION_ID = /^sub_[0-9A-HJKMNP-TV-Z]{26}$/;
const UPLOAD_ID = /^(up_([0-7][0-9A-HJKMNP-TV-Z]{25}))(?:\.([A-Za-z0-9_-]{1,1400}))?$/;

export const isSubmissionId = (text: string): boolean => SUBMISSION_ID.test(text);

/** A new submission id. Sort by creation time, never by id: derived ids carry no time. */
export const newSubmissionId = (nowMs: number, random: Random): string => `sub_${ulid(nowMs, random)}`;

/** The submission id of an idempotency key: whoever repeats the request finds the submission of the first one. */
export function derivedSubmissionId(tenantId: string, idempotencyKey: string): string {
  const digest = createHash('sha256').update(`${tenantId}\n${idempotencyKey}`).digest();
  let bits = 0n;
  for (const byte of digest) bits = (bits << 8n) | BigInt(byte);
  const unused = BigInt(digest.length * 8 - ID_LENGTH * BITS_PER_CHARACTER);
  bits >>= unused;
  let id = '';
  for (let index = 0; index < ID_LENGTH; index++) {
    id = `${ALPHABET[Number(bits & 31n)]}${id}`;
    bits >>= 5n;
  }
  return `sub_${id}`;
}

/** What an upload id says. It is opaque to customers; nothing in it is trusted beyond its shape. */
export interface Upload {
  uploadId: string;
  /** When it was made, epoch milliseconds. */
  createdAtMs: number;
  /** Last part of its key. */
  objectName: string;
  fileName?: string;
}

/**
 * An upload id of its own, with the file name in it: so that it need not be stored, and is no part of the object's key.
 */
export function newUpload(nowMs: number, random: Random, fileName?: string): Upload {
  const objectName = `up_${ulid(nowMs, random)}`;
  if (fileName === undefined) return { uploadId: objectName, createdAtMs: nowMs, objectName };
  const uploadId = `${objectName}.${Buffer.from(fileName).toString('base64url')}`;
  return { uploadId, createdAtMs: nowMs, objectName, fileName };
}

/** Reads an upload id; undefined for what {@link newUpload} cannot have made. */
export function readUploadId(uploadId: string): Upload | undefined {
  const match = UPLOAD_ID.exec(uploadId);
  const [, objectName, id, encodedName] = match ?? [];
  if (objectName === undefined || id === undefined) return undefined;
  const upload = { uploadId, objectName, createdAtMs: decodeTime(id) };
  if (encodedName === undefined) return upload;
  const fileName = Buffer.from(encodedName, 'base64url').toString('utf8');
  const isCanonical = Buffer.from(fileName).toString('base64url') === encodedName;
  return isCanonical ? { ...upload, fileName } : undefined;
}

/** Where an upload of a tenant lies. */
export const uploadKey = (tenantId: string, { objectName }: Upload): string => `uploads/${tenantId}/${objectName}`;

/** Where a file lies that came in the body of a submission. */
export const directKey = (tenantId: string, sha256: string, submissionId: string): string =>
  `uploads/${tenantId}/${sha256}-${submissionId}`;
