import * as v from 'valibot';
import type { Lane } from '../../lambdas/domain/model.ts';
import type { DomainEvent } from '../../lambdas/domain/telemetry.ts';
import { pointsOf } from '../../lambdas/runtime/event-metrics.ts';
import { METRIC_NAMESPACE } from '../../lambdas/runtime/metric-names.ts';
import {
  type DeployedResource,
  type InvocationReport,
  LogStore,
  Metrics,
  MetricStore,
  type QueueDepth,
} from '../../local/cloud/index.ts';
import type { MemoryQueue } from '../support/memory/queue.ts';
import { QUEUE_NAMES, type QueueName, type SluiceQueues } from '../support/memory/queues.ts';
import { ofType, type SynthesizedStage } from './stage.ts';

/** The functions of the simulated account: a service, and for workers the lane. */
export const FUNCTIONS = {
  small: { service: 'worker', lane: 'small' },
  bulk: { service: 'worker', lane: 'bulk' },
  prepare: { service: 'prepare' },
  fanOut: { service: 'fan-out' },
  finalize: { service: 'finalizer' },
  webhooks: { service: 'webhooks' },
  reconciler: { service: 'reconciler' },
  redrive: { service: 'redrive' },
  submit: { service: 'submit' },
  status: { service: 'status' },
  preview: { service: 'preview' },
  authorizer: { service: 'authorizer' },
} as const satisfies Record<string, { service: string; lane?: Lane }>;
export type FunctionKind = keyof typeof FUNCTIONS;

const functionSchema = v.object({
  Timeout: v.number(),
  Environment: v.object({ Variables: v.record(v.string(), v.string()) }),
});

export interface DeployedFunction {
  readonly name: string;
  readonly timeoutMs: number;
}

/** A place in the constructs, of the queues that the simulation has under other names. */
const QUEUE_PLACES: Readonly<Record<QueueName, string>> = {
  prepare: 'PrepareRequests',
  fanOut: 'FanOut/Requests',
  small: 'SmallLane/Records',
  bulk: 'BulkLane/Records',
  finalize: 'Finalization/Requests',
  webhooks: 'Webhooks/Requests',
};

/** The longest interval of a timer: the real clock, far ahead of the simulated one, must not measure anything here. */
const NEVER_MS = 2 ** 31 - 1;

/** Messages that a queue holds beside those that the simulation knows of. */
export type Foreign = Partial<Pick<QueueDepth, 'visible' | 'inFlight'>>;

/**
 * Measures the simulated account as CloudWatch would: what functions tell by the table of the real code, everything else by the
 * same collector that measures the local cloud.
 */
export class Meter {
  readonly store = new MetricStore();
  readonly #metrics: Metrics;
  readonly #stage: SynthesizedStage;
  readonly #functions: Readonly<Record<FunctionKind, DeployedFunction>>;
  readonly #api: { readonly apiName: string; readonly stageName: string };
  readonly #now: () => number;
  readonly #observers: ((report: InvocationReport) => void)[] = [];
  /** Messages that somebody else has put into a queue. */
  readonly foreign = new Map<QueueName, Foreign>();

  constructor(stage: SynthesizedStage, queues: SluiceQueues, now: () => number) {
    this.#stage = stage;
    this.#now = now;
    this.#functions = functionsOf(stage);
    this.#api = apiOf(stage);
    const found = new Map(queuesOf(stage, queues));
    this.#metrics = new Metrics({
      store: this.store,
      sampleIntervalMs: NEVER_MS,
      cloud: {
        byType: (type) => ofType(stage, type),
        inspect: { queueDepth: async (arn) => this.#depthOf(arn, found) },
      },
      functions: {
        logs: new LogStore(),
        onInvocation: (observer) => {
          this.#observers.push(observer);
          return () => undefined;
        },
      },
    });
  }

  /** What a function's telemetry makes of an event: the dimensions are those of createTelemetry. */
  told(kind: FunctionKind, event: DomainEvent): void {
    const { service, lane }: { service: string; lane?: Lane } = FUNCTIONS[kind];
    for (const { name, unit, value, dimensions } of pointsOf(event, lane)) {
      const id = { namespace: METRIC_NAMESPACE, name, dimensions: { service, stage: this.#stage.name, ...dimensions } };
      this.store.put(id, value, this.#now(), unit);
    }
  }

  /** How long a queue of the stage hides a message that was received. */
  visibilityMs(name: QueueName): number {
    const { properties } = queueOf(this.#stage, `${QUEUE_PLACES[name]}/Queue`);
    return v.parse(v.number(), properties['VisibilityTimeout']) * 1000;
  }

  functionOf(kind: FunctionKind): DeployedFunction {
    return this.#functions[kind];
  }

  invoked(kind: FunctionKind, outcome: InvocationReport['outcome'], durationMs: number): void {
    const functionName = this.#functions[kind].name;
    const unknown = { billedMs: 0, initMs: undefined, memoryMb: 0, peakBytes: 0 };
    const report = { functionName, atMs: this.#now(), outcome, durationMs, ...unknown };
    for (const observer of this.#observers) observer(report);
  }

  requested(request: { method: string; resourcePath: string; status: number; latencyMs: number }): void {
    this.#metrics.requested({
      ...this.#api,
      ...request,
      atMs: this.#now(),
      integrationLatencyMs: request.latencyMs,
    });
  }

  async sampleQueues(): Promise<void> {
    await this.#metrics.sampleQueues(this.#now());
  }

  async stop(): Promise<void> {
    await this.#metrics.stop();
  }

  #depthOf(arn: string, queues: ReadonlyMap<string, { queue: MemoryQueue; name: QueueName; isDlq: boolean }>) {
    const found = queues.get(arn);
    if (found === undefined) throw new Error(`The simulation has no queue ${arn}.`);
    const { visible = 0, inFlight = 0 } = (found.isDlq ? undefined : this.foreign.get(found.name)) ?? {};
    const depth = depthOf(found.queue, this.#now());
    return { ...depth, visible: depth.visible + visible, inFlight: depth.inFlight + inFlight };
  }
}

function depthOf(queue: MemoryQueue, nowMs: number): QueueDepth {
  const messages = queue.nextVisibleAtMs() === undefined ? [] : queue.messages();
  const visible = messages.filter(({ visibleAtMs }) => visibleAtMs <= nowMs).length;
  const inFlight = messages.filter(({ visibleAtMs, receiveCount }) => visibleAtMs > nowMs && receiveCount > 0).length;
  const oldest = messages.reduce(
    (earliest, { sentAtMs, arrivedAtMs = sentAtMs }) => Math.min(earliest, arrivedAtMs),
    Infinity,
  );
  return {
    visible,
    inFlight,
    delayed: messages.length - visible - inFlight,
    oldestArrivalTimestamp: messages.length === 0 ? undefined : oldest,
  };
}

function functionsOf(stage: SynthesizedStage): Record<FunctionKind, DeployedFunction> {
  const deployed = ofType(stage, 'AWS::Lambda::Function').flatMap(({ physicalId, properties }) => {
    const parsed = v.safeParse(functionSchema, properties);
    return parsed.success ? [{ name: physicalId, ...parsed.output }] : [];
  });
  const find = (kind: FunctionKind): DeployedFunction => {
    const { service, lane }: { service: string; lane?: Lane } = FUNCTIONS[kind];
    const found = deployed.find(({ Environment: { Variables } }) => {
      return Variables['POWERTOOLS_SERVICE_NAME'] === service && (lane === undefined || Variables['LANE'] === lane);
    });
    if (found === undefined) throw new Error(`The stage has no function ${service} ${lane ?? ''}.`);
    return { name: found.name, timeoutMs: found.Timeout * 1000 };
  };
  return {
    small: find('small'),
    bulk: find('bulk'),
    prepare: find('prepare'),
    fanOut: find('fanOut'),
    finalize: find('finalize'),
    webhooks: find('webhooks'),
    reconciler: find('reconciler'),
    redrive: find('redrive'),
    submit: find('submit'),
    status: find('status'),
    preview: find('preview'),
    authorizer: find('authorizer'),
  };
}

function apiOf(stage: SynthesizedStage): { apiName: string; stageName: string } {
  const text = (type: string, property: string): string => {
    const [resource] = ofType(stage, type);
    return v.parse(v.string(), resource?.properties[property]);
  };
  return { apiName: text('AWS::ApiGateway::RestApi', 'Name'), stageName: text('AWS::ApiGateway::Stage', 'StageName') };
}

function queuesOf(
  stage: SynthesizedStage,
  { live, deadLetters }: SluiceQueues,
): [string, { queue: MemoryQueue; name: QueueName; isDlq: boolean }][] {
  return QUEUE_NAMES.flatMap((name) => [
    [arnOf(stage, `${QUEUE_PLACES[name]}/Queue`), { queue: live[name], name, isDlq: false }] as const,
    [arnOf(stage, `${QUEUE_PLACES[name]}/Dlq`), { queue: deadLetters[name], name, isDlq: true }] as const,
  ]).map(([arn, found]) => [arn, found]);
}

const arnOf = (stage: SynthesizedStage, place: string): string => queueOf(stage, place).arn;

function queueOf(stage: SynthesizedStage, place: string): DeployedResource {
  const found = ofType(stage, 'AWS::SQS::Queue').find(({ path }) => path.endsWith(`/${place}/Resource`));
  if (found === undefined) throw new Error(`The stage has no queue ${place}.`);
  return found;
}
