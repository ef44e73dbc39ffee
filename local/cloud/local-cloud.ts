import { startAlarms, type RunningAlarms } from './alarms/start.ts';
import { startApiGateway } from './apigateway/start.ts';
import { startCloud } from './cloud.ts';
import type { Cloud, CloudOptions } from './contract.ts';
import { startEvents, type Events, type EventsOptions } from './events/start.ts';
import { LocalFunctions } from './lambda/functions.ts';
import { LogStore, type LogStoreOptions } from './lambda/logs.ts';
import { Metrics } from './metrics/collect.ts';

export interface LocalCloudOptions extends CloudOptions {
  /** Where the runtime of functions and their compile cache are kept, such as `.local/runtime`. */
  readonly cacheDirectory: string;
  /**
   * Called when the AWS endpoint answers and no function runs yet: the place to fill secrets and tables.
   *
   * @returns values that replace those of the templates, for environment variables that functions declare
   */
  readonly prepare?: (cloud: Cloud) => Promise<Readonly<Record<string, string>>>;
  /** Port of the REST API. Default 0: any free port. */
  readonly apiPort?: number | undefined;
  /** Execution environments of one function at most. Default 4: the machine, not the account, is the limit here. */
  readonly maxEnvironments?: number | undefined;
  /** `manual`: schedules run only by `events.schedules.fire`. Default `clock`. */
  readonly schedules?: EventsOptions['schedules'];
  /** Divides the waits between tries of asynchronous invocations. Default 1. */
  readonly asyncSpeed?: number | undefined;
  readonly logs?: LogStoreOptions | undefined;
}

/** A whole application on this machine. */
export interface LocalCloud {
  readonly cloud: Cloud;
  readonly functions: LocalFunctions;
  readonly events: Events;
  readonly metrics: Metrics;
  /** States of the alarms, and a way to observe transitions. */
  readonly alarms: RunningAlarms;
  /** `http://127.0.0.1:PORT/<stage>`; undefined where the templates declare no REST API. */
  readonly apiUrl: string | undefined;
  /** Ends every process and socket. */
  stop(): Promise<void>;
}

/**
 * Runs the stacks of a cloud assembly: queues, topics, tables, objects and secrets, functions with their event sources and schedules, the
 * REST API, metrics and alarms.
 *
 * @throws LocalCloudError naming what cannot run here; nothing is left running
 */
export async function startLocalCloud(options: LocalCloudOptions): Promise<LocalCloud> {
  const running = new Running();
  try {
    const cloud = await startCloud(options);
    running.add(() => cloud.stop());
    const overrides = (await options.prepare?.(cloud)) ?? {};
    const { cacheDirectory, maxEnvironments = 4, asyncSpeed, schedules } = options;
    const logs = new LogStore(options.logs);
    const functions = await LocalFunctions.create({
      cloud,
      cacheDirectory,
      overrides,
      maxEnvironments,
      logs,
      asyncSpeed,
    });
    cloud.attachInvoker(functions);
    const metrics = new Metrics({ cloud, functions });
    running.add(() => metrics.stop());
    const alarms = startAlarms({ cloud, store: metrics.store });
    running.add(() => alarms.stop());
    const events = startEvents({ cloud, functions, schedules });
    // Event sources end when their invocations do, and these end when the functions are stopped.
    running.add(async () => void (await Promise.all([events.stop(), functions.stop()])));
    const api = await startApiGateway({
      cloud,
      invoker: functions,
      port: options.apiPort,
      onRequest: (report) => metrics.requested(report),
      onAccessLog: (source, text) =>
        logs.append({ atMs: Date.now(), source, logStream: 'api', requestId: undefined, text }),
    });
    running.add(() => api?.stop());
    return { cloud, functions, events, metrics, alarms, apiUrl: api?.apiUrl, stop: () => running.stop() };
  } catch (error) {
    await running.stop();
    throw error;
  }
}

/** What was started, stopped in the reverse order. */
class Running {
  readonly #stops: (() => Promise<void> | undefined)[] = [];

  add(stop: () => Promise<void> | undefined): void {
    this.#stops.push(stop);
  }

  async stop(): Promise<void> {
    const failures: unknown[] = [];
    for (const stop of this.#stops.splice(0).toReversed()) {
      try {
        await stop();
      } catch (error) {
        // The rest is stopped all the same.
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'Not everything could be stopped.');
  }
}
