import { describe, expect, test } from '@jest/globals';
import { createS3Client } from '../../../lambdas/adapters/clients.ts';
import { createPresigner } from '../../../lambdas/adapters/s3/presigner.ts';
import { START_MS } from '../../support/memory/index.ts';

const client = createS3Client({
  region: 'us-east-1',
  credentials: { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'secret' },
});
const presigner = createPresigner(client, 'bucket');
const request = { key: 'uploads/acme/up_1', expiresInSeconds: 900, nowMs: START_MS };
const parametersOf = (url: string): URLSearchParams => new URL(url).searchParams;

describe('a link for an upload', () => {
  test('holds no checksum, no content type and no more signed headers than the client is told to send', async () => {
    const { url, headers, method } = await presigner.upload(request);

    const names = [...parametersOf(url).keys()].map((name) => name.toLowerCase());
    expect(names.filter((name) => /checksum|crc|content-type/.test(name))).toEqual([]);
    expect(parametersOf(url).get('X-Amz-SignedHeaders')).toBe('host;if-none-match');
    expect(headers).toEqual({ 'if-none-match': '*' });
    expect(method).toBe('PUT');
  });

  test('is for its key and its time only', async () => {
    const { url, expiresAtMs } = await presigner.upload(request);

    expect(new URL(url).pathname).toBe('/uploads/acme/up_1');
    expect(parametersOf(url).get('X-Amz-Expires')).toBe('900');
    expect(parametersOf(url).get('X-Amz-Date')).toBe('20260106T121500Z');
    expect(expiresAtMs).toBe(START_MS + 900_000);
  });

  test('fixes the length when that is known', async () => {
    const sized = await presigner.upload({ ...request, sizeBytes: 1234 });
    const other = await presigner.upload({ ...request, sizeBytes: 1235 });

    expect(parametersOf(sized.url).get('X-Amz-SignedHeaders')).toBe('content-length;host;if-none-match');
    expect(sized.headers).toEqual({ 'if-none-match': '*' });
    expect(parametersOf(sized.url).get('X-Amz-Signature')).not.toBe(parametersOf(other.url).get('X-Amz-Signature'));
  });
});

describe('a link for a download', () => {
  test('needs no header, and names the file as asked', async () => {
    const { url } = await presigner.download({ ...request, fileName: 'Kunden "März"; rm -rf.csv' });

    expect(parametersOf(url).get('X-Amz-SignedHeaders')).toBe('host');
    const disposition = parametersOf(url).get('response-content-disposition') ?? '';
    expect(disposition).toBe(
      `attachment; filename="Kunden \\"M?rz\\"; rm -rf.csv"; filename*=UTF-8''Kunden%20%22M%C3%A4rz%22%3B%20rm%20-rf.csv`,
    );
  });

  test('has no disposition where no name is asked for', async () => {
    const { url } = await presigner.download(request);

    expect(parametersOf(url).has('response-content-disposition')).toBe(false);
  });
});
