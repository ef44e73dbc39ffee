import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { visibilityTimeoutSeconds } from '../../lambdas/domain/capacity.ts';
import { SERVICE_METRICS } from '../../lambdas/runtime/metric-names.ts';
import { webhooksEnvironment } from '../../lambdas/webhooks/env.ts';
import { addAlarm } from './alarms.ts';
import { consumeQueue } from './consume-queue.ts';
import { NEWER_MESSAGES_PERIOD, watchNewerMessages } from './error-alarms.ts';
import { pipelineMetric } from './metrics.ts';
import { PipelineFunction, type FunctionSettings } from './pipeline-function.ts';
import { QueueWithDlq, type QueueSettings } from './queue-with-dlq.ts';
import { ofKeys } from './tables.ts';

export interface WebhooksProps {
  readonly settings: FunctionSettings;
  readonly queue: QueueSettings;
  readonly webhooks: ITable;
}

/** An attempt takes ten seconds at most; the attempts of a batch run side by side. */
const TIMEOUT_SECONDS = 30;
const BATCH_SIZE = 10;
/**
 * With a batch, 50 attempts at the same time: more than the 30 messages in flight from which SQS lets other tenants' messages overtake
 * those of one that has many.
 */
const MAX_CONCURRENCY = 5;
/** Deliveries wait up to a quarter of an hour on the queue for their next attempt. */
const CONTRACT_AGE_SECONDS = 1_800;

/** Tells customers' endpoints of events. Nothing else waits for it. */
export class Webhooks extends Construct {
  readonly queue: QueueWithDlq;
  readonly fn: PipelineFunction<typeof webhooksEnvironment>;

  constructor(scope: Construct, id: string, props: WebhooksProps) {
    super(scope, id);
    const { settings, webhooks } = props;
    this.queue = new QueueWithDlq(this, 'Requests', {
      ...props.queue,
      contractAgeSeconds: CONTRACT_AGE_SECONDS,
      visibilityTimeoutSeconds: visibilityTimeoutSeconds(TIMEOUT_SECONDS),
      deadLettersAge: pipelineMetric(SERVICE_METRICS.webhookDeadLettersAge, {
        stageName: settings.stageName,
        by: 'reconciler',
        statistic: 'Maximum',
      }),
      holds: 'events and deliveries of webhooks',
    });
    this.fn = new PipelineFunction(this, 'Webhooks', {
      settings,
      name: 'webhooks',
      description: "Tells customers' endpoints of events",
      schema: webhooksEnvironment,
      environment: {
        WEBHOOKS_TABLE: webhooks.tableName,
        WEBHOOKS_QUEUE_URL: this.queue.queue.queueUrl,
        DELIVER_TO: 'public',
      },
      timeoutSeconds: TIMEOUT_SECONDS,
      memoryMb: 256,
      // A delivery is repeated for a day.
      sendsToItself: true,
    });
    consumeQueue(this.fn, { source: this.queue, batchSize: BATCH_SIZE, maxConcurrency: MAX_CONCURRENCY });
    this.#grant(webhooks);
    this.#addAlarms(settings);
  }

  #grant(webhooks: ITable): void {
    // Where an event goes; an endpoint that is gone is disabled.
    this.fn.allow(
      'FindEndpoints',
      ['dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:UpdateItem'],
      [webhooks.tableArn],
      ofKeys('endpoints#*'),
    );
    this.fn.allow('SignDeliveries', ['dynamodb:GetItem'], [webhooks.tableArn], ofKeys('secrets#*'));
    this.fn.allow(
      'TrackDeliveries',
      ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
      [webhooks.tableArn],
      ofKeys('deliveries#*'),
    );
    this.fn.allow('TryAgainLater', ['sqs:SendMessage'], [this.queue.queue.queueArn]);
  }

  #addAlarms({ alarms, stageName }: FunctionSettings): void {
    watchNewerMessages(this, {
      alarms,
      what: 'The webhooks queue',
      metric: pipelineMetric(SERVICE_METRICS.newerMessages, {
        stageName,
        by: 'webhooks',
        statistic: 'Sum',
        period: NEWER_MESSAGES_PERIOD,
      }),
    });
    addAlarm(this, 'GivenUp', alarms, {
      metric: pipelineMetric(SERVICE_METRICS.webhooksGivenUp, {
        stageName,
        by: 'webhooks',
        statistic: 'Sum',
        period: Duration.hours(1),
      }),
      threshold: 1,
      comparison: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      periods: 1,
      missingData: TreatMissingData.NOT_BREACHING,
      severity: 'ticket',
      description:
        "Deliveries of webhooks were given up after a day: tell the customer that the endpoint named in the webhooks function's log does not answer.",
      runbookSection: 'webhooks-are-given-up',
    });
  }
}
