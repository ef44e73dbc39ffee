import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { visibilityTimeoutSeconds } from '../../lambdas/domain/capacity.ts';
import type { Lane as LaneName } from '../../lambdas/domain/model.ts';
import { prepareEnvironment } from '../../lambdas/prepare/env.ts';
import { SERVICE_METRICS } from '../../lambdas/runtime/metric-names.ts';
import { consumeQueue } from './consume-queue.ts';
import { NEWER_MESSAGES_PERIOD, watchNewerMessages } from './error-alarms.ts';
import { pipelineMetric } from './metrics.ts';
import { PipelineFunction, type FunctionSettings } from './pipeline-function.ts';
import { QueueWithDlq, type QueueSettings } from './queue-with-dlq.ts';

export interface PrepareProps {
  readonly settings: FunctionSettings;
  /** Files at the same time. */
  readonly maxConcurrency: number;
  readonly bucket: IBucket;
  readonly submissions: ITable;
  /** What it works, see {@link prepareRequests}. */
  readonly queue: QueueWithDlq;
  readonly fanOutQueue: QueueWithDlq;
}

/** The longest that Lambda allows: a file is prepared in one invocation, docs/adr/0009-prepare-libraries.md has the arithmetic. */
const TIMEOUT_SECONDS = 900;

/** The queue of files to prepare. It stands beside its function, since fan-out sends to it and is sent to by it. */
export const prepareRequests = (
  scope: Construct,
  {
    settings: { stageName },
    queue,
    contractAgeSeconds,
  }: {
    settings: FunctionSettings;
    queue: QueueSettings;
    contractAgeSeconds: Readonly<Record<LaneName, number>>;
  },
): QueueWithDlq =>
  new QueueWithDlq(scope, 'PrepareRequests', {
    ...queue,
    // Files of both lanes come through here, so the shorter promise counts.
    contractAgeSeconds: Math.min(...Object.values(contractAgeSeconds)),
    visibilityTimeoutSeconds: visibilityTimeoutSeconds(TIMEOUT_SECONDS),
    deadLettersAge: pipelineMetric(SERVICE_METRICS.prepareDeadLettersAge, {
      stageName,
      by: 'reconciler',
      statistic: 'Maximum',
    }),
    holds: 'files to be unpacked or decoded',
  });

/** Unpacks and decodes files that are no text in UTF-8. */
export class Prepare extends Construct {
  readonly fn: PipelineFunction<typeof prepareEnvironment>;

  constructor(scope: Construct, id: string, props: PrepareProps) {
    super(scope, id);
    this.fn = new PipelineFunction(this, 'Prepare', {
      settings: props.settings,
      name: 'prepare',
      description: 'Unpacks and decodes an accepted file that is no text in UTF-8',
      schema: prepareEnvironment,
      environment: {
        SUBMISSIONS_TABLE: props.submissions.tableName,
        BUCKET: props.bucket.bucketName,
        PREPARE_QUEUE_URL: props.queue.queue.queueUrl,
        FANOUT_QUEUE_URL: props.fanOutQueue.queue.queueUrl,
      },
      timeoutSeconds: TIMEOUT_SECONDS,
      // For the share of a core that comes with it: the largest workbook takes less than half.
      memoryMb: 1_024,
      // A file that waits for a dependency is sent again.
      sendsToItself: true,
    });
    consumeQueue(this.fn, { source: props.queue, batchSize: 1, maxConcurrency: props.maxConcurrency });
    this.#grant(props);
    watchNewerMessages(this, {
      alarms: props.settings.alarms,
      what: 'The prepare queue',
      metric: pipelineMetric(SERVICE_METRICS.newerMessages, {
        stageName: props.settings.stageName,
        by: 'prepare',
        statistic: 'Sum',
        period: NEWER_MESSAGES_PERIOD,
      }),
    });
  }

  #grant({ submissions, bucket, queue, fanOutQueue }: PrepareProps): void {
    // Lease and outcome in the submission's head.
    this.fn.allow('TrackProgress', ['dynamodb:GetItem', 'dynamodb:UpdateItem'], [submissions.tableArn]);
    this.fn.allowToReadSources(bucket);
    this.fn.allow('WritePrepared', ['s3:PutObject', 's3:AbortMultipartUpload'], [bucket.arnForObjects('prepared/*')]);
    this.fn.allow(
      'SendOn',
      ['sqs:SendMessage'],
      [queue, fanOutQueue].map((each) => each.queue.queueArn),
    );
  }
}
