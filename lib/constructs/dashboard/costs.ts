import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric, type IMetric, type IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { MonitoringCost } from '../monitoring-cost.ts';
import { graph, heading, type Shown } from './parts.ts';

/** US dollars in us-east-1, without free tiers; to be corrected for other regions and contracts. */
const PRICES = {
  /** arm64, https://aws.amazon.com/lambda/pricing/ */
  lambdaGbSecond: 0.0000133334,
  lambdaRequest: 0.2e-6,
  /** Standard queues, https://aws.amazon.com/sqs/pricing/ */
  sqsRequest: 0.4e-6,
  /** On demand, https://aws.amazon.com/dynamodb/pricing/on-demand/ */
  dynamoWrite: 0.625e-6,
  dynamoRead: 0.125e-6,
  /** REST API, https://aws.amazon.com/api-gateway/pricing/ */
  apiRequest: 3.5e-6,
  /** Ingestion of standard logs, https://aws.amazon.com/cloudwatch/pricing/ */
  logByte: 0.5e-9,
};

const HOURLY = { period: Duration.hours(1), statistic: 'Sum' };

/** What does it cost? Estimates from what is measured, an hour at a time. */
export function costs(shown: Shown, monitoring: MonitoringCost): IWidget[][] {
  const { series, alarmMetrics, usdPerMonth } = monitoring;
  return [
    [
      heading(
        '# What does it cost?\nUS dollars per hour at the list prices of us-east-1, estimated from usage: without storage, data transfer, index writes and free tiers. ' +
          `Watching all this costs at most ${usdPerMonth} dollars a month: ${series} metrics, ${alarmMetrics} metrics in alarms, this dashboard. What providers charge is in their contracts: their calls are counted above.`,
      ),
    ],
    [
      graph(
        'US dollars per hour, by service',
        { left: [lambda(shown), queues(shown), tables(shown), api(shown), logs(shown)], stacked: true },
        1 / 2,
      ),
      graph('Seconds that functions ran per hour', { left: shown.functions.map(runSeconds) }, 1 / 2),
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

const lambda = ({ functions }: Shown): MathExpression =>
  sum(
    'Lambda',
    functions.flatMap(({ fn, memoryMb }) => [
      [fn.metricDuration(HOURLY), (memoryMb / 1024 / 1000) * PRICES.lambdaGbSecond] as const,
      [fn.metricInvocations(HOURLY), PRICES.lambdaRequest] as const,
    ]),
  );

/** Messages count as requests, which up to ten share: an upper bound. */
const queues = (shown: Shown): MathExpression =>
  sum(
    'SQS, at most',
    Object.values(shown.queues).flatMap(({ queue }) =>
      [
        queue.metricNumberOfMessagesSent(HOURLY),
        queue.metricNumberOfMessagesReceived(HOURLY),
        queue.metricNumberOfMessagesDeleted(HOURLY),
        queue.metricNumberOfEmptyReceives(HOURLY),
      ].map((metric) => [metric, PRICES.sqsRequest] as const),
    ),
  );

const tables = (shown: Shown): MathExpression =>
  sum(
    'DynamoDB',
    shown.tables.flatMap((table) => [
      [table.metricConsumedWriteCapacityUnits(HOURLY), PRICES.dynamoWrite] as const,
      [table.metricConsumedReadCapacityUnits(HOURLY), PRICES.dynamoRead] as const,
    ]),
  );

const api = (shown: Shown): MathExpression => sum('API Gateway', [[shown.api.count, PRICES.apiRequest]]);

const logs = ({ functions, accessLog }: Shown): MathExpression =>
  sum(
    'Logs',
    [...functions.map(({ logGroup }) => logGroup), accessLog].map(({ logGroupName }) => [
      new Metric({
        namespace: 'AWS/Logs',
        metricName: 'IncomingBytes',
        dimensionsMap: { LogGroupName: logGroupName },
        ...HOURLY,
      }),
      PRICES.logByte,
    ]),
  );

const runSeconds = ({ fn, label }: Shown['functions'][number], index: number): MathExpression =>
  new MathExpression({
    label,
    expression: `ran${index} / 1000`,
    usingMetrics: { [`ran${index}`]: fn.metricDuration(HOURLY) },
    period: HOURLY.period,
  });
