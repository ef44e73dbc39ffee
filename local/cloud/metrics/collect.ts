import type { RequestReport } from '../apigateway/start.ts';
import type { Cloud } from '../contract.ts';
import type { InvocationReport, LocalFunctions } from '../lambda/functions.ts';
import { readEmf } from './emf.ts';
import { MetricStore } from './store.ts';

/** How often the service measures a queue. */
const SAMPLE_INTERVAL_MS = 60_000;

export interface MetricsOptions {
  readonly cloud: Pick<Cloud, 'byType' | 'inspect'>;
  readonly functions: Pick<LocalFunctions, 'logs' | 'onInvocation'>;
  readonly store?: MetricStore;
  readonly sampleIntervalMs?: number;
}

/** Collects what functions write to their logs in the embedded metric format, and what the services publish by themselves. */
export class Metrics {
  readonly store: MetricStore;
  readonly #cloud: MetricsOptions['cloud'];
  readonly #timer: NodeJS.Timeout;
  readonly #stops: readonly (() => void)[];
  #sampling: Promise<void> = Promise.resolve();

  constructor({ cloud, functions, store = new MetricStore(), sampleIntervalMs = SAMPLE_INTERVAL_MS }: MetricsOptions) {
    this.store = store;
    this.#cloud = cloud;
    this.#stops = [
      functions.logs.observe(({ text }) => {
        for (const { value, atMs, unit, ...id } of readEmf(text)) store.put(id, value, atMs, unit);
      }),
      functions.onInvocation((report) => this.#invoked(report)),
    ];
    this.#timer = setInterval(() => {
      this.#sampling = this.#sample();
    }, sampleIntervalMs);
  }

  /** Notes one request to an API. */
  requested({ apiName, stageName, status, latencyMs, integrationLatencyMs, atMs }: RequestReport): void {
    const put = (name: string, value: number, unit: string): void =>
      this.store.put(
        { namespace: 'AWS/ApiGateway', name, dimensions: { ApiName: apiName, Stage: stageName } },
        value,
        atMs,
        unit,
      );
    put('Count', 1, 'Count');
    put('4XXError', status >= 400 && status < 500 ? 1 : 0, 'Count');
    put('5XXError', status >= 500 ? 1 : 0, 'Count');
    put('Latency', latencyMs, 'Milliseconds');
    if (integrationLatencyMs !== undefined) put('IntegrationLatency', integrationLatencyMs, 'Milliseconds');
  }

  /** Measures every queue now. */
  async sampleQueues(atMs = Date.now()): Promise<void> {
    for (const queue of this.#cloud.byType('AWS::SQS::Queue')) {
      const QueueName = queue.arn.split(':').at(-1) ?? '';
      const { visible, inFlight, delayed, oldestArrivalTimestamp } = await this.#cloud.inspect.queueDepth(queue.arn);
      const put = (name: string, value: number, unit = 'Count'): void =>
        this.store.put({ namespace: 'AWS/SQS', name, dimensions: { QueueName } }, value, atMs, unit);
      put('ApproximateNumberOfMessagesVisible', visible);
      put('ApproximateNumberOfMessagesNotVisible', inFlight);
      put('ApproximateNumberOfMessagesDelayed', delayed);
      const ageSeconds = oldestArrivalTimestamp === undefined ? 0 : Math.max(0, atMs - oldestArrivalTimestamp) / 1000;
      put('ApproximateAgeOfOldestMessage', Math.floor(ageSeconds), 'Seconds');
    }
  }

  /** Ends the collection, after the measurement that is under way. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    for (const stop of this.#stops) stop();
    await this.#sampling;
  }

  async #sample(): Promise<void> {
    try {
      await this.sampleQueues();
    } catch (error) {
      // A minute without a datapoint is what the alarms make of it; the next minute is another chance.
      console.error('The queues could not be measured:', error);
    }
  }

  #invoked({ functionName, outcome, durationMs, atMs }: InvocationReport): void {
    const put = (name: string, value: number, unit: string): void =>
      this.store.put({ namespace: 'AWS/Lambda', name, dimensions: { FunctionName: functionName } }, value, atMs, unit);
    // A throttled request is no invocation, and has no duration.
    put('Throttles', outcome === 'throttled' ? 1 : 0, 'Count');
    if (outcome === 'throttled') return;
    put('Invocations', 1, 'Count');
    put('Errors', outcome === 'failed' ? 1 : 0, 'Count');
    put('Duration', durationMs, 'Milliseconds');
  }
}
