import { describe, expect, test } from '@jest/globals';
import { Metrics } from '../../metrics/collect.ts';
import { readEmf } from '../../metrics/emf.ts';
import { MetricStore } from '../../metrics/store.ts';
import type { InvocationReport } from '../../lambda/functions.ts';
import { LogStore } from '../../lambda/logs.ts';
import { resource } from '../support/functions.ts';

const emf = (change: object = {}): string =>
  JSON.stringify({
    _aws: {
      Timestamp: 120_500,
      CloudWatchMetrics: [
        {
          Namespace: 'Shop',
          Dimensions: [['service', 'lane'], ['service']],
          Metrics: [{ Name: 'finished', Unit: 'Count' }, { Name: 'ageMs' }],
        },
      ],
    },
    service: 'worker',
    lane: 'small',
    finished: 3,
    ageMs: [5, 7],
    ...change,
  });

describe('the embedded metric format', () => {
  test('gives every value under every set of dimensions', () => {
    const values = readEmf(emf());
    expect(values).toHaveLength(6);
    expect(values[0]).toEqual({
      namespace: 'Shop',
      name: 'finished',
      dimensions: { service: 'worker', lane: 'small' },
      value: 3,
      unit: 'Count',
      atMs: 120_500,
    });
    expect(values.filter(({ name }) => name === 'ageMs').map(({ value }) => value)).toEqual([5, 7, 5, 7]);
  });

  test.each([
    ['is text', 'hello'],
    ['is other JSON', '{"message":"CloudWatchMetrics"}'],
    ['only looks like it', '{"_aws":{"CloudWatchMetrics":"none"}}'],
  ])('is not a line that %s', (_, line) => {
    expect(readEmf(line)).toEqual([]);
  });

  test('has no value where the metric is not in the document', () => {
    expect(readEmf(emf({ finished: 'three' })).map(({ name }) => name)).not.toContain('finished');
  });
});

describe('the store', () => {
  const id = { namespace: 'N', name: 'M', dimensions: { a: '1', b: '2' } };

  test('adds values up by the minute', () => {
    const store = new MetricStore();
    for (const [value, atMs] of [
      [4, 60_000],
      [2, 119_999],
      [9, 120_000],
    ] as const) {
      store.put(id, value, atMs);
    }
    expect(store.points(id)).toEqual([
      { minuteMs: 60_000, sum: 6, count: 2, min: 2, max: 4, values: [4, 2] },
      { minuteMs: 120_000, sum: 9, count: 1, min: 9, max: 9, values: [9] },
    ]);
    expect(store.points(id, 120_000, 180_000)).toHaveLength(1);
  });

  test('knows a metric by its dimensions in any order, and not by a part of them', () => {
    const store = new MetricStore();
    store.put(id, 1, 0);
    expect(store.points({ ...id, dimensions: { b: '2', a: '1' } })).toHaveLength(1);
    expect(store.points({ ...id, dimensions: { a: '1' } })).toEqual([]);
  });

  test('forgets what is older than its retention', () => {
    const store = new MetricStore(120_000);
    for (const minute of [0, 1, 2, 3]) store.put(id, minute, minute * 60_000);
    expect(store.points(id).map(({ minuteMs }) => minuteMs / 60_000)).toEqual([1, 2, 3]);
  });
});

describe('the collection', () => {
  function collect() {
    const logs = new LogStore();
    const observers: ((report: InvocationReport) => void)[] = [];
    const queue = resource('AWS::SQS::Queue', 'Queue', { arn: 'arn:aws:sqs:us-east-1:1:lane' });
    const metrics = new Metrics({
      cloud: {
        byType: (type) => (type === 'AWS::SQS::Queue' ? [queue] : []),
        inspect: { queueDepth: async () => ({ visible: 5, inFlight: 2, delayed: 1, oldestArrivalTimestamp: 30_000 }) },
      },
      functions: {
        logs,
        onInvocation: (observer) => {
          observers.push(observer);
          return () => undefined;
        },
      },
    });
    const latest = (namespace: string, name: string, dimensions: Record<string, string>) =>
      metrics.store.points({ namespace, name, dimensions }).at(-1);
    return { logs, metrics, observers, latest };
  }

  test('reads metrics out of the logs of functions', async () => {
    const { logs, metrics, latest } = collect();
    logs.append({ atMs: 1, source: 'worker', logStream: 's', requestId: 'r', text: emf() });
    expect(latest('Shop', 'finished', { service: 'worker' })).toMatchObject({ minuteMs: 120_000, sum: 3 });
    await metrics.stop();
  });

  test('counts invocations, errors and throttles of functions', async () => {
    const { metrics, observers, latest } = collect();
    const report = { functionName: 'f', atMs: 0, billedMs: 1, initMs: undefined, memoryMb: 128, peakBytes: 1 };
    for (const outcome of ['succeeded', 'failed', 'throttled'] as const) {
      for (const observer of observers) observer({ ...report, outcome, durationMs: 10 });
    }
    const ofFunction = (name: string) => latest('AWS/Lambda', name, { FunctionName: 'f' });
    expect(ofFunction('Invocations')).toMatchObject({ sum: 2 });
    expect(ofFunction('Errors')).toMatchObject({ sum: 1, count: 2 });
    expect(ofFunction('Throttles')).toMatchObject({ sum: 1, count: 3 });
    expect(ofFunction('Duration')).toMatchObject({ sum: 20 });
    await metrics.stop();
  });

  test('measures queues', async () => {
    const { metrics, latest } = collect();
    await metrics.sampleQueues(60_500);
    const ofQueue = (name: string) => latest('AWS/SQS', name, { QueueName: 'lane' })?.max;
    expect(ofQueue('ApproximateNumberOfMessagesVisible')).toBe(5);
    expect(ofQueue('ApproximateNumberOfMessagesNotVisible')).toBe(2);
    expect(ofQueue('ApproximateNumberOfMessagesDelayed')).toBe(1);
    expect(ofQueue('ApproximateAgeOfOldestMessage')).toBe(30);
    await metrics.stop();
  });

  test('counts requests to the API by their outcome', async () => {
    const { metrics, latest } = collect();
    const report = { atMs: 0, apiName: 'shop', stageName: 'dev', method: 'GET', resourcePath: '/', latencyMs: 4 };
    metrics.requested({ ...report, status: 503, integrationLatencyMs: 3 });
    metrics.requested({ ...report, status: 200, integrationLatencyMs: undefined });
    const ofApi = (name: string) => latest('AWS/ApiGateway', name, { ApiName: 'shop', Stage: 'dev' });
    expect(ofApi('Count')).toMatchObject({ sum: 2 });
    expect(ofApi('5XXError')).toMatchObject({ sum: 1, count: 2 });
    expect(ofApi('4XXError')).toMatchObject({ sum: 0 });
    expect(ofApi('IntegrationLatency')).toMatchObject({ count: 1 });
    await metrics.stop();
  });
});
