import { MathExpression, type IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import { LANES } from '../../../lambdas/domain/model.ts';
import { LANE_METRICS, SERVICE_METRICS } from '../../../lambdas/runtime/metric-names.ts';
import type { QueueWithDlq } from '../queue-with-dlq.ts';
import { graph, heading, LANE_LABELS, metricsOf, PER_MINUTE, type Shown } from './parts.ts';

const MAXIMUM = { ...PER_MINUTE, statistic: 'Maximum' };

/** Where is the backlog? */
export function backlog({ stage, queues }: Shown): IWidget[][] {
  const own = metricsOf(stage.name);
  const each = Object.entries(queues);
  const states = [
    [SERVICE_METRICS.openAccepted, 'accepted, to be read'],
    [SERVICE_METRICS.openProcessing, 'processing'],
    [SERVICE_METRICS.openFinalizing, 'finalizing'],
    [SERVICE_METRICS.openCancelling, 'cancelling'],
  ] as const;
  return [
    [
      heading(
        '# Where is the backlog?\nRecords without an outcome, submissions by state, and the four queues with everything that is in them.',
      ),
    ],
    [
      graph('Records without an outcome', {
        left: LANES.map((lane) =>
          own(LANE_METRICS.openRecords, {
            by: 'reconciler',
            of: { lane },
            statistic: 'Maximum',
            label: LANE_LABELS[lane],
          }),
        ),
        stacked: true,
      }),
      graph('Open submissions', {
        left: states.map(([metric, label]) => own(metric, { by: 'reconciler', statistic: 'Maximum', label })),
        stacked: true,
      }),
      graph('Accepted and rejected files, records read', {
        left: [
          own(SERVICE_METRICS.submissionsAccepted, { by: 'submit', statistic: 'Sum', label: 'files accepted' }),
          own(SERVICE_METRICS.submissionsRejected, { by: 'fan-out', statistic: 'Sum', label: 'files rejected' }),
        ],
        right: [
          own(SERVICE_METRICS.recordsFannedOut, { by: 'fan-out', statistic: 'Sum', label: 'records read (right)' }),
        ],
      }),
    ],
    [
      graph('Messages: visible, in flight and delayed', {
        left: each.map(([name, queue], index) => messages(name, queue, index)),
      }),
      graph('Oldest message (s)', {
        left: each.map(([name, { queue }]) => queue.metricApproximateAgeOfOldestMessage({ ...MAXIMUM, label: name })),
      }),
      graph('What does not get on by itself', {
        left: [
          own(SERVICE_METRICS.stalledFanOuts, { by: 'reconciler', statistic: 'Maximum', label: 'stalled fan-outs' }),
          own(SERVICE_METRICS.fanOutsRestarted, {
            by: 'reconciler',
            statistic: 'Sum',
            label: 'fan-outs started again',
          }),
          ...LANES.map((lane) =>
            own(LANE_METRICS.recordsResent, {
              by: 'reconciler',
              of: { lane },
              statistic: 'Sum',
              label: `records sent again, ${LANE_LABELS[lane]}`,
            }),
          ),
        ],
        right: [
          own(SERVICE_METRICS.outboxAge, { by: 'reconciler', statistic: 'Maximum', label: 'outbox age, ms (right)' }),
        ],
      }),
    ],
  ];
}

/** Ids of metrics are those of the whole graph, so each queue has its own. */
const messages = (label: string, { queue }: QueueWithDlq, index: number): MathExpression =>
  new MathExpression({
    expression: `visible${index} + inFlight${index} + delayed${index}`,
    usingMetrics: {
      [`visible${index}`]: queue.metricApproximateNumberOfMessagesVisible(MAXIMUM),
      [`inFlight${index}`]: queue.metricApproximateNumberOfMessagesNotVisible(MAXIMUM),
      [`delayed${index}`]: queue.metricApproximateNumberOfMessagesDelayed(MAXIMUM),
    },
    ...PER_MINUTE,
    label,
  });
