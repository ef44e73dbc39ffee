import * as v from 'valibot';
import dev from '../../config/stages/dev.ts';
import prod from '../../config/stages/prod.ts';
import { MAX_RECEIVE_COUNT } from '../../lambdas/domain/limits.ts';
import { synthesize } from './synthesized.ts';

const queueSchema = v.object({
  VisibilityTimeout: v.optional(v.number()),
  MessageRetentionPeriod: v.number(),
  SqsManagedSseEnabled: v.optional(v.boolean()),
  RedrivePolicy: v.optional(v.object({ deadLetterTargetArn: v.unknown(), maxReceiveCount: v.number() })),
});
const policySchema = v.object({
  Queues: v.array(v.unknown()),
  PolicyDocument: v.object({ Statement: v.array(v.record(v.string(), v.unknown())) }),
});
const sourceSchema = v.object({
  EventSourceArn: v.unknown(),
  FunctionName: v.unknown(),
  BatchSize: v.number(),
  MaximumBatchingWindowInSeconds: v.optional(v.number(), 0),
  FunctionResponseTypes: v.array(v.string()),
  ScalingConfig: v.object({ MaximumConcurrency: v.number() }),
});
const functionSchema = v.object({ Timeout: v.number(), ReservedConcurrentExecutions: v.optional(v.number()) });

describe.each([dev, prod])('the queues of $name', (stage) => {
  const { ofType, referenced } = synthesize(stage);
  const queues = ofType('AWS::SQS::Queue', queueSchema);
  const policies = ofType('AWS::SQS::QueuePolicy', policySchema);
  const functions = new Map(ofType('AWS::Lambda::Function', functionSchema).map((fn) => [fn.id, fn.properties]));
  const eventSources = ofType('AWS::Lambda::EventSourceMapping', sourceSchema).map(({ properties }) => ({
    ...properties,
    queue: queues.find(({ id }) => id === referenced(properties.EventSourceArn)),
    fn: functions.get(referenced(properties.FunctionName)),
  }));
  const dlqIds = queues.flatMap(({ properties: { RedrivePolicy } }) =>
    RedrivePolicy ? [referenced(RedrivePolicy.deadLetterTargetArn)] : [],
  );
  const dlqs = queues.filter(({ id }) => dlqIds.includes(id));
  const working = queues.filter(({ id }) => !dlqIds.includes(id));

  it('are six to work on, each with a dead-letter queue of its own', () => {
    expect(working).toHaveLength(6);
    expect(dlqs).toHaveLength(6);
    expect(new Set(dlqIds).size).toBe(6);
  });

  it.each(working)('$id gives a message up after as many receives as the worker counts on', ({ properties }) => {
    expect(properties.RedrivePolicy?.maxReceiveCount).toBe(MAX_RECEIVE_COUNT);
  });

  it.each(working)('$id keeps messages for less than half of what its dead-letter queue does', ({ properties }) => {
    const dlq = queues.find(({ id }) => id === referenced(properties.RedrivePolicy?.deadLetterTargetArn));
    expect(dlq?.properties.MessageRetentionPeriod).toBe(14 * 86_400);
    expect(properties.MessageRetentionPeriod).toBe(stage.queueRetentionDays * 86_400);
    expect(properties.MessageRetentionPeriod * 2).toBeLessThan(dlq?.properties.MessageRetentionPeriod ?? 0);
  });

  it.each(queues)('$id is encrypted and refuses connections without TLS', ({ id, properties }) => {
    expect(properties.SqsManagedSseEnabled).toBe(true);
    const statements = policies
      .filter(({ properties: policy }) => policy.Queues.some((queue) => referenced(queue) === id))
      .flatMap(({ properties: policy }) => policy.PolicyDocument.Statement);
    expect(statements).toEqual([
      expect.objectContaining({
        Effect: 'Deny',
        Action: 'sqs:*',
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      }),
    ]);
  });

  it('each have one consumer, and dead letters have none', () => {
    const consumed = eventSources.map(({ queue }) => queue?.id ?? 'none');
    expect(consumed.sort()).toEqual(working.map(({ id }) => id).sort());
  });

  it('hide a message for six function timeouts and the batching window', () => {
    for (const { queue, fn, MaximumBatchingWindowInSeconds } of eventSources) {
      const needed = 6 * (fn?.Timeout ?? Infinity) + MaximumBatchingWindowInSeconds;
      expect(queue?.properties.VisibilityTimeout).toBeGreaterThanOrEqual(needed);
      expect(queue?.properties.VisibilityTimeout).toBeLessThanOrEqual(12 * 3_600);
    }
  });

  it('are consumed by as many as allowed at once, with failed messages told apart', () => {
    for (const source of eventSources) {
      expect(source.FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
      expect(source.ScalingConfig.MaximumConcurrency).toBeGreaterThanOrEqual(2);
      expect(source.ScalingConfig.MaximumConcurrency).toBeLessThanOrEqual(1_000);
    }
  });

  it('of files, results and webhooks keep enough messages of one tenant in flight for SQS to let others go first', () => {
    const ofSlices = eventSources.filter(({ queue }) => /^(FanOut|Finalization|Webhooks)/.test(queue?.id ?? ''));
    expect(ofSlices).toHaveLength(3);
    for (const { BatchSize, ScalingConfig } of ofSlices) {
      // Also while one invocation has just ended.
      expect((ScalingConfig.MaximumConcurrency - 1) * BatchSize).toBeGreaterThan(30);
    }
  });

  it('never meet a function with less reserved concurrency than its event source uses', () => {
    for (const { fn, ScalingConfig } of eventSources) {
      expect(fn?.ReservedConcurrentExecutions ?? Infinity).toBeGreaterThanOrEqual(ScalingConfig.MaximumConcurrency);
    }
  });

  it('of files, results and webhooks are worked ten at a time, those to be prepared one at a time, those of records in batches', () => {
    const sizes = new Map(
      eventSources.map(({ queue, BatchSize }) => [queue?.id.replace(/Queue\w{8}$/, ''), BatchSize]),
    );
    expect(Object.fromEntries(sizes)).toEqual({
      FanOutRequests: 10,
      FinalizationRequests: 10,
      PrepareRequests: 1,
      WebhooksRequests: 10,
      SmallLaneRecords: stage.worker.batchSize,
      BulkLaneRecords: stage.worker.batchSize,
    });
  });
});

it('a batch larger than ten is collected for a second, which the visibility timeout covers', () => {
  const { ofType } = synthesize({ ...dev, worker: { ...dev.worker, batchSize: 50 } });
  const windows = ofType('AWS::Lambda::EventSourceMapping', sourceSchema)
    .filter(({ properties }) => properties.BatchSize === 50)
    .map(({ properties }) => properties.MaximumBatchingWindowInSeconds);
  const visibilities = ofType('AWS::SQS::Queue', queueSchema).map(({ properties }) => properties.VisibilityTimeout);
  expect(windows).toEqual([1, 1]);
  expect(visibilities.filter((seconds) => seconds !== undefined && seconds % 6 === 1)).toHaveLength(2);
});
