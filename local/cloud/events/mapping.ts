import * as v from 'valibot';
import type { Cloud, DeployedResource } from '../contract.ts';
import { numeric, readProperties, refuse } from '../properties.ts';

/** Defaults of the service, https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-parameters.html */
const DEFAULT_BATCH_SIZE = 10;

/** One queue that invokes one function. */
export interface SqsMapping {
  readonly id: string;
  readonly functionName: string;
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly enabled: boolean;
  /** Messages per invocation at most. */
  readonly batchSize: number;
  /** How long a batch is filled at most. */
  readonly windowMs: number;
  /** Invocations at the same time; undefined where the mapping sets no limit. */
  readonly maxConcurrency: number | undefined;
  readonly reportsItemFailures: boolean;
}

const mappingSchema = v.object({
  EventSourceArn: v.string(),
  FunctionName: v.string(),
  BatchSize: v.optional(numeric, DEFAULT_BATCH_SIZE),
  Enabled: v.optional(v.boolean(), true),
  MaximumBatchingWindowInSeconds: v.optional(numeric, 0),
  ScalingConfig: v.optional(
    v.object({ MaximumConcurrency: v.optional(v.pipe(numeric, v.minValue(2), v.maxValue(1000))) }),
    {},
  ),
  FunctionResponseTypes: v.optional(v.array(v.literal('ReportBatchItemFailures')), []),
});

/**
 * Reads an event source mapping of the templates.
 *
 * @throws LocalCloudError naming the mapping and what about it cannot run here
 */
export function readMapping(resource: DeployedResource, cloud: Pick<Cloud, 'find'>): SqsMapping {
  const properties = readProperties(mappingSchema, resource);
  const { EventSourceArn, FunctionName, BatchSize, MaximumBatchingWindowInSeconds, ScalingConfig } = properties;
  const queue = cloud.find(EventSourceArn);
  if (queue?.type !== 'AWS::SQS::Queue')
    return refuse(resource, `its source ${EventSourceArn} is not a queue of these templates`);
  const target = cloud.find(FunctionName);
  if (target?.type !== 'AWS::Lambda::Function')
    return refuse(resource, `${FunctionName} is not a function of these templates`);
  if (BatchSize > 10 && MaximumBatchingWindowInSeconds < 1) {
    return refuse(resource, `a batch size of ${BatchSize} needs a batching window of at least one second`);
  }
  return {
    id: resource.physicalId,
    functionName: target.physicalId,
    queueUrl: queue.physicalId,
    queueArn: queue.arn,
    enabled: properties.Enabled,
    batchSize: BatchSize,
    windowMs: MaximumBatchingWindowInSeconds * 1000,
    maxConcurrency: ScalingConfig.MaximumConcurrency,
    reportsItemFailures: properties.FunctionResponseTypes.includes('ReportBatchItemFailures'),
  };
}
