/*
 * The SDK's own clients with a transport that takes everything after a while: what the SDK and the adapters hold in memory counts as in the
 * functions.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { createDynamoClient, createS3Client, createSqsClient } from '../../lambdas/adapters/clients.ts';

interface StubRequest {
  method: string;
  query: Record<string, unknown>;
  headers: Record<string, string>;
  body?: unknown;
}

interface StubResponse {
  statusCode: number;
  headers: Record<string, string>;
  body?: Uint8Array;
}

/** About as long as the services take in their region; a part of 8 MiB takes longer. */
const CALL_MS = 10;
const PART_MS = 100;

const settings = {
  region: 'eu-central-1',
  credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
};

const answering = (answer: (request: StubRequest) => Promise<StubResponse>) => ({
  ...settings,
  requestHandler: {
    handle: async (request: StubRequest) => ({ response: await answer(request) }),
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
  },
});

const textOf = (body: unknown): string =>
  typeof body === 'string' ? body : Buffer.from(body as Uint8Array).toString();
const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
const json = (value: unknown): StubResponse => ({
  statusCode: 200,
  headers: {},
  body: Buffer.from(JSON.stringify(value)),
});

const sendSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ Entries: v.array(v.object({ Id: v.string(), MessageBody: v.string() })) }),
);

/** A queue that takes every message. */
export const stubSqs = (): SQSClient =>
  createSqsClient(
    answering(async ({ body }) => {
      await sleep(CALL_MS);
      const { Entries } = v.parse(sendSchema, textOf(body));
      const Successful = Entries.map(({ Id, MessageBody }) => ({
        Id,
        MessageId: Id,
        MD5OfMessageBody: md5(MessageBody),
      }));
      return json({ Successful, Failed: [] });
    }),
  );

/** A bucket that drops what is written. */
export const stubS3 = (written: (bytes: number) => void): S3Client =>
  createS3Client(
    answering(async ({ method, query, body }) => {
      await sleep(method === 'PUT' ? PART_MS : CALL_MS);
      if (method === 'PUT') written(Buffer.byteLength(body as Uint8Array | string));
      if (method === 'PUT') return { statusCode: 200, headers: { etag: '"1"' } };
      const name = 'uploads' in query ? 'InitiateMultipartUploadResult' : 'CompleteMultipartUploadResult';
      const xml = `<${name}><UploadId>1</UploadId><ETag>"1-1"</ETag></${name}>`;
      return { statusCode: 200, headers: {}, body: Buffer.from(xml) };
    }),
  );

/** A table of which only queries are made; `pages` has the bodies of their answers, one page after the other. */
export const stubTable = (pages: (query: Record<string, unknown>) => string): DynamoDBDocumentClient =>
  createDynamoClient(
    answering(async ({ body }) => {
      await sleep(CALL_MS);
      const query = v.parse(v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.unknown())), textOf(body));
      return { statusCode: 200, headers: {}, body: Buffer.from(pages(query)) };
    }),
  );
