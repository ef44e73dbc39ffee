import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { SLICES_MEMORY_MB, SLICES_PER_INVOCATION, visibilityTimeoutSeconds } from '../../lambdas/domain/capacity.ts';
import type { Lane as LaneName } from '../../lambdas/domain/model.ts';
import { finalizerEnvironment } from '../../lambdas/finalizer/env.ts';
import { SERVICE_METRICS } from '../../lambdas/runtime/metric-names.ts';
import { addAlarm } from './alarms.ts';
import { consumeQueue } from './consume-queue.ts';
import { NEWER_MESSAGES_PERIOD, watchNewerMessages } from './error-alarms.ts';
import { pipelineMetric } from './metrics.ts';
import { PipelineFunction, type FunctionSettings } from './pipeline-function.ts';
import { QueueWithDlq, type QueueSettings } from './queue-with-dlq.ts';
import { ofKeys } from './tables.ts';

export interface FinalizerProps {
  readonly queue: QueueSettings;
  /** Age at which waiting work of a lane breaks what customers were promised. */
  readonly contractAgeSeconds: Readonly<Record<LaneName, number>>;
  readonly settings: FunctionSettings;
  /** Invocations at the same time. */
  readonly maxConcurrency: number;
  readonly bucket: IBucket;
  readonly submissions: ITable;
  readonly records: ITable;
  readonly tenants: ITable;
  readonly webhookQueue: QueueWithDlq;
}

/** It works in slices of about a minute; five leave room for throttled writes. */
const TIMEOUT_SECONDS = 300;

/** Writes the results of submissions in which every record has an outcome, and announces that they have ended. */
export class Finalizer extends Construct {
  readonly queue: QueueWithDlq;
  readonly fn: PipelineFunction<typeof finalizerEnvironment>;

  constructor(scope: Construct, id: string, props: FinalizerProps) {
    super(scope, id);
    this.queue = new QueueWithDlq(this, 'Requests', {
      ...props.queue,
      // Files of both lanes come through here, so the shorter promise counts.
      contractAgeSeconds: Math.min(...Object.values(props.contractAgeSeconds)),
      visibilityTimeoutSeconds: visibilityTimeoutSeconds(TIMEOUT_SECONDS),
      deadLettersAge: pipelineMetric(SERVICE_METRICS.finalizationDeadLettersAge, {
        stageName: props.settings.stageName,
        by: 'reconciler',
        statistic: 'Maximum',
      }),
      holds: 'submissions whose results are due',
    });
    this.fn = new PipelineFunction(this, 'Finalizer', {
      settings: props.settings,
      name: 'finalizer',
      description: 'Recounts a finished submission, writes its results and announces its end',
      schema: finalizerEnvironment,
      environment: {
        SUBMISSIONS_TABLE: props.submissions.tableName,
        RECORDS_TABLE: props.records.tableName,
        TENANTS_TABLE: props.tenants.tableName,
        BUCKET: props.bucket.bucketName,
        FINALIZE_QUEUE_URL: this.queue.queue.queueUrl,
        WEBHOOKS_QUEUE_URL: props.webhookQueue.queue.queueUrl,
      },
      timeoutSeconds: TIMEOUT_SECONDS,
      // A slice holds a part of 8 MiB of each of its result files, twice for a moment, and the rows of a chunk.
      memoryMb: SLICES_MEMORY_MB.finalizer,
      // Big results are a chain of continuations.
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
    addAlarm(this, 'ResultsStalled', alarms, {
      metric: pipelineMetric(SERVICE_METRICS.stalledResults, { stageName, by: 'reconciler', statistic: 'Maximum' }),
      threshold: 1,
      periods: 5,
      datapoints: 4,
      severity: 'page',
      description:
        'Results of a submission have not got on for ten minutes, although they are tried again: look for its submission in the log of the finalizer.',
      runbookSection: 'results-stalled',
    });
    watchNewerMessages(this, {
      alarms,
      what: 'The finalize queue',
      metric: pipelineMetric(SERVICE_METRICS.newerMessages, {
        stageName,
        by: 'finalizer',
        statistic: 'Sum',
        period: NEWER_MESSAGES_PERIOD,
      }),
    });
    const by = (emitter: 'finalizer' | 'reconciler' | 'redrive') =>
      pipelineMetric(SERVICE_METRICS.unverifiedInputs, { stageName, by: emitter, statistic: 'Sum' });
    addAlarm(this, 'UnverifiedInputs', alarms, {
      metric: new MathExpression({
        expression: 'FILL(results, 0) + FILL(resends, 0) + FILL(replays, 0)',
        usingMetrics: { results: by('finalizer'), resends: by('reconciler'), replays: by('redrive') },
        period: Duration.minutes(1),
        label: 'inputs that are not what was sent',
      }),
      threshold: 0,
      comparison: ComparisonOperator.GREATER_THAN_THRESHOLD,
      // A waiting submission is tried again every five minutes.
      periods: 15,
      datapoints: 1,
      missingData: TreatMissingData.NOT_BREACHING,
      severity: 'page',
      description:
        'A source is not what was read from it before, or is gone: nothing is made of it. Restore the object that the log names.',
      runbookSection: 'inputs-are-not-verified',
    });
  }

  #grant({ bucket, submissions, records, tenants, webhookQueue }: FinalizerProps): void {
    // Head and ledger in one query; lease, repaired ledger, closing state.
    this.fn.allow('CloseSubmissions', ['dynamodb:GetItem', 'dynamodb:UpdateItem'], [submissions.tableArn]);
    // What became of the records, chunk by chunk.
    this.fn.allow('RecountRecords', ['dynamodb:Query'], [records.tableArn]);
    // The tenant's open work ends.
    this.fn.allow('ReleaseOpenWork', ['dynamodb:UpdateItem'], [tenants.tableArn], ofKeys('tenant#*'));
    // The records as the customer sent them.
    this.fn.allowToReadSources(bucket);
    // Parts and manifest; an unfinished one is given up; a continuation reads what its predecessors noted.
    this.fn.allow(
      'WriteResults',
      ['s3:PutObject', 's3:AbortMultipartUpload', 's3:GetObject'],
      [bucket.arnForObjects('results/*')],
    );
    this.fn.allowToSeeMissing('SeeMissingResults', bucket, 'results/');
    this.fn.allow('AnnounceEnds', ['sqs:SendMessage'], [webhookQueue.queue.queueArn]);
    this.fn.allow('ContinueLater', ['sqs:SendMessage'], [this.queue.queue.queueArn]);
  }
}
