import type { SourceObject } from '../model.ts';
import type { ObjectStore } from '../source/ports.ts';
import type { Clock } from '../time.ts';
import { directKey } from './ids.ts';
import { ProblemError } from './problems.ts';
import { uploadMissing, type SubmissionRequest } from './submission-request.ts';
import { MAX_UPLOAD_AGE_MS, refuseTooLarge } from './uploads.ts';

interface SourceDeps {
  objects: ObjectStore;
  clock: Clock;
  settings: { maxFileBytes: number };
}

/**
 * Objects are deleted one day after the rows of a submission that came at once: later than a day after its upload, a submission
 * would outlive its file.
 */

/** The file of a submission, before it is accepted. */
export interface FoundSource {
  key: string;
  sizeBytes: number;
  /** Absent for a direct submission that is not stored yet. */
  etag?: string;
  /** Of its bytes, where the store knows one. */
  checksum?: string;
}

/** Looks at the file. Throws ProblemError when there is none that may be submitted. */
export async function findSource(
  { objects, clock, settings }: SourceDeps,
  tenantId: string,
  submissionId: string,
  { file }: Pick<SubmissionRequest, 'file'>,
): Promise<FoundSource> {
  if (file.kind === 'direct') {
    const key = directKey(tenantId, file.sha256, submissionId);
    // Stored by a request that died behind it: the ETag of what is there counts, so it must not be written again.
    return { key, sizeBytes: file.body.byteLength, ...(await objects.head(key)) };
  }
  if (clock.now() - file.upload.createdAtMs > MAX_UPLOAD_AGE_MS) {
    throw new ProblemError('upload_expired', 'An upload can be submitted for a day. Upload the file again.');
  }
  const info = await objects.head(file.key);
  if (info === undefined) throw uploadMissing();
  refuseTooLarge(info.sizeBytes, settings.maxFileBytes);
  return { key: file.key, ...info };
}

/** Stores what came in the body, unless it is there. */
export async function keepSource(
  { objects }: Pick<SourceDeps, 'objects'>,
  { key, sizeBytes, etag }: FoundSource,
  { file }: SubmissionRequest,
): Promise<SourceObject> {
  if (etag !== undefined) return { key, sizeBytes, etag };
  if (file.kind === 'upload') throw uploadMissing();
  const stored = await objects.create(key, file.body, file.contentType);
  return { key, sizeBytes: stored.sizeBytes, etag: stored.etag };
}

/** The beginning of the file; empty for an empty one. */
export async function firstBytes(objects: ObjectStore, source: SourceObject): Promise<Uint8Array> {
  for await (const bytes of await objects.read(source, 0)) return bytes;
  return new Uint8Array();
}
