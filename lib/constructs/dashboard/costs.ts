import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric, type IMetric, type IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import { priceOf } from '../../../config/prices.ts';
import type { MonitoringCost } from '../metrics.ts';
import { graph, heading, type DashboardProps } from './widgets.ts';

const HOURLY = { period: Duration.hours(1), statistic: 'Sum' };

/** What does it cost? Estimates from what is measured, an hour at a time. */
export function costs(props: DashboardProps, monitoring: MonitoringCost): IWidget[][] {
  const { series, alarmMetrics, usdPerMonth } = monitoring;
  return [
    heading(
      '# What does it cost?\nUS dollars per hour at the list prices of us-east-1, estimated from usage: without storage, data transfer, index writes and free tiers. ' +
        `Watching all this costs at most ${usdPerMonth} dollars a month: ${series} metrics, ${alarmMetrics} metrics in alarms, this dashboard. What providers charge is in their contracts: their calls are counted above.`,
    ),
    [
      graph(
        'US dollars per hour, by service',
        { left: [lambda(props), queues(props), tables(props), api(props), logs(props)], stacked: true },
        1 / 2,
      ),
      graph('Seconds that functions ran per hour', { left: props.functions.map(runSeconds) }, 1 / 2),
    ],
  ];
}

/** `expression` of the sum of terms, each a metric with its factor. */
function sum(label: string, terms: readonly (readonly [metric: IMetric, factor: number])[]): MathExpression {
  const named = terms.map(([metric, factor], index) => {
    return { id: `${label.toLowerCase().replaceAll(/\W/g, '')}${index}`, metric, factor };
  });
  return new MathExpression({
    label,
    expression: named.map(({ id, factor }) => `FILL(${id}, 0) * ${factor.toFixed(16)}`).join(' + '),
    usingMetrics: Object.fromEntries(named.map(({ id, metric }) => [id, metric])),
    period: HOURLY.period,
  });
}

const lambda = ({ functions }: DashboardProps): MathExpression =>
  sum(
    'Lambda',
    functions.flatMap(({ fn, memoryMb }) => [
      [fn.metricDuration(HOURLY), priceOf('lambdaGbSecond', memoryMb / 1024 / 1000)] as const,
      [fn.metricInvocations(HOURLY), priceOf('lambdaRequest', 1)] as const,
    ]),
  );

/** Messages count as requests, which up to ten share: an upper bound. */
const queues = (props: DashboardProps): MathExpression =>
  sum(
    'SQS, at most',
    Object.values(props.queues).flatMap(({ queue }) =>
      [
        queue.metricNumberOfMessagesSent(HOURLY),
        queue.metricNumberOfMessagesReceived(HOURLY),
        queue.metricNumberOfMessagesDeleted(HOURLY),
        queue.metricNumberOfEmptyReceives(HOURLY),
      ].map((metric) => [metric, priceOf('sqsRequest', 1)] as const),
    ),
  );

const tables = (props: DashboardProps): MathExpression =>
  sum(
    'DynamoDB',
    props.tables.flatMap((table) => [
      [table.metricConsumedWriteCapacityUnits(HOURLY), priceOf('dynamoWrite', 1)] as const,
      [table.metricConsumedReadCapacityUnits(HOURLY), priceOf('dynamoRead', 1)] as const,
    ]),
  );

const api = (props: DashboardProps): MathExpression =>
  sum('API Gateway', [[props.api.count, priceOf('apiRequest', 1)]]);

const logs = ({ functions, accessLog }: DashboardProps): MathExpression =>
  sum(
    'Logs',
    [...functions.map(({ logGroup }) => logGroup), accessLog].map(({ logGroupName }) => [
      new Metric({
        namespace: 'AWS/Logs',
        metricName: 'IncomingBytes',
        dimensionsMap: { LogGroupName: logGroupName },
        ...HOURLY,
      }),
      priceOf('logGb', 1e-9),
    ]),
  );

const runSeconds = ({ fn, label }: DashboardProps['functions'][number], index: number): MathExpression =>
  new MathExpression({
    label,
    expression: `ran${index} / 1000`,
    usingMetrics: { [`ran${index}`]: fn.metricDuration(HOURLY) },
    period: HOURLY.period,
  });
