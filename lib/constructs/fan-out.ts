import { ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { SLICES_MEMORY_MB, SLICES_PER_INVOCATION, visibilityTimeoutSeconds } from '../../lambdas/domain/capacity.ts';
import type { Lane as LaneName } from '../../lambdas/domain/model.ts';
import { fanOutEnvironment } from '../../lambdas/fan-out/env.ts';
import { SERVICE_METRICS } from '../../lambdas/runtime/metric-names.ts';
import { addAlarm } from './alarms.ts';
import { consumeQueue } from './consume-queue.ts';
import { NEWER_MESSAGES_PERIOD, watchNewerMessages } from './error-alarms.ts';
import { pipelineMetric } from './metrics.ts';
import { PipelineFunction, type FunctionSettings } from './pipeline-function.ts';
import { QueueWithDlq, type QueueSettings } from './queue-with-dlq.ts';
import { ofKeys } from './tables.ts';

export interface FanOutProps {
  readonly queue: QueueSettings;
  /** Age at which waiting work of a lane breaks what customers were promised. */
  readonly contractAgeSeconds: Readonly<Record<LaneName, number>>;
  readonly settings: FunctionSettings;
  /** Invocations at the same time. */
  readonly maxConcurrency: number;
  readonly smallLaneThreshold: number;
  readonly bucket: IBucket;
  readonly submissions: ITable;
  readonly tenants: ITable;
  readonly smallLane: QueueWithDlq;
  readonly bulkLane: QueueWithDlq;
  readonly finalizeQueue: QueueWithDlq;
  readonly prepareQueue: QueueWithDlq;
  readonly webhookQueue: QueueWithDlq;
}

/** It works in slices far below; the rest is for slices that meet a throttled queue. A crashed slice's message stays hidden for six times as long. */
const TIMEOUT_SECONDS = 300;

/** Reads files and sends a message for every record. */
export class FanOut extends Construct {
  readonly queue: QueueWithDlq;
  readonly fn: PipelineFunction<typeof fanOutEnvironment>;

  constructor(scope: Construct, id: string, props: FanOutProps) {
    super(scope, id);
    this.queue = new QueueWithDlq(this, 'Requests', {
      ...props.queue,
      // Files of both lanes come through here, so the shorter promise counts.
      contractAgeSeconds: Math.min(...Object.values(props.contractAgeSeconds)),
      visibilityTimeoutSeconds: visibilityTimeoutSeconds(TIMEOUT_SECONDS),
      deadLettersAge: pipelineMetric(SERVICE_METRICS.fanOutDeadLettersAge, {
        stageName: props.settings.stageName,
        by: 'reconciler',
        statistic: 'Maximum',
      }),
      holds: 'accepted submissions',
    });
    this.fn = new PipelineFunction(this, 'FanOut', {
      settings: props.settings,
      name: 'fan-out',
      description: 'Streams an accepted file and sends a message for every record',
      schema: fanOutEnvironment,
      environment: {
        SUBMISSIONS_TABLE: props.submissions.tableName,
        TENANTS_TABLE: props.tenants.tableName,
        BUCKET: props.bucket.bucketName,
        FANOUT_QUEUE_URL: this.queue.queue.queueUrl,
        PREPARE_QUEUE_URL: props.prepareQueue.queue.queueUrl,
        SMALL_QUEUE_URL: props.smallLane.queue.queueUrl,
        BULK_QUEUE_URL: props.bulkLane.queue.queueUrl,
        FINALIZE_QUEUE_URL: props.finalizeQueue.queue.queueUrl,
        WEBHOOKS_QUEUE_URL: props.webhookQueue.queue.queueUrl,
        SMALL_LANE_THRESHOLD: String(props.smallLaneThreshold),
      },
      timeoutSeconds: TIMEOUT_SECONDS,
      // A slice holds up to 8 MiB of text while it decides about the lane, and its parsed rows.
      memoryMb: SLICES_MEMORY_MB.fanOut,
      // A big file is a chain of continuations.
      sendsToItself: true,
    });
    consumeQueue(this.fn, {
      source: this.queue,
      batchSize: SLICES_PER_INVOCATION,
      maxConcurrency: props.maxConcurrency,
    });
    this.#grant(props);
    this.#addAlarms(props.settings);
  }

  #addAlarms({ alarms, stageName }: FunctionSettings): void {
    watchNewerMessages(this, {
      alarms,
      what: 'The fan-out queue',
      metric: pipelineMetric(SERVICE_METRICS.newerMessages, {
        stageName,
        by: 'fan-out',
        statistic: 'Sum',
        period: NEWER_MESSAGES_PERIOD,
      }),
    });
    addAlarm(this, 'Stalled', alarms, {
      metric: pipelineMetric(SERVICE_METRICS.stalledFanOuts, { stageName, by: 'reconciler', statistic: 'Maximum' }),
      threshold: 1,
      comparison: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      // The reconciler starts one again at the first sight: what is still stalled later does not get on by that.
      periods: 5,
      datapoints: 4,
      // Without the reconciler there is no figure, and its own alarm rings.
      missingData: TreatMissingData.NOT_BREACHING,
      severity: 'page',
      description:
        'A file is not read on although that was tried again: look for its submission in the log of the fan-out.',
      runbookSection: 'fan-out-stalled',
    });
  }

  #grant(props: FanOutProps): void {
    // Lease and progress of the submission; starts and sizes of its chunks.
    this.fn.allow(
      'TrackProgress',
      ['dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:UpdateItem'],
      [props.submissions.tableArn],
    );
    // What the tenant has open decides about the lane; the count replaces the estimate.
    this.fn.allow(
      'CountOpenWork',
      ['dynamodb:BatchGetItem', 'dynamodb:UpdateItem'],
      [props.tenants.tableArn],
      ofKeys('tenant#*'),
    );
    this.fn.allowToReadSources(props.bucket);
    // The end of a file that is rejected.
    this.fn.allow('AnnounceEnds', ['sqs:SendMessage'], [props.webhookQueue.queue.queueArn]);
    // Records to their lane, a continuation to its own queue, files to be prepared, and finalization where no record is left to wait for.
    this.fn.allow(
      'SendOn',
      ['sqs:SendMessage'],
      [this.queue, props.prepareQueue, props.smallLane, props.bulkLane, props.finalizeQueue].map(
        ({ queue }) => queue.queueArn,
      ),
    );
  }
}
