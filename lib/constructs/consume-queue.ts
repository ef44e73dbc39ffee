import { Duration } from 'aws-cdk-lib';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { PipelineFunction } from './pipeline-function.ts';
import type { QueueWithDlq } from './queue-with-dlq.ts';

export interface ConsumeQueueProps {
  readonly source: QueueWithDlq;
  /** Messages per invocation. */
  readonly batchSize: number;
  /** How long to collect messages for a batch. */
  readonly batchWindowSeconds?: number;
  /** Invocations at the same time: what keeps the backlog in the queue and not in Lambda. */
  readonly maxConcurrency: number;
}

/** Invokes a function with the messages of a queue; the function reports the failed ones (partial batch response). */
export function consumeQueue(consumer: PipelineFunction, props: ConsumeQueueProps): void {
  const { queue } = props.source;
  // What an event source does with the function's role; the worker also deletes messages itself, before it runs an isolated record.
  consumer.allow(
    'ConsumeQueue',
    ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
    [queue.queueArn],
  );
  new lambda.EventSourceMapping(consumer, 'EventSource', {
    target: consumer.fn,
    eventSourceArn: queue.queueArn,
    batchSize: props.batchSize,
    maxConcurrency: props.maxConcurrency,
    reportBatchItemFailures: true,
    ...(props.batchWindowSeconds ? { maxBatchingWindow: Duration.seconds(props.batchWindowSeconds) } : {}),
  });
}
