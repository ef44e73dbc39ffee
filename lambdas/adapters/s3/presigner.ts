import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { create as contentDisposition } from 'content-disposition';
import type { Presigner } from '../../domain/api/ports.ts';

/**
 * Links to objects of one bucket, with the permission of the function that signs them. An upload's `If-None-Match: *` is
 * signed, so that its link works once; a length that is signed too needs no header of its own: every HTTP client sends it.
 *
 * @param client - Made by `createS3Client`: with the SDK's defaults the URL would hold the checksum of an empty body.
 */
export function createPresigner(client: S3Client, bucket: string): Presigner {
  return {
    async upload({ key, expiresInSeconds, sizeBytes, nowMs }) {
      const command = new PutObjectCommand({
        Bucket: bucket,
        Key: key,
        IfNoneMatch: '*',
        ...(sizeBytes === undefined ? {} : { ContentLength: sizeBytes }),
      });
      const url = await getSignedUrl(client, command, {
        expiresIn: expiresInSeconds,
        signingDate: new Date(nowMs),
        signableHeaders: new Set(['host', 'if-none-match', ...(sizeBytes === undefined ? [] : ['content-length'])]),
      });
      return { method: 'PUT', url, headers: { 'if-none-match': '*' }, expiresAtMs: nowMs + expiresInSeconds * 1000 };
    },

    async download({ key, expiresInSeconds, fileName, nowMs }) {
      const command = new GetObjectCommand({
        Bucket: bucket,
        Key: key,
        ...(fileName === undefined ? {} : { ResponseContentDisposition: contentDisposition(fileName) }),
      });
      const url = await getSignedUrl(client, command, {
        expiresIn: expiresInSeconds,
        signingDate: new Date(nowMs),
      });
      return { url, expiresAtMs: nowMs + expiresInSeconds * 1000 };
    },
  };
}
