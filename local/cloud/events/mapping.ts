import * as v from 'valibot';
import type { Cloud, DeployedResource } from '../contract.ts';
import { LocalCloudError } from '../errors.ts';

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

const number = v.pipe(v.union([v.number(), v.string()]), v.transform(Number), v.number());

const mappingSchema = v.object({
  EventSourceArn: v.string(),
  FunctionName: v.string(),
  BatchSize: v.optional(number, DEFAULT_BATCH_SIZE),
  Enabled: v.optional(v.boolean(), true),
  MaximumBatchingWindowInSeconds: v.optional(number, 0),
  ScalingConfig: v.optional(
    v.object({ MaximumConcurrency: v.optional(v.pipe(number, v.minValue(2), v.maxValue(1000))) }),
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
  const fail = (what: string): never => {
    throw new LocalCloudError(`${resource.path} (${resource.type}): ${what}.`);
  };
  const parsed = v.safeParse(mappingSchema, resource.properties);
  if (!parsed.success) {
    const issue = parsed.issues[0];
    return fail(`${v.getDotPath(issue) ?? 'it'}: ${issue.message}`);
  }
  const { EventSourceArn, FunctionName, BatchSize, MaximumBatchingWindowInSeconds, ScalingConfig } = parsed.output;
  const queue = cloud.find(EventSourceArn);
  if (queue?.type !== 'AWS::SQS::Queue') return fail(`its source ${EventSourceArn} is not a queue of these templates`);
  const target = cloud.find(FunctionName);
  if (target?.type !== 'AWS::Lambda::Function') return fail(`${FunctionName} is not a function of these templates`);
  if (BatchSize > 10 && MaximumBatchingWindowInSeconds < 1) {
    return fail(`a batch size of ${BatchSize} needs a batching window of at least one second`);
  }
  return {
    id: resource.physicalId,
    functionName: target.physicalId,
    queueUrl: queue.physicalId,
    queueArn: queue.arn,
    enabled: parsed.output.Enabled,
    batchSize: BatchSize,
    windowMs: MaximumBatchingWindowInSeconds * 1000,
    maxConcurrency: ScalingConfig.MaximumConcurrency,
    reportsItemFailures: parsed.output.FunctionResponseTypes.includes('ReportBatchItemFailures'),
  };
}
