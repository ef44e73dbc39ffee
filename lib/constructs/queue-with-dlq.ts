import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { addAlarm, isWatched, type Alarms } from './alarms.ts';

export interface QueueWithDlqProps {
  /** At least six times the consumer's timeout plus its batching window: see visibilityTimeoutSeconds in lambdas/domain/capacity.ts. */
  readonly visibilityTimeoutSeconds: number;
  readonly retentionDays: number;
  /** Absent: a key of SQS. */
  readonly encryptionKey: IKey | undefined;
  /** What waits in this queue, for the alarms' texts: `records of small files`. */
  readonly holds: string;
  readonly alarms: Alarms;
}

/**
 * Receives after which a message counts as poison. Planned returns are sent again as new messages, so only crashes and
 * throttled invocations count.
 */
const MAX_RECEIVE_COUNT = 5;

/**
 * The longest that SQS keeps a message. A message moves with its original time of sending, so a dead-letter queue must keep
 * messages longer than its source, https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html
 */
const DLQ_RETENTION_DAYS = 14;
/** Age at which dead letters are about to be lost: time is left to redrive them. */
const DLQ_ALARM_DAYS = 10;

/** A queue, the dead-letter queue behind it, and the alarms of both. */
export class QueueWithDlq extends Construct {
  readonly queue: sqs.Queue;
  readonly dlq: sqs.Queue;

  constructor(scope: Construct, id: string, props: QueueWithDlqProps) {
    super(scope, id);
    const common = {
      enforceSSL: true,
      encryption: props.encryptionKey ? sqs.QueueEncryption.KMS : sqs.QueueEncryption.SQS_MANAGED,
      ...(props.encryptionKey ? { encryptionMasterKey: props.encryptionKey } : {}),
    };
    this.dlq = new sqs.Queue(this, 'Dlq', { retentionPeriod: Duration.days(DLQ_RETENTION_DAYS), ...common });
    this.queue = new sqs.Queue(this, 'Queue', {
      visibilityTimeout: Duration.seconds(props.visibilityTimeoutSeconds),
      retentionPeriod: Duration.days(props.retentionDays),
      deadLetterQueue: { queue: this.dlq, maxReceiveCount: MAX_RECEIVE_COUNT },
      ...common,
    });
    this.#addAlarms(props);
  }

  #addAlarms({ alarms, holds }: QueueWithDlqProps): void {
    const perMinute = { period: Duration.minutes(1), statistic: 'Maximum' };
    if (isWatched(alarms)) {
      addAlarm(this, 'OldestMessageAge', alarms, {
        metric: this.queue.metricApproximateAgeOfOldestMessage(perMinute),
        threshold: alarms.contractAgeSeconds,
        comparison: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        periods: 5,
        // A queue that nobody uses for some hours reports nothing.
        missingData: TreatMissingData.NOT_BREACHING,
        severity: 'page',
        description: `The oldest message with ${holds} waits longer than promised: find out whether its function runs and what it waits for.`,
        runbookSection: 'work-waits-too-long',
      });
    }
    addAlarm(this, 'DeadLetters', alarms, {
      // Not the number sent: what a redrive policy moves is not counted as sent.
      metric: this.dlq.metricApproximateNumberOfMessagesVisible(perMinute),
      threshold: 0,
      comparison: ComparisonOperator.GREATER_THAN_THRESHOLD,
      periods: 1,
      missingData: TreatMissingData.NOT_BREACHING,
      severity: 'ticket',
      description: `Messages with ${holds} were given up: find the cause, correct it, and redrive them.`,
      runbookSection: 'dead-letters',
    });
    addAlarm(this, 'DeadLettersExpiring', alarms, {
      metric: this.dlq.metricApproximateAgeOfOldestMessage(perMinute),
      threshold: Duration.days(DLQ_ALARM_DAYS).toSeconds(),
      comparison: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      periods: 5,
      missingData: TreatMissingData.NOT_BREACHING,
      severity: 'page',
      description: `Dead letters with ${holds} expire within ${DLQ_RETENTION_DAYS - DLQ_ALARM_DAYS} days: redrive or save them now.`,
      runbookSection: 'dead-letters-expiring',
    });
  }
}
