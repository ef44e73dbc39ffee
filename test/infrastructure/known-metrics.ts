import { providersOf, type Stage } from '../../config/stage.ts';
import { METRIC_NAMESPACE } from '../../lambdas/runtime/metric-names.ts';
import { metricSeries } from '../../lib/constructs/metrics.ts';

/** What names a series: CloudWatch finds nothing under other dimensions. */
export interface MetricKey {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, unknown>>;
}

/** Metrics that services publish by themselves, with the dimensions under which they do. */
const SERVICE_PUBLISHED: Readonly<Record<string, { dimensions: readonly string[]; names: readonly string[] }>> = {
  // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
  'AWS/SQS': {
    dimensions: ['QueueName'],
    names: [
      'ApproximateAgeOfOldestMessage',
      'ApproximateNumberOfMessagesDelayed',
      'ApproximateNumberOfMessagesNotVisible',
      'ApproximateNumberOfMessagesVisible',
      'NumberOfEmptyReceives',
      'NumberOfMessagesDeleted',
      'NumberOfMessagesReceived',
      'NumberOfMessagesSent',
    ],
  },
  // https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
  'AWS/Lambda': {
    dimensions: ['FunctionName'],
    names: ['ConcurrentExecutions', 'Duration', 'Errors', 'Invocations', 'Throttles'],
  },
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html
  'AWS/ApiGateway': {
    dimensions: ['ApiName', 'Stage'],
    names: ['4XXError', '5XXError', 'Count', 'IntegrationLatency', 'Latency'],
  },
  // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html
  'AWS/DynamoDB': { dimensions: ['TableName'], names: ['ConsumedReadCapacityUnits', 'ConsumedWriteCapacityUnits'] },
  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CloudWatch-Logs-Monitoring-CloudWatch-Metrics.html
  'AWS/Logs': { dimensions: ['LogGroupName'], names: ['IncomingBytes', 'IncomingLogEvents'] },
};

const keyOf = ({ namespace, name, dimensions }: MetricKey): string =>
  JSON.stringify([namespace, name, Object.entries(dimensions).sort(([a], [b]) => (a < b ? -1 : 1))]);

/** Tells of a metric whether a function of the stage emits it or a service publishes it, under exactly these dimensions. */
export function isEmittedIn(stage: Stage): (metric: MetricKey) => boolean {
  const own = new Set(
    metricSeries(
      stage.name,
      providersOf(stage).map(({ name }) => name),
    ).map(keyOf),
  );
  return (metric) => {
    if (metric.namespace === METRIC_NAMESPACE) return own.has(keyOf(metric));
    const published = SERVICE_PUBLISHED[metric.namespace];
    const names = Object.keys(metric.dimensions).sort();
    return published?.names.includes(metric.name) === true && names.join() === [...published.dimensions].sort().join();
  };
}
