import type { IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { ProviderConfig } from '../../../lambdas/domain/providers/config.ts';
import { PROVIDER_METRICS } from '../../../lambdas/runtime/metric-names.ts';
import { graph, heading, metricsOf, type DashboardProps } from './widgets.ts';

/** A row of graphs for each provider. */
export const providers = (props: DashboardProps): IWidget[][] => [
  heading(
    '# What do the providers do?\nTheir answers against what they allow, how long they take, how long calls wait for a slot, and whether they are called at all.',
  ),
  ...props.providers.map((provider) => rowOf(props.stage.name, provider)),
];

function rowOf(stageName: string, { name, ratePerSecond, p99Ms, timeoutMs }: ProviderConfig): IWidget[] {
  const metrics = metricsOf(stageName);
  const of = { provider: name };
  const percentiles = (metric: typeof PROVIDER_METRICS.latency) =>
    ['p50', 'p99'].flatMap((percentile) => metrics('worker', percentile, [[metric, percentile]], of));
  const calls = {
    left: metrics(
      'worker',
      'Sum',
      [
        [PROVIDER_METRICS.callsAnswered, 'answered'],
        [PROVIDER_METRICS.answersReused, 'reused, no call'],
        [PROVIDER_METRICS.callsRejected, 'values refused'],
        [PROVIDER_METRICS.callsThrottled, '429'],
        [PROVIDER_METRICS.callsUnauthorized, 'credential refused'],
        [PROVIDER_METRICS.callsFailed, '5xx or no connection'],
        [PROVIDER_METRICS.callsTimedOut, 'timed out'],
        [PROVIDER_METRICS.callsUnusable, 'no usable answer'],
      ],
      of,
    ),
    leftAnnotations: [{ value: ratePerSecond * 60, label: 'limit' }],
    right: metrics('reconciler', 'Minimum', [[PROVIDER_METRICS.grantedRate, 'granted per second (right)']], of),
    stacked: true,
  };
  const latency = {
    left: percentiles(PROVIDER_METRICS.latency),
    leftAnnotations: [
      { value: p99Ms, label: 'p99 that capacity is derived from' },
      { value: timeoutMs, label: 'timeout' },
    ],
  };
  const stops = {
    left: metrics(
      'reconciler',
      'Maximum',
      [
        [PROVIDER_METRICS.breakerOpen, 'breaker open'],
        [PROVIDER_METRICS.blocked, 'blocked'],
        [PROVIDER_METRICS.canaryDistrusted, 'canary is wrong'],
      ],
      of,
    ),
    right: metrics(
      'worker',
      'Sum',
      [
        [PROVIDER_METRICS.breakerOpened, 'openings (right)'],
        [PROVIDER_METRICS.credentialsRefused, 'credential refused (right)'],
      ],
      of,
    ),
  };
  return [
    graph(`${name}: calls per minute`, calls, 1 / 4),
    graph(`${name}: latency (ms)`, latency, 1 / 4),
    graph(`${name}: wait for a slot (ms)`, { left: percentiles(PROVIDER_METRICS.pacerWait) }, 1 / 4),
    graph(`${name}: breaker and blocks`, stops, 1 / 4),
  ];
}
