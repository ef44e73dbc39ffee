import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import type { Stage } from '../../config/stage.ts';
import { submitEnvironment } from '../../lambdas/submit/env.ts';
import { SERVICE_METRICS } from '../../lambdas/runtime/metric-names.ts';
import { addAlarm } from './alarms.ts';
import { pipelineMetric } from './metrics.ts';
import { PipelineFunction, type FunctionSettings } from './pipeline-function.ts';
import type { QueueWithDlq } from './queue-with-dlq.ts';
import { ofKeys } from './tables.ts';

export interface SubmitProps {
  readonly settings: FunctionSettings;
  readonly stage: Stage;
  readonly providerRates: string;
  readonly bucket: IBucket;
  readonly submissions: ITable;
  readonly tenants: ITable;
  readonly idempotency: ITable;
  readonly webhooks: ITable;
  readonly fanOutQueue: QueueWithDlq;
  readonly webhookQueue: QueueWithDlq;
}

/** Below the API's 29 seconds: a caller gets our answer and not the gateway's. */
const TIMEOUT_SECONDS = 20;
/** The reconciler sends a forgotten message after half a minute, and looks every minute. */
const OUTBOX_THRESHOLD_MS = 180_000;

/** Accepts uploads and submissions, and cancels them. */
export class Submit extends Construct {
  readonly fn: PipelineFunction<typeof submitEnvironment>;

  constructor(scope: Construct, id: string, props: SubmitProps) {
    super(scope, id);
    const { limits, admission, retentionDays, submissionDeadlineHours, api, worker } = props.stage;
    this.fn = new PipelineFunction(this, 'Submit', {
      settings: props.settings,
      name: 'submit',
      description: 'API: uploads, new submissions, cancellation',
      schema: submitEnvironment,
      environment: {
        SUBMISSIONS_TABLE: props.submissions.tableName,
        TENANTS_TABLE: props.tenants.tableName,
        IDEMPOTENCY_TABLE: props.idempotency.tableName,
        BUCKET: props.bucket.bucketName,
        WEBHOOKS_TABLE: props.webhooks.tableName,
        WEBHOOKS_QUEUE_URL: props.webhookQueue.queue.queueUrl,
        FANOUT_QUEUE_URL: props.fanOutQueue.queue.queueUrl,
        CORS_ORIGINS: JSON.stringify(api.corsOrigins),
        MAX_FILE_BYTES: String(limits.maxFileBytes),
        MAX_RECORDS: String(limits.maxRecords),
        MAX_RECORD_BYTES: String(limits.maxRecordBytes),
        MAX_DIRECT_BODY_BYTES: String(limits.maxDirectBodyBytes),
        MAX_OPEN_RECORDS_PER_TENANT: String(admission.maxOpenRecordsPerTenant),
        MAX_OPEN_RECORDS: String(admission.maxOpenRecords),
        MAX_OPEN_SUBMISSIONS_PER_TENANT: String(admission.maxOpenSubmissionsPerTenant),
        RETENTION_DAYS: String(retentionDays),
        SUBMISSION_DEADLINE_HOURS: String(submissionDeadlineHours),
        PROVIDER_RATES: props.providerRates,
        SMALL_LANE_SHARE: String(worker.smallLaneShare),
      },
      timeoutSeconds: TIMEOUT_SECONDS,
      memoryMb: 512,
    });
    this.#grant(props);
    this.#addAlarm(props.settings);
  }

  #addAlarm({ alarms, stageName }: FunctionSettings): void {
    addAlarm(this, 'OutboxWaits', alarms, {
      metric: pipelineMetric(SERVICE_METRICS.outboxAge, { stageName, by: 'reconciler', statistic: 'Maximum' }),
      threshold: OUTBOX_THRESHOLD_MS,
      periods: 3,
      datapoints: 2,
      severity: 'page',
      description:
        'An accepted submission was not handed to the fan-out: find out why nothing can be sent to the fan-out queue.',
      runbookSection: 'outbox-waits',
    });
  }

  #grant({ bucket, submissions, tenants, idempotency, webhooks, fanOutQueue, webhookQueue }: SubmitProps): void {
    // Create once, mark the outbox, write the stop order, read a submission that exists.
    this.fn.allow(
      'AcceptSubmissions',
      ['dynamodb:PutItem', 'dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:UpdateItem'],
      [submissions.tableArn],
    );
    // What the tenant has open, and what this submission adds; what everybody has.
    this.fn.allow(
      'CountOpenWork',
      ['dynamodb:BatchGetItem', 'dynamodb:UpdateItem'],
      [tenants.tableArn],
      ofKeys('tenant#*'),
    );
    // A tenant that is refused for what it has open is recounted by the reconciler.
    this.fn.allow('RecountSoon', ['dynamodb:UpdateItem'], [tenants.tableArn], ofKeys('system#tenants'));
    this.fn.allow('ReadBacklog', ['dynamodb:GetItem'], [tenants.tableArn], ofKeys('system'));
    // The four calls of the idempotency library.
    this.fn.allow(
      'RepeatAnswers',
      ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'],
      [idempotency.tableArn],
    );
    // Signing uploads, storing direct ones, and checking that an upload is there (a head request counts as a read).
    this.fn.allow('KeepUploads', ['s3:PutObject', 's3:GetObject'], [bucket.arnForObjects('uploads/*')]);
    this.fn.allowToSeeMissing('SeeMissingUploads', bucket, 'uploads/');
    // Endpoints of webhooks; deliveries that are tests or sent again; new secrets, of which none is read.
    this.fn.allow(
      'ChangeWebhooks',
      ['dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
      [webhooks.tableArn],
      ofKeys('endpoints#*', 'deliveries#*'),
    );
    this.fn.allow('MakeWebhookSecrets', ['dynamodb:UpdateItem'], [webhooks.tableArn], ofKeys('secrets#*'));
    this.fn.allow('RequestDeliveries', ['sqs:SendMessage'], [webhookQueue.queue.queueArn]);
    this.fn.allow('RequestFanOut', ['sqs:SendMessage'], [fanOutQueue.queue.queueArn]);
  }
}
