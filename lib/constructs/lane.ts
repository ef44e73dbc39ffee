import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { Capacity } from '../../lambdas/domain/capacity.ts';
import type { Lane as LaneName } from '../../lambdas/domain/model.ts';
import { LANE_METRICS } from '../../lambdas/runtime/metric-names.ts';
import { workerEnvironment } from '../../lambdas/worker/env.ts';
import { consumeQueue } from './consume-queue.ts';
import { watchLane } from './lane-alarms.ts';
import { pipelineMetric } from './metrics.ts';
import { PipelineFunction, type FunctionSettings } from './pipeline-function.ts';
import { QueueWithDlq, type QueueSettings } from './queue-with-dlq.ts';

export interface LaneProps {
  readonly lane: LaneName;
  readonly capacity: Capacity;
  readonly batchSize: number;
  readonly memoryMb: number;
  readonly queue: QueueSettings;
  /** Age at which waiting work of a lane breaks what customers were promised. */
  readonly contractAgeSeconds: Readonly<Record<LaneName, number>>;
  readonly settings: FunctionSettings;
  /** JSON objects by provider name, see lambdas/runtime/variables.ts. */
  readonly providerBaseUrls: string;
  readonly providerRates: string;
  readonly providerBursts: string;
  readonly successLogShare: number;
  /** Records that a lane can finish within its contract, see lane-alarms.ts. */
  readonly clearableRecords: Readonly<Record<LaneName, number>>;
  readonly finalizeQueue: QueueWithDlq;
  readonly submissions: ITable;
  readonly records: ITable;
  readonly providers: ITable;
  readonly providersSecret: ISecret;
}

/** Crashed or timed-out invocations in five minutes that are more than one unlucky record. */
const WORKER_ERROR_THRESHOLD = 3;

/** One lane: its queue, and the worker that enriches the records in it. */
export class Lane extends Construct {
  readonly queue: QueueWithDlq;
  readonly worker: PipelineFunction<typeof workerEnvironment>;

  constructor(scope: Construct, id: string, props: LaneProps) {
    super(scope, id);
    const { lane, capacity, batchSize, settings } = props;
    this.queue = new QueueWithDlq(this, 'Records', {
      ...props.queue,
      contractAgeSeconds: props.contractAgeSeconds[lane],
      visibilityTimeoutSeconds: capacity.visibilityTimeoutSeconds,
      deadLettersAge: pipelineMetric(LANE_METRICS.deadLettersAge, {
        stageName: settings.stageName,
        by: 'reconciler',
        of: { lane },
        statistic: 'Maximum',
      }),
      holds: `records of the ${lane} lane`,
    });
    this.worker = new PipelineFunction(this, 'Worker', {
      settings,
      name: 'worker',
      label: `worker, ${lane} lane`,
      description: `Validates and enriches the records of the ${lane} lane`,
      schema: workerEnvironment,
      environment: {
        SUBMISSIONS_TABLE: props.submissions.tableName,
        RECORDS_TABLE: props.records.tableName,
        PROVIDERS_TABLE: props.providers.tableName,
        PROVIDERS_SECRET_ARN: props.providersSecret.secretArn,
        PROVIDER_BASE_URLS: props.providerBaseUrls,
        PROVIDER_RATES: props.providerRates,
        PROVIDER_BURSTS: props.providerBursts,
        PROVIDER_CALLS_PER_WORKER: JSON.stringify(capacity.callsPerWorker),
        LANE: lane,
        LANE_QUEUE_URL: this.queue.queue.queueUrl,
        LANE_DLQ_URL: this.queue.dlq.queueUrl,
        FINALIZE_QUEUE_URL: props.finalizeQueue.queue.queueUrl,
        SUCCESS_LOG_SHARE: String(props.successLogShare),
      },
      timeoutSeconds: capacity.functionTimeoutSeconds,
      memoryMb: props.memoryMb,
      // A record that waits for a provider comes back as often as it must.
      sendsToItself: true,
      errorThreshold: WORKER_ERROR_THRESHOLD,
    });
    consumeQueue(this.worker, {
      source: this.queue,
      batchSize,
      batchWindowSeconds: capacity.batchWindowSeconds,
      maxConcurrency: capacity.maxConcurrency[lane],
    });
    this.#grant(props);
    watchLane(this, {
      lane,
      settings,
      queue: this.queue.queue,
      contractAgeSeconds: props.contractAgeSeconds[lane],
      clearableRecords: props.clearableRecords[lane],
    });
  }

  #grant(props: LaneProps): void {
    const { worker, queue } = this;
    // Heads of a batch at once, to see stops and generations; the ledger; closing full chunks and starting finalization.
    worker.allow('KeepLedger', ['dynamodb:GetItem', 'dynamodb:UpdateItem'], [props.submissions.tableArn]);
    // What is known of a record, and what became of it.
    worker.allow(
      'WriteOutcomes',
      ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:PutItem'],
      [props.records.tableArn],
    );
    // Reserving slots, and the breaker.
    worker.allow('ShareProviders', ['dynamodb:GetItem', 'dynamodb:UpdateItem'], [props.providers.tableArn]);
    worker.allow('ReadCredentials', ['secretsmanager:GetSecretValue'], [props.providersSecret.secretArn]);
    // Records that wait or are tried again, those that are given up, and the message that starts finalization.
    worker.allow(
      'SendOn',
      ['sqs:SendMessage'],
      [queue.queue.queueArn, queue.dlq.queueArn, props.finalizeQueue.queue.queueArn],
    );
  }
}
