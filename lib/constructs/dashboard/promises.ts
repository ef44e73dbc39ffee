import { AlarmStatusWidget, SingleValueWidget, type IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import { LANES } from '../../../lambdas/domain/model.ts';
import { LANE_METRICS, SERVICE_METRICS } from '../../../lambdas/runtime/metric-names.ts';
import { isWatched } from '../alarms.ts';
import { graph, heading, LANE_LABELS, metricsOf, type Shown } from './parts.ts';

/** Are the promises kept? */
export function promises({ stage, alarms }: Shown): IWidget[][] {
  const own = metricsOf(stage.name);
  const contract = stage.contractAgeSeconds;
  const ages = LANES.map((lane) =>
    own(LANE_METRICS.oldestUnfinished, {
      by: 'reconciler',
      of: { lane },
      statistic: 'Maximum',
      label: LANE_LABELS[lane],
    }),
  );
  const recordAges = LANES.flatMap((lane) =>
    ['p50', 'p99'].map((statistic) =>
      own(LANE_METRICS.recordAge, {
        by: 'worker',
        of: { lane },
        statistic,
        label: `${LANE_LABELS[lane]} ${statistic}`,
      }),
    ),
  );
  const ended = [
    [SERVICE_METRICS.submissionsComplete, 'complete'],
    [SERVICE_METRICS.submissionsPartiallyFailed, 'partially failed'],
    [SERVICE_METRICS.submissionsFailed, 'failed'],
    [SERVICE_METRICS.submissionsCancelled, 'cancelled'],
    [SERVICE_METRICS.submissionsExpired, 'expired'],
  ] as const;
  return [
    [
      heading(
        '# Are the promises kept?\nAlarms that page, the age of what is open against the contract, and whether every record is accounted for.',
      ),
    ],
    isWatched(alarms)
      ? [new AlarmStatusWidget({ title: 'Alarms that page', alarms: [...alarms.pages], width: 24, height: 4 })]
      : [],
    [
      graph('Longest wait of an open submission (ms)', {
        left: ages,
        leftAnnotations: LANES.map((lane) => ({
          value: contract[lane] * 1_000,
          label: `contract, ${LANE_LABELS[lane]}`,
        })),
      }),
      graph('Age of records at their outcome (ms)', { left: recordAges }),
      graph('Submissions that ended', {
        left: ended.map(([metric, label]) => own(metric, { by: 'finalizer', statistic: 'Sum', label })),
        stacked: true,
      }),
    ],
    [
      new SingleValueWidget({
        title: 'Now',
        width: 24,
        height: 3,
        metrics: [
          own(SERVICE_METRICS.conservationDifference, {
            by: 'reconciler',
            statistic: 'Maximum',
            label: 'outcomes too many (must be 0)',
          }),
          own(SERVICE_METRICS.reconcilerRuns, { by: 'reconciler', statistic: 'Sum', label: 'runs of the reconciler' }),
          own(SERVICE_METRICS.submissionDuration, { by: 'finalizer', statistic: 'p99', label: 'submission, p99 (ms)' }),
        ],
      }),
    ],
  ];
}
