import { Duration } from 'aws-cdk-lib';
import type { IMetric, IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { ProviderConfig } from '../../../lambdas/domain/providers/config.ts';
import { PROVIDER_METRICS } from '../../../lambdas/runtime/metric-names.ts';
import { graph, heading, metricsOf, type Shown } from './parts.ts';

const CALLS = [
  [PROVIDER_METRICS.callsAnswered, 'answered'],
  [PROVIDER_METRICS.callsRejected, 'values refused'],
  [PROVIDER_METRICS.callsThrottled, '429'],
  [PROVIDER_METRICS.callsUnauthorized, 'credential refused'],
  [PROVIDER_METRICS.callsFailed, '5xx or no connection'],
  [PROVIDER_METRICS.callsTimedOut, 'timed out'],
  [PROVIDER_METRICS.callsUnusable, 'no usable answer'],
] as const;

/** What do the providers do? A row for each. */
export const providers = (shown: Shown): IWidget[][] => [
  [
    heading(
      '# What do the providers do?\nTheir answers against what they allow, how long they take, how long calls wait for their turn, and whether they are called at all.',
    ),
  ],
  ...shown.providers.map((provider) => rowOf(shown.stage.name, provider)),
];

function rowOf(stageName: string, { name, ratePerSecond, p99Ms, timeoutMs }: ProviderConfig): IWidget[] {
  const own = metricsOf(stageName);
  const of = { provider: name };
  const percentiles = (metric: typeof PROVIDER_METRICS.latency): IMetric[] =>
    ['p50', 'p99'].map((statistic) => own(metric, { by: 'worker', of, statistic, label: statistic }));
  return [
    graph(
      `${name}: calls per minute`,
      {
        left: CALLS.map(([metric, label]) => own(metric, { by: 'worker', of, statistic: 'Sum', label })),
        leftAnnotations: [{ value: ratePerSecond * 60, label: 'limit' }],
        stacked: true,
      },
      1 / 4,
    ),
    graph(
      `${name}: latency (ms)`,
      {
        left: percentiles(PROVIDER_METRICS.latency),
        leftAnnotations: [
          { value: p99Ms, label: 'p99 that capacity is derived from' },
          { value: timeoutMs, label: 'timeout' },
        ],
      },
      1 / 4,
    ),
    graph(`${name}: wait for a slot (ms)`, { left: percentiles(PROVIDER_METRICS.pacerWait) }, 1 / 4),
    graph(
      `${name}: breaker and blocks`,
      {
        left: [
          own(PROVIDER_METRICS.breakerOpen, { by: 'reconciler', of, statistic: 'Maximum', label: 'breaker open' }),
          own(PROVIDER_METRICS.blocked, { by: 'reconciler', of, statistic: 'Maximum', label: 'blocked' }),
        ],
        right: [
          own(PROVIDER_METRICS.breakerOpened, {
            by: 'worker',
            of,
            statistic: 'Sum',
            period: Duration.minutes(5),
            label: 'openings (right)',
          }),
          own(PROVIDER_METRICS.credentialsRefused, {
            by: 'worker',
            of,
            statistic: 'Sum',
            period: Duration.minutes(5),
            label: 'credential refused (right)',
          }),
        ],
      },
      1 / 4,
    ),
  ];
}
