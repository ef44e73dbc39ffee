import { once } from 'node:events';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';
import { createObjectStore } from '../../lambdas/adapters/s3/object-store.ts';
import { createQueueDepth, createQueueReceiver, createQueueSender } from '../../lambdas/adapters/queue.ts';
import type { Clock } from '../../lambdas/domain/time.ts';
import type { ObjectWorld, QueueWorld } from './world.ts';

const MAX_BODY_BYTES = 64 * 1024 * 1024;

export interface EmulatedServices {
  s3: S3Client;
  sqs: SQSClient;
  queueWorld(): Promise<QueueWorld>;
  objectWorld(): Promise<ObjectWorld>;
  bucket(): Promise<string>;
  stop(): Promise<void>;
}

const realTime: Clock = {
  now: () => Date.now(),
  sleep: async (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/** An emulator of SQS and S3 in this process. */
export async function startServices(): Promise<EmulatedServices> {
  const app = buildApp({ logger: false });
  // Its own parser takes eleven megabytes at most.
  app.removeContentTypeParser('*');
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES }, (_request, body, done) => {
    done(null, body);
  });
  // It does not look at the condition of a write.
  app.addHook('preHandler', async (request, reply) => {
    if (request.method !== 'PUT' || request.headers['if-none-match'] !== '*') return undefined;
    const { statusCode } = await app.inject({ method: 'HEAD', url: request.url, headers: request.headers });
    if (statusCode !== 200) return undefined;
    const body = '<Error><Code>PreconditionFailed</Code><Message>It is there.</Message></Error>';
    return reply.code(412).type('application/xml').send(body);
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const endpoint = `http://127.0.0.1:${port}`;
  const access = { region: 'us-east-1', endpoint, credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
  const sqs = new SQSClient({ ...access, useQueueUrlAsEndpoint: false });
  const s3 = new S3Client({ ...access, forcePathStyle: true, requestChecksumCalculation: 'WHEN_REQUIRED' });
  let serial = 0;

  const queue = async (Attributes: Record<string, string> = {}): Promise<string> => {
    const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: `queue-${++serial}`, Attributes }));
    if (QueueUrl === undefined) throw new Error('The emulator gave no queue URL.');
    return QueueUrl;
  };
  const bucket = async (): Promise<string> => {
    const Bucket = `bucket-${++serial}`;
    await s3.send(new CreateBucketCommand({ Bucket }));
    return Bucket;
  };

  return {
    s3,
    sqs,
    bucket,
    async queueWorld() {
      const deadUrl = await queue();
      const described = new GetQueueAttributesCommand({ QueueUrl: deadUrl, AttributeNames: ['QueueArn'] });
      const deadLetterTargetArn = (await sqs.send(described)).Attributes?.['QueueArn'];
      const url = await queue({ RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 2 }) });
      return {
        queue: {
          ...createQueueSender(sqs, url, realTime),
          ...createQueueReceiver(sqs, url, realTime),
          ...createQueueDepth(sqs, url),
        },
        deadLetters: createQueueReceiver(sqs, deadUrl, realTime),
        tick: async () => realTime.sleep(50),
      };
    },
    async objectWorld() {
      return { objects: createObjectStore(s3, await bucket()) };
    },
    async stop() {
      sqs.destroy();
      s3.destroy();
      const closed = once(app.server, 'close');
      app.server.closeAllConnections();
      await Promise.all([app.close(), closed]);
    },
  };
}
