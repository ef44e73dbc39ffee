import {
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
  type Message,
} from '@aws-sdk/client-sqs';
import type { IssuedCredentials } from '../contract.ts';

export type { Message } from '@aws-sdk/client-sqs';

/** What an event source does with its queue. */
export interface SourceQueue {
  /** Up to `max` (1 to 10) messages; waits for the first one as long as `waitSeconds` (0 to 20). */
  receive(max: number, waitSeconds: number): Promise<readonly Message[]>;
  /** Deletes messages; answers the receipts that could not be deleted. */
  delete(receipts: readonly string[]): Promise<string[]>;
  visibilityTimeoutMs(): Promise<number>;
  /** Ends what is waiting. */
  close(): void;
}

export interface SourceQueueOptions {
  readonly awsEndpoint: string;
  readonly region: string;
  readonly queueUrl: string;
  /** Of the function's own role: an event source may do what the function may, and nothing else. */
  readonly credentials: IssuedCredentials;
}

/** A queue behind the local AWS endpoint. */
export function openSourceQueue({ awsEndpoint, region, queueUrl, credentials }: SourceQueueOptions): SourceQueue {
  const client = new SQSClient({
    endpoint: awsEndpoint,
    region,
    credentials: { ...credentials },
    useQueueUrlAsEndpoint: false,
    // Nothing can be garbled between two processes of one machine.
    md5: false,
    maxAttempts: 1,
  });
  const closing = new AbortController();
  const options = { abortSignal: closing.signal };
  return {
    async receive(max, waitSeconds) {
      const answer = await client.send(
        new ReceiveMessageCommand({
          QueueUrl: queueUrl,
          MaxNumberOfMessages: max,
          WaitTimeSeconds: waitSeconds,
          MessageAttributeNames: ['All'],
          MessageSystemAttributeNames: ['All'],
        }),
        options,
      );
      return answer.Messages ?? [];
    },
    async delete(receipts) {
      const Entries = receipts.map((ReceiptHandle, index) => ({ Id: String(index), ReceiptHandle }));
      const answer = await client.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }), options);
      return (answer.Failed ?? []).flatMap(({ Id }) => receipts[Number(Id)] ?? []);
    },
    async visibilityTimeoutMs() {
      const command = new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['VisibilityTimeout'] });
      const answer = await client.send(command, options);
      return Number(answer.Attributes?.['VisibilityTimeout'] ?? 30) * 1000;
    },
    close() {
      closing.abort();
      client.destroy();
    },
  };
}
