import { Duration } from 'aws-cdk-lib';
import { MathExpression, type IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { addAlarm, type Alarms } from './alarms.ts';

export interface ErrorAlarmsProps {
  readonly alarms: Alarms;
  /** Who meets the errors, as the beginning of a sentence: `Workers of the small lane`. */
  readonly what: string;
  /** Defects, summed over five minutes. */
  readonly errors: IMetric;
  /** Failed calls to AWS, summed over five minutes. */
  readonly dependencyFailures: IMetric;
  /** Calls to AWS that are refused until a person acts, summed over {@link MISCONFIGURATION_PERIOD}. */
  readonly misconfigurations: IMetric;
}

/** Failed calls in five minutes that are more than the throttles of a burst. */
const FAILURES_THRESHOLD = 10;

/** Longer than the longest wait between two tries of one message, so that a single waiting message rings. */
export const MISCONFIGURATION_PERIOD = Duration.minutes(3);

/** What functions caught, so that no other metric counts it: their own errors, and calls to AWS that do not work. */
export function watchErrors(
  scope: Construct,
  { alarms, what, errors, dependencyFailures, misconfigurations }: ErrorAlarmsProps,
): void {
  addAlarm(scope, 'UnexpectedErrors', alarms, {
    severity: 'ticket',
    metric: errors,
    threshold: 1,
    description: `${what} met an error that is a defect of ours: read it with the saved query about unexpected errors.`,
    runbookSection: 'unexpected-errors',
  });
  addAlarm(scope, 'DependencyFailures', alarms, {
    severity: 'ticket',
    // Only failures are written. Without FILL, CloudWatch would evaluate older values after the last failure, and ring again.
    metric: new MathExpression({
      expression: 'FILL(failures, 0)',
      usingMetrics: { failures: dependencyFailures },
      period: Duration.minutes(5),
      label: 'failed calls to AWS',
    }),
    threshold: FAILURES_THRESHOLD,
    // A throttle passes.
    periods: 2,
    description: `${what} keep failing at calls to AWS: look for a throttled table or an event of the service.`,
    runbookSection: 'calls-to-aws-fail',
  });
  addAlarm(scope, 'Misconfigured', alarms, {
    metric: new MathExpression({
      expression: 'FILL(refused, 0)',
      usingMetrics: { refused: misconfigurations },
      period: MISCONFIGURATION_PERIOD,
      label: 'calls to AWS that need a person',
    }),
    threshold: 1,
    // A policy that is being deployed denies for some seconds.
    periods: 3,
    datapoints: 2,
    severity: 'page',
    description: `${what} are denied something, or miss a key, secret or resource: the saved query "Denied or misconfigured" names action and resource; allow or restore it. Work waits.`,
    runbookSection: 'denied-or-misconfigured',
  });
}

/** Longer than the longest wait between two returns of one message, so that a single waiting message rings. */
export const NEWER_MESSAGES_PERIOD = Duration.minutes(20);

/** Messages that have waited for a newer version for longer than a deployment takes; the metric is summed over {@link NEWER_MESSAGES_PERIOD}. */
export function watchNewerMessages(
  scope: Construct,
  { alarms, what, metric }: { readonly alarms: Alarms; readonly what: string; readonly metric: IMetric },
): void {
  addAlarm(scope, 'NewerMessages', alarms, {
    metric,
    threshold: 1,
    severity: 'ticket',
    description: `${what} holds messages that only a newer version can read: finish the deployment, or deploy that version again.`,
    runbookSection: 'messages-of-a-newer-version',
  });
}
