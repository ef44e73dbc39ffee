import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { redriveEnvironment } from '../../lambdas/redrive/env.ts';
import { PipelineFunction, type FunctionSettings } from './pipeline-function.ts';
import type { QueueWithDlq } from './queue-with-dlq.ts';
import { BY_TENANT_INDEX, indexArn } from './tables.ts';

export interface RedriveProps {
  readonly settings: FunctionSettings;
  readonly providerRates: string;
  readonly submissionDeadlineHours: number;
  readonly bucket: IBucket;
  readonly submissions: ITable;
  readonly records: ITable;
  readonly providers: ITable;
  readonly smallLane: QueueWithDlq;
  readonly bulkLane: QueueWithDlq;
}

const TIMEOUT_SECONDS = 900;

/** Replays dead-lettered and failed records; invoked by hand, and by the reconciler after an outage. */
export class Redrive extends Construct {
  readonly fn: PipelineFunction<typeof redriveEnvironment>;

  constructor(scope: Construct, id: string, props: RedriveProps) {
    super(scope, id);
    this.fn = new PipelineFunction(this, 'Redrive', {
      settings: props.settings,
      name: 'redrive',
      description: 'Replays failed records: selects, counts (dryRun), and sends them again',
      schema: redriveEnvironment,
      environment: {
        SUBMISSIONS_TABLE: props.submissions.tableName,
        RECORDS_TABLE: props.records.tableName,
        PROVIDERS_TABLE: props.providers.tableName,
        BUCKET: props.bucket.bucketName,
        SMALL_QUEUE_URL: props.smallLane.queue.queueUrl,
        BULK_QUEUE_URL: props.bulkLane.queue.queueUrl,
        SMALL_DLQ_URL: props.smallLane.dlq.queueUrl,
        BULK_DLQ_URL: props.bulkLane.dlq.queueUrl,
        PROVIDER_RATES: props.providerRates,
        SUBMISSION_DEADLINE_HOURS: String(props.submissionDeadlineHours),
      },
      timeoutSeconds: TIMEOUT_SECONDS,
      memoryMb: 512,
      usesWholeTimeout: true,
    });
    // The answer says how far it came, and the operator decides. A retry by Lambda would do the same work twice.
    this.fn.fn.configureAsyncInvoke({ retryAttempts: 0 });
    this.#grant(props);
  }

  #grant({ bucket, submissions, records, providers, smallLane, bulkLane }: RedriveProps): void {
    // Which submissions and records are meant, by ledger; reopening them.
    this.fn.allow(
      'SelectAndReopen',
      ['dynamodb:Query', 'dynamodb:GetItem', 'dynamodb:UpdateItem'],
      [submissions.tableArn],
    );
    // Submissions of a tenant, and those of all tenants.
    this.fn.allow('FindSubmissions', ['dynamodb:Query', 'dynamodb:Scan'], [indexArn(submissions, BY_TENANT_INDEX)]);
    this.fn.allow('ReadHeads', ['dynamodb:BatchGetItem'], [submissions.tableArn]);
    // Reasons, attempts and paid answers of the records; the row of the new generation.
    this.fn.allow(
      'ReplayRecords',
      ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:PutItem'],
      [records.tableArn],
    );
    // The pace that providers grant at the moment: how long a replay takes.
    this.fn.allow('ReadPace', ['dynamodb:GetItem'], [providers.tableArn]);
    // The records as the customer sent them.
    this.fn.allowToReadSources(bucket);
    // Back to their lane; what was replayed too often stays where it is.
    this.fn.allow(
      'SendAgain',
      ['sqs:SendMessage'],
      [smallLane, bulkLane].map(({ queue }) => queue.queueArn),
    );
    // Dead letters that nobody can read.
    this.fn.allow('SetApart', ['s3:PutObject'], [bucket.arnForObjects('set-apart/*')]);
    this.fn.allow(
      'DrainDeadLetters',
      ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility'],
      [smallLane.dlq.queueArn, bulkLane.dlq.queueArn],
    );
  }
}
