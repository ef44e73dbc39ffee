import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
  type CompletedPart,
  type S3Client,
} from '@aws-sdk/client-s3';
import { DependencyUnavailableError, SluiceError } from '../../domain/errors.ts';
import type { ObjectInfo, ObjectWriter } from '../../domain/source/ports.ts';
import { awsErrorFacts, dependencyError, type AwsCall } from '../aws-errors.ts';

/** Parts must have 5 MiB, but for the last, https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html: 10,000 of these are 78 GiB. */
export const PART_BYTES = 8 * 1024 * 1024;

export interface ObjectWriterOptions {
  client: S3Client;
  bucket: string;
  key: string;
  contentType: string;
  head(key: string): Promise<ObjectInfo | undefined>;
  /** What stands under the key already stays. */
  once: boolean;
}

/** The ETag of what stands under the key now, and whether another writer was faster. */
interface Completed {
  value: string;
  standing: boolean;
}

/** Refused because of `If-None-Match`, also by a write of the same key that is under way and may or may not succeed. */
export const isAlreadyThere = (error: unknown): boolean => [409, 412].includes(awsErrorFacts(error)?.status ?? 0);

/**
 * Writes an object of any size with one part in memory: a small one by a single request, a larger one in parts. Nothing is
 * visible before `close`; an error gives the upload up, and so does `abort`.
 */
export class S3ObjectWriter implements ObjectWriter {
  readonly #options: ObjectWriterOptions;
  #buffered: Buffer[] = [];
  #bufferedBytes = 0;
  #totalBytes = 0;
  #uploadId: string | undefined;
  #parts: CompletedPart[] = [];
  #over = false;

  constructor(options: ObjectWriterOptions) {
    this.#options = options;
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#mustBeOpen();
    // A copy: the caller may use its buffer again.
    this.#buffered.push(Buffer.from(chunk));
    this.#bufferedBytes += chunk.byteLength;
    this.#totalBytes += chunk.byteLength;
    if (this.#bufferedBytes >= PART_BYTES) await this.#orAbort(async () => this.#flushWholeParts());
  }

  async close(): Promise<ObjectInfo> {
    this.#mustBeOpen();
    const etag = await this.#orAbort(async () => {
      try {
        return await (this.#uploadId === undefined ? this.#putWhole() : this.#complete(this.#uploadId));
      } catch (error) {
        if (!this.#options.once || !isAlreadyThere(error)) throw error;
        return this.#standing(error);
      }
    });
    // Of an upload in parts that was refused because the object is there, the parts are left.
    if (etag.standing) await this.abort();
    this.#over = true;
    return { etag: etag.value, sizeBytes: this.#totalBytes };
  }

  /** The object that another writer was faster with: it has the same bytes. */
  async #standing(cause: unknown): Promise<Completed> {
    const { key } = this.#options;
    const stored = await this.#options.head(key);
    // A write of the same key is under way, or the object went away in between.
    if (stored === undefined) throw new DependencyUnavailableError(`A conflict while writing ${key}.`, { cause });
    if (stored.sizeBytes === this.#totalBytes) return { value: stored.etag, standing: true };
    throw new SluiceError(`${key} has ${stored.sizeBytes} bytes, not the ${this.#totalBytes} that were to be written.`);
  }

  async abort(): Promise<void> {
    this.#over = true;
    this.#buffered = [];
    if (this.#uploadId === undefined) return;
    const UploadId = this.#uploadId;
    this.#uploadId = undefined;
    try {
      await this.#options.client.send(new AbortMultipartUploadCommand({ ...this.#object(), UploadId }));
    } catch (error) {
      // Already completed or aborted: there is nothing to give up.
      if (awsErrorFacts(error)?.name === 'NoSuchUpload') return;
      throw dependencyError(error, `giving up the upload of ${this.#options.key}`, this.#call('AbortMultipartUpload'));
    }
  }

  async #flushWholeParts(): Promise<void> {
    const all = Buffer.concat(this.#buffered);
    let from = 0;
    for (; all.byteLength - from >= PART_BYTES; from += PART_BYTES) {
      await this.#uploadPart(all.subarray(from, from + PART_BYTES));
    }
    // A copy: a view would keep the whole buffer.
    this.#buffered = [Buffer.from(all.subarray(from))];
    this.#bufferedBytes = all.byteLength - from;
  }

  async #uploadPart(Body: Buffer): Promise<void> {
    const { client, contentType } = this.#options;
    if (this.#uploadId === undefined) {
      const created = await client.send(
        new CreateMultipartUploadCommand({ ...this.#object(), ContentType: contentType }),
      );
      if (created.UploadId === undefined) throw new SluiceError(`S3 gave no upload id for ${this.#options.key}.`);
      this.#uploadId = created.UploadId;
    }
    const PartNumber = this.#parts.length + 1;
    const UploadId = this.#uploadId;
    const { ETag } = await client.send(new UploadPartCommand({ ...this.#object(), UploadId, PartNumber, Body }));
    this.#parts.push({ PartNumber, ...(ETag === undefined ? {} : { ETag }) });
  }

  async #putWhole(): Promise<Completed> {
    const Body = Buffer.concat(this.#buffered);
    const { client, contentType } = this.#options;
    const { ETag } = await client.send(
      new PutObjectCommand({ ...this.#object(), ...this.#condition(), Body, ContentType: contentType }),
    );
    return this.#completed(ETag);
  }

  async #complete(UploadId: string): Promise<Completed> {
    if (this.#bufferedBytes > 0) await this.#uploadPart(Buffer.concat(this.#buffered));
    const MultipartUpload = { Parts: this.#parts };
    try {
      const { ETag } = await this.#options.client.send(
        new CompleteMultipartUploadCommand({ ...this.#object(), ...this.#condition(), UploadId, MultipartUpload }),
      );
      return this.#completed(ETag);
    } catch (error) {
      if (awsErrorFacts(error)?.name !== 'NoSuchUpload') throw error;
      const completed = await this.#wasCompleted();
      if (completed) return { value: completed.etag, standing: false };
      throw new DependencyUnavailableError(`The upload of ${this.#options.key} is gone.`, { cause: error });
    }
  }

  /** A completion whose answer was lost is refused when it is repeated: the upload is gone, and the object is there. */
  async #wasCompleted(): Promise<ObjectInfo | undefined> {
    const stored = await this.#options.head(this.#options.key);
    const isOurs = stored?.sizeBytes === this.#totalBytes && stored.etag.includes(`-${this.#parts.length}`);
    return isOurs ? stored : undefined;
  }

  async #orAbort<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const failure = dependencyError(error, `writing the object ${this.#options.key}`, this.#call('PutObject'));
      try {
        await this.abort();
      } catch {
        // The bucket's lifecycle rule removes uploads that nobody finishes; the first error is the one to tell.
      }
      throw failure;
    }
  }

  #mustBeOpen(): void {
    if (this.#over) throw new SluiceError(`The writer of ${this.#options.key} was closed or given up already.`);
  }

  #call(action: string): AwsCall {
    return { service: 's3', action, resource: `${this.#options.bucket}/${this.#options.key}` };
  }

  #completed(etag: string | undefined): Completed {
    if (etag !== undefined) return { value: etag, standing: false };
    throw new SluiceError(`S3 stored ${this.#options.key} without saying its ETag.`);
  }

  #condition(): { IfNoneMatch?: string } {
    return this.#options.once ? { IfNoneMatch: '*' } : {};
  }

  #object(): { Bucket: string; Key: string } {
    return { Bucket: this.#options.bucket, Key: this.#options.key };
  }
}
