import { RetentionDays } from 'aws-cdk-lib/aws-logs';

/**
 * The library's word for a retention in days.
 *
 * @throws Error for a number of days that CloudWatch Logs does not offer.
 */
export function logRetention(days: number): RetentionDays {
  const retention = Object.values(RetentionDays).find((value): value is RetentionDays => Number(value) === days);
  if (retention === undefined)
    throw new Error(`CloudWatch Logs cannot keep logs for ${days} days: choose another number.`);
  return retention;
}
