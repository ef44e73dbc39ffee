import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import {
  CopyObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { Cloud } from '../../contract.ts';
import { allow, clientOf, operatorOf, rejection, role, startTestCloud } from './fixture.ts';

let cloud: Cloud;
let Bucket: string;
/** May write below `uploads/` and read everything; may not list. */
let writer: S3Client;
/** May list below `uploads/` and read. */
let lister: S3Client;
let operator: S3Client;

const objects = (prefix: string) => ({ 'Fn::Join': ['', [{ 'Fn::GetAtt': ['Bucket', 'Arn'] }, `/${prefix}`]] });

beforeAll(async () => {
  cloud = await startTestCloud({
    Bucket: {
      Type: 'AWS::S3::Bucket',
      Properties: {
        CorsConfiguration: {
          CorsRules: [
            {
              AllowedHeaders: ['content-type', 'if-none-match'],
              AllowedMethods: ['PUT', 'GET'],
              AllowedOrigins: ['https://*.example.com'],
              ExposedHeaders: ['ETag'],
              MaxAge: 300,
            },
          ],
        },
      },
    },
    BucketPolicy: {
      Type: 'AWS::S3::BucketPolicy',
      Properties: {
        Bucket: { Ref: 'Bucket' },
        PolicyDocument: {
          Version: '2012-10-17',
          Statement: [
            {
              Effect: 'Deny',
              Principal: { AWS: '*' },
              Action: 's3:*',
              Resource: [{ 'Fn::GetAtt': ['Bucket', 'Arn'] }, objects('*')],
              Condition: { Bool: { 'aws:SecureTransport': 'false' } },
            },
            {
              Effect: 'Deny',
              Principal: { AWS: '*' },
              Action: 's3:GetObject',
              Resource: objects('uploads/sealed/*'),
            },
          ],
        },
      },
    },
    Writer: role(allow('s3:PutObject', objects('uploads/*')), allow('s3:GetObject', objects('*'))),
    Lister: role(
      allow(
        's3:ListBucket',
        { 'Fn::GetAtt': ['Bucket', 'Arn'] },
        { Condition: { StringLike: { 's3:prefix': 'uploads/*' } } },
      ),
      allow(['s3:GetObject', 's3:DeleteObject'], objects('uploads/*')),
    ),
  });
  Bucket = cloud.byLogicalId('Bucket').physicalId;
  writer = new S3Client({ ...clientOf(cloud, 'Writer'), requestChecksumCalculation: 'WHEN_REQUIRED' });
  lister = new S3Client(clientOf(cloud, 'Lister'));
  operator = new S3Client(operatorOf(cloud));
});

afterAll(async () => {
  for (const client of [writer, lister, operator]) client.destroy();
  await cloud.stop();
});

const put = (Key: string, Body: string, more: object = {}) =>
  writer.send(new PutObjectCommand({ Bucket, Key, Body, ...more }));

async function read(Key: string, client = operator): Promise<string | undefined> {
  const answer = await client.send(new GetObjectCommand({ Bucket, Key }));
  return answer.Body?.transformToString();
}

describe('permissions', () => {
  test('cover a prefix and nothing else', async () => {
    await put('uploads/a.csv', 'a,b\n');
    expect(await read('uploads/a.csv', writer)).toBe('a,b\n');
    const error = await rejection(put('results/a.csv', 'x'));
    expect(error).toMatchObject({ name: 'AccessDenied', $metadata: { httpStatusCode: 403 } });
    expect(error.message).toContain('is not authorized to perform: s3:PutObject on resource');
  });

  test('hold by the prefix of a listing', async () => {
    const listed = await lister.send(new ListObjectsV2Command({ Bucket, Prefix: 'uploads/' }));
    expect(listed.Contents?.map(({ Key }) => Key)).toContain('uploads/a.csv');
    const other = lister.send(new ListObjectsV2Command({ Bucket, Prefix: 'results/' }));
    expect((await rejection(other)).name).toBe('AccessDenied');
  });

  test("an explicit deny of the bucket's policy beats what a role allows", async () => {
    await put('uploads/sealed/x', 'x');
    const error = await rejection(read('uploads/sealed/x', writer));
    expect(error.message).toContain('with an explicit deny in a resource-based policy');
  });

  test('are checked for every key of a multiple deletion', async () => {
    const deletion = (keys: string[]) =>
      lister.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: keys.map((Key) => ({ Key })) } }));
    await put('uploads/gone & <more>', 'x');
    await deletion(['uploads/gone & <more>']);
    expect((await rejection(read('uploads/gone & <more>'))).name).toBe('NoSuchKey');
    expect((await rejection(deletion(['uploads/a.csv', 'results/a.csv']))).name).toBe('AccessDenied');
    expect(await read('uploads/a.csv')).toBe('a,b\n');
  });

  test('a copy needs to read its source', async () => {
    const CopySource = `${Bucket}/uploads/sealed/x`;
    const copy = writer.send(new CopyObjectCommand({ Bucket, Key: 'uploads/copy', CopySource }));
    expect((await rejection(copy)).message).toContain('s3:GetObject');
  });
});

describe('a missing object', () => {
  test('is forbidden to whoever may not list the bucket', async () => {
    const head = writer.send(new HeadObjectCommand({ Bucket, Key: 'uploads/none' }));
    expect((await rejection(head)) as object).toMatchObject({ $metadata: { httpStatusCode: 403 } });
    expect((await rejection(read('uploads/none', writer))).name).toBe('AccessDenied');
  });

  test('is not found for whoever may list keys that begin like it, and forbidden beyond', async () => {
    expect((await rejection(read('uploads/none', lister))).name).toBe('NoSuchKey');
    expect((await rejection(read('results/none', lister))).name).toBe('AccessDenied');
  });

  test('is not found for whoever may', async () => {
    const head = operator.send(new HeadObjectCommand({ Bucket, Key: 'uploads/none' }));
    expect((await rejection(head)) as object).toMatchObject({ $metadata: { httpStatusCode: 404 } });
    expect((await rejection(read('uploads/none'))).name).toBe('NoSuchKey');
  });
});

describe('conditional writes', () => {
  test('If-None-Match: * writes an object once', async () => {
    await put('uploads/once', 'first', { IfNoneMatch: '*' });
    const error = await rejection(put('uploads/once', 'second', { IfNoneMatch: '*' }));
    expect(error).toMatchObject({ name: 'PreconditionFailed', $metadata: { httpStatusCode: 412 } });
    expect(await read('uploads/once')).toBe('first');
  });

  test('of several at the same time one wins', async () => {
    const attempts = Array.from({ length: 5 }, (_, index) => put('uploads/race', String(index), { IfNoneMatch: '*' }));
    const outcomes = await Promise.allSettled(attempts);
    const winners = outcomes.filter(({ status }) => status === 'fulfilled');
    expect(winners).toHaveLength(1);
    expect(await read('uploads/race')).toBe(String(outcomes.findIndex(({ status }) => status === 'fulfilled')));
  });

  test('If-Match replaces only the version that was read', async () => {
    const { ETag } = await put('uploads/versioned', 'one');
    await put('uploads/versioned', 'two', { IfMatch: ETag });
    expect((await rejection(put('uploads/versioned', 'three', { IfMatch: ETag }))).name).toBe('PreconditionFailed');
    expect(await read('uploads/versioned')).toBe('two');
  });
});

describe('presigned URLs', () => {
  const signPut = (Key: string, more: object = {}) =>
    getSignedUrl(writer, new PutObjectCommand({ Bucket, Key, ...more }), { expiresIn: 60 });

  test('write once, with exactly the signed headers', async () => {
    const url = await signPut('uploads/signed', { IfNoneMatch: '*' });
    const send = (headers: Record<string, string>) => fetch(url, { method: 'PUT', body: 'data', headers });
    expect((await send({})).status).toBe(403);
    expect((await send({ 'if-none-match': 'other' })).status).toBe(403);
    expect((await send({ 'if-none-match': '*' })).status).toBe(200);
    expect((await send({ 'if-none-match': '*' })).status).toBe(412);
    expect(await read('uploads/signed')).toBe('data');
  });

  test('expire', async () => {
    const signingDate = new Date(Date.now() - 120_000);
    const url = await getSignedUrl(writer, new PutObjectCommand({ Bucket, Key: 'uploads/late' }), {
      expiresIn: 60,
      signingDate,
    });
    const answer = await fetch(url, { method: 'PUT', body: 'data' });
    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain('<Message>Request has expired</Message>');
  });

  test('are for one key only', async () => {
    const url = await signPut('uploads/mine');
    const answer = await fetch(url.replace('uploads/mine', 'uploads/other'), { method: 'PUT', body: 'data' });
    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain('SignatureDoesNotMatch');
  });

  test('do not let a header in that was not signed', async () => {
    const url = await signPut('uploads/acl');
    const answer = await fetch(url, { method: 'PUT', body: 'data', headers: { 'x-amz-acl': 'public-read' } });
    expect(await answer.text()).toContain('<HeadersNotSigned>x-amz-acl</HeadersNotSigned>');
  });

  test("do no more than their signer may: the signer's role is asked when they are used", async () => {
    const url = await signPut('results/forbidden');
    const answer = await fetch(url, { method: 'PUT', body: 'data' });
    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain('s3:PutObject');
  });

  test('that carry the checksum of an empty body refuse every other body', async () => {
    const careless = new S3Client(clientOf(cloud, 'Writer'));
    const url = await getSignedUrl(careless, new PutObjectCommand({ Bucket, Key: 'uploads/checksum' }));
    careless.destroy();
    expect(url).toContain('x-amz-checksum-crc32=');
    const answer = await fetch(url, { method: 'PUT', body: 'data' });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('BadDigest');
  });

  test('can name the downloaded file', async () => {
    const command = new GetObjectCommand({
      Bucket,
      Key: 'uploads/a.csv',
      ResponseContentDisposition: 'attachment; filename="a.csv"',
    });
    const answer = await fetch(await getSignedUrl(writer, command));
    expect(await answer.text()).toBe('a,b\n');
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="a.csv"');
  });
});

describe('uploads as clients send them', () => {
  const link = async (key: string) => getSignedUrl(writer, new PutObjectCommand({ Bucket, Key: `uploads/${key}` }));

  test.each([
    'application/x-www-form-urlencoded',
    'application/x-www-form-urlencoded; charset=utf-8',
    'multipart/form-data; boundary=x',
    'application/json',
    'text/csv; charset=windows-1252',
    'not a type',
  ])('a body is stored as it is, whatever its type is called: %s', async (type) => {
    const body = Buffer.from([0x61, 0x3d, 0xff, 0x26, 0x0a]);
    const answer = await fetch(await link('typed'), { method: 'PUT', headers: { 'content-type': type }, body });
    expect(answer.status).toBe(200);
    const stored = await writer.send(new GetObjectCommand({ Bucket, Key: 'uploads/typed' }));
    expect(await stored.Body?.transformToByteArray()).toEqual(Uint8Array.from(body));
  });

  test('a link and an Authorization header are two signatures: refused', async () => {
    const headers = { authorization: 'Bearer slk_12345678_x' };
    const answer = await fetch(await link('twice'), { method: 'PUT', headers, body: 'a' });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('<Code>InvalidArgument</Code><Message>Only one auth mechanism allowed');
  });

  test('a body without a length is refused', async () => {
    const upload = request(await link('chunked'), { method: 'PUT', headers: { 'transfer-encoding': 'chunked' } });
    upload.end('a');
    const [answer] = (await once(upload, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(501);
    expect(await text(answer)).toContain('<Code>NotImplemented</Code>');
  });
});

describe('CORS', () => {
  const preflight = (headers: Record<string, string>) =>
    fetch(`${cloud.awsEndpoint}/${Bucket}/uploads/x`, { method: 'OPTIONS', headers });

  test("a preflight is answered by the bucket's rules", async () => {
    const answer = await preflight({
      origin: 'https://app.example.com',
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'If-None-Match, Content-Type',
    });
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': 'https://app.example.com',
      'access-control-allow-methods': 'PUT, GET',
      'access-control-allow-headers': 'if-none-match, content-type',
      'access-control-max-age': '300',
    });
  });

  test('another origin, method or header is refused', async () => {
    const good = { origin: 'https://app.example.com', 'access-control-request-method': 'PUT' };
    const refused = [
      { ...good, origin: 'https://example.org' },
      { ...good, 'access-control-request-method': 'DELETE' },
      { ...good, 'access-control-request-headers': 'x-other' },
    ];
    for (const headers of refused) expect((await preflight(headers)).status).toBe(403);
  });

  test('an answer, also a refusal, can be read by the origin that the rules allow', async () => {
    const answer = await fetch(`${cloud.awsEndpoint}/${Bucket}/uploads/x`, {
      headers: { origin: 'https://app.example.com' },
    });
    expect(answer.status).toBe(403);
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
    expect(answer.headers.get('access-control-expose-headers')).toBe('ETag');
  });
});

describe('bodies', () => {
  test('of 30 MB go through, also in ranges', async () => {
    const url = await getSignedUrl(writer, new PutObjectCommand({ Bucket, Key: 'uploads/big' }));
    const body = Buffer.alloc(30_000_000, 'abcdefghij');
    expect((await fetch(url, { method: 'PUT', body })).status).toBe(200);
    const answer = await writer.send(new GetObjectCommand({ Bucket, Key: 'uploads/big', Range: 'bytes=29999990-' }));
    expect(answer.ContentLength).toBe(10);
    expect(await answer.Body?.transformToString()).toBe('abcdefghij');
  });

  test('that a caller hangs up on leave the endpoint unharmed and silent', async () => {
    const complain = jest.spyOn(console, 'error');
    await put('uploads/long', 'x'.repeat(10_000_000));
    const answer = await writer.send(new GetObjectCommand({ Bucket, Key: 'uploads/long' }));
    const body = answer.Body as Readable;
    await once(body, 'data');
    body.destroy();
    const url = await getSignedUrl(writer, new PutObjectCommand({ Bucket, Key: 'uploads/hangup' }));
    const upload = request(url, { method: 'PUT', headers: { 'content-length': 1_000_000 } });
    upload.on('error', () => undefined).write(Buffer.alloc(1000));
    const closed = new Promise((resolve) => upload.on('close', resolve));
    await once(upload, 'socket');
    upload.destroy();
    await closed;
    expect(await read('uploads/long')).toHaveLength(10_000_000);
    expect((await rejection(read('uploads/hangup'))).name).toBe('NoSuchKey');
    expect(complain).not.toHaveBeenCalled();
  });

  test('that are empty are objects too', async () => {
    const url = await getSignedUrl(writer, new PutObjectCommand({ Bucket, Key: 'uploads/empty' }));
    expect((await fetch(url, { method: 'PUT', body: '' })).status).toBe(200);
    expect(await read('uploads/empty')).toBe('');
  });

  test('with a checksum that the SDK computes while it sends are stored without the framing', async () => {
    await operator.send(
      new PutObjectCommand({ Bucket, Key: 'uploads/framed', Body: Buffer.from('data'), ChecksumAlgorithm: 'SHA256' }),
    );
    expect(await read('uploads/framed')).toBe('data');
  });
});

test('keys are listed by their bytes, across pages', async () => {
  const keys = ['uploads/order/B', 'uploads/order/_', 'uploads/order/a', 'uploads/order/b'];
  for (const key of keys.toReversed()) await put(key, 'x');
  const page = (ContinuationToken?: string) =>
    lister.send(
      new ListObjectsV2Command({
        Bucket,
        Prefix: 'uploads/order/',
        MaxKeys: 2,
        ...(ContinuationToken === undefined ? {} : { ContinuationToken }),
      }),
    );
  const first = await page();
  const second = await page(first.NextContinuationToken);
  expect([first, second].flatMap(({ Contents }) => Contents ?? []).map(({ Key }) => Key)).toEqual(keys);
});

test('what the emulator would silently do wrong is said not to be supported', async () => {
  const url = await getSignedUrl(operator, new GetObjectCommand({ Bucket, Key: 'uploads/a.csv', VersionId: 'v1' }));
  expect((await fetch(url)).status).toBe(501);
});
