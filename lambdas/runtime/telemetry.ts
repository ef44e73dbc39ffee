import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { Lane } from '../domain/model.ts';
import type { DomainEvent, Telemetry } from '../domain/telemetry.ts';
import type { InvocationContext } from './budget.ts';
import { pointsOf, type MetricPoint } from './event-metrics.ts';
import { logFields } from './log-fields.ts';

export interface TelemetryOptions {
  /** The function, as in POWERTOOLS_SERVICE_NAME. */
  service: string;
  stage: string;
  namespace: string;
  logLevel: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
  /** Share of the lines about records that succeeded that is written, 0 to 1. Metrics count all of them. */
  successShare?: number;
  /** The lane of a worker: every line of it carries it, and its errors are counted by it. */
  lane?: Lane;
}

/** Telemetry of a function: lines are written as things happen, metrics once per invocation. */
export interface InvocationTelemetry extends Telemetry {
  /** From here on lines carry the invocation's request id. */
  begin(context: Pick<InvocationContext, 'awsRequestId'>): void;
  /** Writes what was counted since the last time. */
  flush(): void;
}

/** Structured logs and embedded metrics with Powertools. Fields and metrics are allow-lists, see log-fields.ts and event-metrics.ts. */
export function createTelemetry(options: TelemetryOptions): InvocationTelemetry {
  const { service, stage, namespace, logLevel, successShare = 1, lane } = options;
  const logger = new Logger({ serviceName: service, logLevel, persistentKeys: { stage, ...(lane && { lane }) } });
  const recorder = createRecorder(
    (dimensions) => new Metrics({ namespace, serviceName: service, defaultDimensions: { stage, ...dimensions } }),
  );
  return {
    begin({ awsRequestId }) {
      logger.appendKeys({ requestId: awsRequestId });
    },
    emit(event) {
      for (const point of pointsOf(event, lane)) recorder.add(point);
      if (isSuccess(event) && Math.random() >= successShare) return;
      logger[event.level](event.name, logFields(event));
    },
    flush() {
      recorder.publish();
    },
  };
}

const isSuccess = ({ name, level }: DomainEvent): boolean => name === 'record_finished' && level === 'info';

interface Recorder {
  add(point: MetricPoint): void;
  publish(): void;
}

/** Collects points, counts added up, and publishes one line per set of dimensions: lines are what logs cost. */
function createRecorder(create: (dimensions: Readonly<Record<string, string>>) => Metrics): Recorder {
  interface Group {
    metrics: Metrics;
    counts: Map<string, number>;
    points: MetricPoint[];
  }
  const groups = new Map<string, Group>();
  return {
    add(point) {
      const key = JSON.stringify(point.dimensions);
      const group: Group = groups.get(key) ?? { metrics: create(point.dimensions), counts: new Map(), points: [] };
      groups.set(key, group);
      if (point.unit === 'Count') group.counts.set(point.name, (group.counts.get(point.name) ?? 0) + point.value);
      else group.points.push(point);
    },
    publish() {
      for (const { metrics, counts, points } of groups.values()) {
        for (const [name, value] of counts) metrics.addMetric(name, 'Count', value);
        for (const { name, unit, value } of points) metrics.addMetric(name, unit, value);
        if (counts.size + points.length > 0) metrics.publishStoredMetrics();
        counts.clear();
        points.length = 0;
      }
    },
  };
}
