import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { createObjectStore } from '../../../lambdas/adapters/s3/object-store.ts';
import { PART_BYTES } from '../../../lambdas/adapters/s3/object-writer.ts';
import {
  DependencyMisconfiguredError,
  DependencyUnavailableError,
  InvalidDataError,
  ObjectChangedError,
  ObjectMissingError,
} from '../../../lambdas/domain/errors.ts';
import { connectionError, serviceError } from '../service-errors.ts';

const client = new S3Client({ region: 'us-east-1' });
const s3 = mockClient(client);
const objects = createObjectStore(client, 'bucket');
const SOURCE = { key: 'uploads/x', etag: '"abc"', sizeBytes: 100 };

beforeEach(() => {
  s3.reset();
});

describe('reading an object', () => {
  test.each([
    ['not there', serviceError('NoSuchKey', 404), ObjectMissingError],
    ['denied', serviceError('AccessDenied', 403), DependencyMisconfiguredError],
    ['archived', serviceError('InvalidObjectState', 403), DependencyMisconfiguredError],
    ['encrypted with a disabled key', serviceError('KMS.DisabledException', 400), DependencyMisconfiguredError],
    ['replaced', serviceError('PreconditionFailed', 412), ObjectChangedError],
    ['throttled', serviceError('SlowDown', 503), DependencyUnavailableError],
    ['asked for with a wrong clock', serviceError('RequestTimeTooSkewed', 403), DependencyUnavailableError],
    ['in a bucket that does not exist', serviceError('NoSuchBucket', 404), DependencyMisconfiguredError],
    ['behind a broken connection', connectionError('ECONNRESET'), DependencyUnavailableError],
  ])('that is %s', async (_what, error, expected) => {
    s3.on(GetObjectCommand).rejects(error);

    await expect(objects.read(SOURCE, 0)).rejects.toBeInstanceOf(expected);
  });

  test('names the accepted ETag, and the range only where there is one', async () => {
    s3.on(GetObjectCommand).callsFake(() => ({ Body: Readable.from([Buffer.alloc(1)]), ContentLength: 1 }));

    await objects.read(SOURCE, 0);
    await objects.read(SOURCE, 40);

    const inputs = s3.commandCalls(GetObjectCommand).map(({ args }) => args[0].input);
    expect(inputs).toEqual([
      { Bucket: 'bucket', Key: 'uploads/x', IfMatch: '"abc"' },
      { Bucket: 'bucket', Key: 'uploads/x', IfMatch: '"abc"', Range: 'bytes=40-' },
    ]);
  });

  test('that is missing has no name in the answer to a HEAD, and is absent', async () => {
    s3.on(HeadObjectCommand).rejects(serviceError('NotFound', 404));
    s3.on(GetObjectCommand).rejects(serviceError('NoSuchKey', 404));

    expect(await objects.head('uploads/x')).toBeUndefined();
    expect(await objects.getSmall('uploads/x', 10)).toBeUndefined();
  });

  test('that is denied is not absent: a HEAD answers it by its status only', async () => {
    s3.on(HeadObjectCommand).rejects(serviceError('403', 403));
    s3.on(GetObjectCommand).rejects(serviceError('AccessDenied', 403));

    const denied = { name: 'DependencyMisconfiguredError', action: 's3:GetObject', resource: 'bucket/uploads/x' };
    await expect(objects.head('uploads/x')).rejects.toMatchObject(denied);
    await expect(objects.getSmall('uploads/x', 10)).rejects.toMatchObject(denied);
  });

  test('one that is too large for a small one is not downloaded', async () => {
    const Body = Readable.from([Buffer.alloc(10)]);
    s3.on(GetObjectCommand).callsFake(() => ({ Body, ContentLength: 1_000_000 }));

    await expect(objects.getSmall('uploads/x', 10)).rejects.toBeInstanceOf(InvalidDataError);
    expect(Body.destroyed).toBe(true);
  });
});

describe('writing an object once', () => {
  const create = async () => objects.create('uploads/a', Buffer.from('a,b\n'), 'text/csv');

  test('is one request that nothing may stand in the way of', async () => {
    s3.on(PutObjectCommand).resolves({ ETag: '"1"' });

    expect(await create()).toEqual({ etag: '"1"', sizeBytes: 4 });
    expect(s3.commandCalls(PutObjectCommand)[0]?.args[0].input).toMatchObject({ Key: 'uploads/a', IfNoneMatch: '*' });
  });

  test.each([
    ['stands', serviceError('PreconditionFailed', 412)],
    ['is being written at the same time', serviceError('ConditionalRequestConflict', 409)],
  ])('answers with what %s', async (_what, refusal) => {
    s3.on(PutObjectCommand).rejects(refusal);
    s3.on(HeadObjectCommand).resolves({ ETag: '"0"', ContentLength: 4 });

    expect(await create()).toEqual({ etag: '"0"', sizeBytes: 4 });
  });

  test.each([
    ['the other write has not ended', serviceError('ConditionalRequestConflict', 409)],
    ['S3 is throttled', serviceError('SlowDown', 503)],
  ])('may succeed later when %s', async (_what, refusal) => {
    s3.on(PutObjectCommand).rejects(refusal);
    s3.on(HeadObjectCommand).rejects(serviceError('NotFound', 404));

    await expect(create()).rejects.toBeInstanceOf(DependencyUnavailableError);
  });
});

describe('writing an object', () => {
  const ofParts = (count: number) => Buffer.alloc(count * PART_BYTES + 1);

  test('a small one is a single request', async () => {
    s3.on(PutObjectCommand).resolves({ ETag: '"1"' });
    const writer = objects.writer('results/a', 'text/csv');
    await writer.write(Buffer.from('a,b\n'));
    await writer.write(Buffer.from('1,2\n'));
    await writer.close();

    const calls = s3.calls();
    expect(calls).toHaveLength(1);
    expect(s3.commandCalls(PutObjectCommand)[0]?.args[0].input).toMatchObject({
      Key: 'results/a',
      ContentType: 'text/csv',
      Body: Buffer.from('a,b\n1,2\n'),
    });
  });

  test('a large one goes in parts of the same size and a rest', async () => {
    s3.on(CreateMultipartUploadCommand).resolves({ UploadId: 'u' });
    s3.on(UploadPartCommand).callsFake(({ PartNumber }: { PartNumber: number }) => ({ ETag: `"${PartNumber}"` }));
    s3.on(CompleteMultipartUploadCommand).resolves({ ETag: '"f00-3"' });
    const writer = objects.writer('results/a', 'text/csv');
    await writer.write(ofParts(2));
    await writer.close();

    const sizes = s3.commandCalls(UploadPartCommand).map(({ args }) => (args[0].input.Body as Buffer).byteLength);
    expect(sizes).toEqual([PART_BYTES, PART_BYTES, 1]);
    expect(s3.commandCalls(CompleteMultipartUploadCommand)[0]?.args[0].input.MultipartUpload?.Parts).toEqual([
      { PartNumber: 1, ETag: '"1"' },
      { PartNumber: 2, ETag: '"2"' },
      { PartNumber: 3, ETag: '"3"' },
    ]);
  });

  test('an error in the middle gives the upload up, and the writer is of no use any more', async () => {
    s3.on(CreateMultipartUploadCommand).resolves({ UploadId: 'u' });
    s3.on(UploadPartCommand).resolvesOnce({ ETag: '"1"' }).rejects(serviceError('InternalError', 500));
    s3.on(AbortMultipartUploadCommand).resolves({});
    const writer = objects.writer('results/a', 'text/csv');

    await expect(writer.write(ofParts(2))).rejects.toBeInstanceOf(DependencyUnavailableError);

    expect(s3.commandCalls(AbortMultipartUploadCommand)[0]?.args[0].input).toMatchObject({ UploadId: 'u' });
    await expect(writer.close()).rejects.toThrow(/closed or given up/);
    expect(s3.commandCalls(CompleteMultipartUploadCommand)).toHaveLength(0);
  });

  test('an upload that cannot be given up either fails with the first error', async () => {
    s3.on(CreateMultipartUploadCommand).resolves({ UploadId: 'u' });
    s3.on(UploadPartCommand).rejects(serviceError('SlowDown', 503));
    s3.on(AbortMultipartUploadCommand).rejects(serviceError('InternalError', 500));

    const writing = objects.writer('results/a', 'text/csv').write(ofParts(1));

    await expect(writing).rejects.toThrow(/SlowDown/);
  });

  describe('once', () => {
    const closing = async (bytes: Buffer, head: { ETag: string; ContentLength: number } | undefined) => {
      s3.on(PutObjectCommand).rejects(serviceError('PreconditionFailed', 412));
      s3.on(CreateMultipartUploadCommand).resolves({ UploadId: 'u' });
      s3.on(UploadPartCommand).resolves({ ETag: '"1"' });
      s3.on(CompleteMultipartUploadCommand).rejects(serviceError('PreconditionFailed', 412));
      s3.on(AbortMultipartUploadCommand).resolves({});
      if (head) s3.on(HeadObjectCommand).resolves(head);
      else s3.on(HeadObjectCommand).rejects(serviceError('NotFound', 404));
      const writer = objects.writer('prepared/a', 'text/csv', { once: true });
      await writer.write(bytes);
      return writer.close();
    };

    test.each([
      ['a small one', Buffer.alloc(10)],
      ['a large one', Buffer.alloc(PART_BYTES + 1)],
    ])('%s stands as the faster writer made it', async (_what, bytes) => {
      const standing = { ETag: '"f00"', ContentLength: bytes.byteLength };
      expect(await closing(bytes, standing)).toEqual({ etag: '"f00"', sizeBytes: bytes.byteLength });
      const inputs = [...s3.commandCalls(PutObjectCommand), ...s3.commandCalls(CompleteMultipartUploadCommand)];
      expect(inputs.map(({ args }) => args[0].input.IfNoneMatch)).toEqual(['*']);
      expect(s3.commandCalls(AbortMultipartUploadCommand)).toHaveLength(bytes.byteLength > PART_BYTES ? 1 : 0);
    });

    test('one that is being written, or is gone again, is to be tried again', async () => {
      await expect(closing(Buffer.alloc(10), undefined)).rejects.toBeInstanceOf(DependencyUnavailableError);
    });

    test('one of another size is no copy, and that is a defect', async () => {
      const closed = closing(Buffer.alloc(10), { ETag: '"f00"', ContentLength: 11 });
      await expect(closed).rejects.toMatchObject({ retryable: false, message: expect.stringContaining('11 bytes') });
    });
  });

  describe('whose completion is refused because the upload is gone', () => {
    const completing = async (head: { ETag: string; ContentLength: number } | Error): Promise<unknown> => {
      s3.on(CreateMultipartUploadCommand).resolves({ UploadId: 'u' });
      s3.on(UploadPartCommand).resolves({ ETag: '"1"' });
      s3.on(CompleteMultipartUploadCommand).rejects(serviceError('NoSuchUpload', 404));
      s3.on(AbortMultipartUploadCommand).rejects(serviceError('NoSuchUpload', 404));
      if (head instanceof Error) s3.on(HeadObjectCommand).rejects(head);
      else s3.on(HeadObjectCommand).resolves(head);
      const writer = objects.writer('results/a', 'text/csv');
      await writer.write(ofParts(1));
      return writer.close();
    };

    test('is there when the object is: the answer was lost', async () => {
      await expect(completing({ ETag: '"f00-2"', ContentLength: PART_BYTES + 1 })).resolves.toEqual({
        etag: '"f00-2"',
        sizeBytes: PART_BYTES + 1,
      });
    });

    test.each([
      ['there is no object', serviceError('NotFound', 404)],
      ['the object is an older one', { ETag: '"f00"', ContentLength: 12 }],
    ])('is not there when %s', async (_what, head) => {
      await expect(completing(head)).rejects.toBeInstanceOf(DependencyUnavailableError);
    });
  });
});

describe('the checksum of an object', () => {
  const described = { ETag: '"5d41402abc4b2a76b9719d911017c592"', ContentLength: 5 };
  test.each([
    ['is the one that S3 made', { ...described, ChecksumCRC64NVME: 'abc=' }, 'crc64nvme abc='],
    [
      'is the ETag of a body in one piece',
      { ...described, ServerSideEncryption: 'AES256' as const },
      `md5 ${described.ETag}`,
    ],
    [
      'is unknown where a key of KMS makes the ETag',
      { ...described, ServerSideEncryption: 'aws:kms' as const },
      undefined,
    ],
    [
      'is unknown of a body in parts',
      { ...described, ETag: '"5d41402abc4b2a76b9719d911017c592-2"', ServerSideEncryption: 'AES256' as const },
      undefined,
    ],
  ])('%s', async (_what, answer, checksum) => {
    s3.on(HeadObjectCommand).resolves(answer);

    expect((await objects.head('uploads/x'))?.checksum).toBe(checksum);
    expect(s3.commandCalls(HeadObjectCommand)[0]?.args[0].input.ChecksumMode).toBe('ENABLED');
  });
});
