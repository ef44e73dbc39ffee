import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { reconcilerEnvironment } from '../../lambdas/reconciler/env.ts';
import { SERVICE_METRICS } from '../../lambdas/runtime/metric-names.ts';
import { addAlarm } from './alarms.ts';
import { pipelineMetric } from './metrics.ts';
import { PipelineFunction, type FunctionSettings } from './pipeline-function.ts';
import type { QueueWithDlq } from './queue-with-dlq.ts';
import { indexArn, ofKeys, OPEN_INDEX } from './tables.ts';

export interface ReconcilerProps {
  readonly settings: FunctionSettings;
  readonly providerRates: string;
  readonly laneVisibilitySeconds: number;
  readonly lostAfterSeconds: number;
  readonly automaticRedrive: boolean;
  readonly submissionDeadlineHours: number;
  readonly bucket: IBucket;
  readonly submissions: ITable;
  readonly records: ITable;
  readonly providers: ITable;
  readonly tenants: ITable;
  readonly prepareQueue: QueueWithDlq;
  readonly fanOutQueue: QueueWithDlq;
  readonly smallLane: QueueWithDlq;
  readonly bulkLane: QueueWithDlq;
  readonly finalizeQueue: QueueWithDlq;
  readonly webhookQueue: QueueWithDlq;
}

const INTERVAL = Duration.minutes(1);
/** Below the interval, so that two runs hardly ever overlap. What is left over is done by the next one. */
const TIMEOUT_SECONDS = 55;

/** The backstop: looks every minute for what got stuck or lost, and moves it on. */
export class Reconciler extends Construct {
  readonly fn: PipelineFunction<typeof reconcilerEnvironment>;

  constructor(scope: Construct, id: string, props: ReconcilerProps) {
    super(scope, id);
    this.fn = new PipelineFunction(this, 'Reconciler', {
      settings: props.settings,
      name: 'reconciler',
      description: 'Every minute: relays, resumes, resends, expires and closes what got stuck; reports the backlog',
      schema: reconcilerEnvironment,
      environment: {
        SUBMISSIONS_TABLE: props.submissions.tableName,
        RECORDS_TABLE: props.records.tableName,
        PROVIDERS_TABLE: props.providers.tableName,
        TENANTS_TABLE: props.tenants.tableName,
        BUCKET: props.bucket.bucketName,
        FANOUT_QUEUE_URL: props.fanOutQueue.queue.queueUrl,
        SMALL_QUEUE_URL: props.smallLane.queue.queueUrl,
        BULK_QUEUE_URL: props.bulkLane.queue.queueUrl,
        FINALIZE_QUEUE_URL: props.finalizeQueue.queue.queueUrl,
        PROVIDER_RATES: props.providerRates,
        LANE_VISIBILITY_SECONDS: String(props.laneVisibilitySeconds),
        LOST_AFTER_SECONDS: String(props.lostAfterSeconds),
        AUTOMATIC_REDRIVE: props.automaticRedrive ? 'on' : 'off',
        PREPARE_DLQ_URL: props.prepareQueue.dlq.queueUrl,
        FANOUT_DLQ_URL: props.fanOutQueue.dlq.queueUrl,
        FINALIZE_DLQ_URL: props.finalizeQueue.dlq.queueUrl,
        WEBHOOKS_DLQ_URL: props.webhookQueue.dlq.queueUrl,
        SMALL_DLQ_URL: props.smallLane.dlq.queueUrl,
        BULK_DLQ_URL: props.bulkLane.dlq.queueUrl,
        SUBMISSION_DEADLINE_HOURS: String(props.submissionDeadlineHours),
      },
      timeoutSeconds: TIMEOUT_SECONDS,
      memoryMb: 512,
    });
    new Rule(this, 'Schedule', {
      description: 'Runs the reconciler of Sluice',
      schedule: Schedule.rate(INTERVAL),
      // A run that failed or came late is not repeated: the next one is a minute away and sees the same.
      targets: [new LambdaFunction(this.fn.fn, { retryAttempts: 0, maxEventAge: INTERVAL })],
    });
    this.fn.fn.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: INTERVAL });
    this.#grant(props);
    this.#addAlarms(props);
  }

  #grant(props: ReconcilerProps): void {
    // What is open and due.
    this.fn.allow('FindOpen', ['dynamodb:Query'], [indexArn(props.submissions, OPEN_INDEX)]);
    // Heads and ledgers; outbox, leases, stops, next checks, closing.
    this.fn.allow(
      'MoveOn',
      ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query', 'dynamodb:UpdateItem'],
      [props.submissions.tableArn],
    );
    // Which records wait and which are lost; outcomes of those that crashed, expired or were cancelled.
    this.fn.allow(
      'SettleRecords',
      ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:PutItem'],
      [props.records.tableArn],
    );
    // Whether providers work, for the age at which a silent record counts as lost.
    this.fn.allow('ReadBreakers', ['dynamodb:GetItem'], [props.providers.tableArn]);
    // The backlog of all.
    this.fn.allow(
      'ReportBacklog',
      ['dynamodb:GetItem', 'dynamodb:UpdateItem'],
      [props.tenants.tableArn],
      ofKeys('system'),
    );
    // Open work of tenants, corrected by what is open.
    this.fn.allow(
      'RecountOpenWork',
      ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:UpdateItem'],
      [props.tenants.tableArn],
      ofKeys('tenant#*', 'system#tenants'),
    );
    // Since when dead-letter queues hold messages, and how many.
    this.fn.allow(
      'KeepDeadLetterLog',
      ['dynamodb:GetItem', 'dynamodb:UpdateItem'],
      [props.tenants.tableArn],
      ofKeys('system#dead-letters'),
    );
    // Lost records are sent again from the file.
    this.fn.allowToReadSources(props.bucket);
    const working = [props.fanOutQueue, props.smallLane, props.bulkLane, props.finalizeQueue];
    this.fn.allow(
      'SendAgain',
      ['sqs:SendMessage'],
      working.map(({ queue }) => queue.queueArn),
    );
    this.fn.allow(
      'CountDeadLetters',
      ['sqs:GetQueueAttributes'],
      [props.prepareQueue, props.webhookQueue, ...working].map(({ dlq }) => dlq.queueArn),
    );
    // Dead letters that nobody can read.
    this.fn.allow('SetApart', ['s3:PutObject'], [props.bucket.arnForObjects('set-apart/*')]);
    // Replay of what an outage dead-lettered.
    this.fn.allow(
      'DrainDeadLetters',
      ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility'],
      [props.smallLane.dlq.queueArn, props.bulkLane.dlq.queueArn],
    );
  }

  #addAlarms({ settings: { alarms, stageName } }: ReconcilerProps): void {
    const metric = { stageName, by: 'reconciler' } as const;
    addAlarm(this, 'NotRunning', alarms, {
      // Not the invocations: a run that fails has looked after nothing.
      metric: pipelineMetric(SERVICE_METRICS.reconcilerRuns, { ...metric, statistic: 'Sum' }),
      threshold: 1,
      comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
      periods: 5,
      // A function that does not run reports nothing at all.
      missingData: TreatMissingData.BREACHING,
      severity: 'page',
      description:
        'The reconciler does not come to the end of its runs, so nothing that got stuck is moved on: check its schedule and its log.',
      runbookSection: 'reconciler-not-running',
    });
    addAlarm(this, 'Unconserved', alarms, {
      metric: new MathExpression({
        // The reconciler looks at what is open for a minute or more, the finalizer at everything that ends.
        expression: 'FILL(open, 0) + FILL(ending, 0)',
        usingMetrics: {
          open: pipelineMetric(SERVICE_METRICS.conservationDifference, { ...metric, statistic: 'Maximum' }),
          ending: pipelineMetric(SERVICE_METRICS.conservationDifference, {
            stageName,
            by: 'finalizer',
            statistic: 'Maximum',
          }),
        },
        period: Duration.minutes(1),
        label: 'outcomes too many',
      }),
      threshold: 0,
      comparison: ComparisonOperator.GREATER_THAN_THRESHOLD,
      // A submission is looked at again within a quarter of an hour: until then nobody knows better.
      periods: 15,
      datapoints: 1,
      missingData: TreatMissingData.NOT_BREACHING,
      severity: 'page',
      description:
        'A submission has more outcomes than records: stop its customer from using the counts, and find the defect.',
      runbookSection: 'conservation-broken',
    });
  }
}
