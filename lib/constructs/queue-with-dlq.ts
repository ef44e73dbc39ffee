import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, TreatMissingData, type IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { addAlarm, type Alarms } from './alarms.ts';

export interface QueueWithDlqProps {
  /** At least six times the consumer's timeout plus its batching window: see visibilityTimeoutSeconds in lambdas/domain/capacity.ts. */
  readonly visibilityTimeoutSeconds: number;
  readonly retentionDays: number;
  /** Absent: a key of SQS. */
  readonly encryptionKey: IKey | undefined;
  /** What waits in this queue, for the alarms' texts: `records of small files`. */
  readonly holds: string;
  /** Age of a waiting message that breaks what customers were promised. */
  readonly contractAgeSeconds: number;
  /** For how long the dead-letter queue has not been empty, in milliseconds, as the reconciler measures it. */
  readonly deadLettersAge: IMetric;
  readonly alarms: Alarms;
}

/** What a construct that has such a queue cannot know by itself. */
export type QueueSettings = Pick<QueueWithDlqProps, 'retentionDays' | 'encryptionKey' | 'alarms'>;

/**
 * Receives after which a message counts as poison. Planned returns are sent again as new messages, so only crashes and
 * throttled invocations count.
 */
const MAX_RECEIVE_COUNT = 5;

/**
 * The longest that SQS keeps a message. A message moves with its original time of sending, so a dead-letter queue must keep
 * messages longer than its source. What the alarm watches counts from the move: a dead letter may have used up all of its source's
 * retention before,
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/setting-up-dead-letter-queue-retention.html
 */
const DLQ_RETENTION_DAYS = 14;
/** What is at least left to redrive dead letters before they are lost, when their alarm rings. */
const DLQ_RESERVE_DAYS = 2;

/**
 * Messages of a standard queue that may be in flight. Beyond it a poller gets nothing, without an error,
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
 */
const IN_FLIGHT_QUOTA = 120_000;
/** Share of the quota at which the alarm rings. */
const IN_FLIGHT_ALARM_SHARE = 0.8;

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

  #addAlarms(props: QueueWithDlqProps): void {
    this.#watchQueue(props);
    this.#watchDeadLetters(props);
  }

  #watchQueue({ alarms, holds, contractAgeSeconds }: QueueWithDlqProps): void {
    const common = {
      comparison: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      periods: 5,
      // An idle queue reports no metrics after some hours.
      missingData: TreatMissingData.NOT_BREACHING,
    };
    addAlarm(this, 'OldestMessageAge', alarms, {
      ...common,
      metric: this.queue.metricApproximateAgeOfOldestMessage(PER_MINUTE),
      threshold: contractAgeSeconds,
      severity: 'page',
      description: `The oldest message with ${holds} waits longer than promised: find out whether its function runs and what it waits for.`,
      runbookSection: 'work-waits-too-long',
    });
    addAlarm(this, 'InFlight', alarms, {
      ...common,
      metric: this.queue.metricApproximateNumberOfMessagesNotVisible(PER_MINUTE),
      threshold: IN_FLIGHT_QUOTA * IN_FLIGHT_ALARM_SHARE,
      severity: 'ticket',
      description: `Messages with ${holds} in flight near the quota of SQS: find out what receives them without deleting them.`,
      runbookSection: 'in-flight-near-its-quota',
    });
  }

  #watchDeadLetters({ alarms, holds, retentionDays, deadLettersAge }: QueueWithDlqProps): void {
    addAlarm(this, 'DeadLetters', alarms, {
      // Not the number sent: what a redrive policy moves is not counted as sent.
      metric: this.dlq.metricApproximateNumberOfMessagesVisible(PER_MINUTE),
      threshold: 0,
      comparison: ComparisonOperator.GREATER_THAN_THRESHOLD,
      periods: 1,
      missingData: TreatMissingData.NOT_BREACHING,
      severity: 'ticket',
      description: `Messages with ${holds} were given up: find the cause, correct it, and redrive them.`,
      runbookSection: 'dead-letters',
    });
    addAlarm(this, 'DeadLettersExpiring', alarms, {
      // Not the age by SQS: it leaves out messages that were received three times or more, as every redrive does.
      metric: deadLettersAge,
      threshold: Duration.days(DLQ_RETENTION_DAYS - retentionDays - DLQ_RESERVE_DAYS).toMilliseconds(),
      comparison: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      periods: 5,
      missingData: TreatMissingData.NOT_BREACHING,
      severity: 'page',
      description: `Dead letters with ${holds} may expire within ${DLQ_RESERVE_DAYS} days: redrive or save them now.`,
      runbookSection: 'dead-letters-expiring',
    });
  }
}

const PER_MINUTE = { period: Duration.minutes(1), statistic: 'Maximum' };
