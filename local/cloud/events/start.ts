import type { Cloud } from '../contract.ts';
import { LocalCloudError } from '../errors.ts';
import type { LocalFunctions } from '../lambda/functions.ts';
import { EventSource } from './event-source.ts';
import { readMapping } from './mapping.ts';
import { openSourceQueue } from './queue.ts';
import { Schedules, type SchedulesOptions } from './schedules.ts';

export interface EventsOptions {
  readonly cloud: Cloud;
  readonly functions: LocalFunctions;
  /** Default `clock`. */
  readonly schedules?: SchedulesOptions['mode'] | undefined;
}

/** Everything that invokes functions by itself. */
export interface Events {
  readonly sources: readonly EventSource[];
  readonly schedules: Schedules;
  /** @throws LocalCloudError when no queue invokes the function */
  sourceOf(functionName: string): EventSource;
  stop(): Promise<void>;
}

/**
 * Starts the event sources and schedules of the templates.
 *
 * @throws LocalCloudError naming the resource that cannot run here
 */
export function startEvents({ cloud, functions, schedules: mode = 'clock' }: EventsOptions): Events {
  const sources = cloud.byType('AWS::Lambda::EventSourceMapping').map((resource) => {
    const mapping = readMapping(resource, cloud);
    const spec = functions.specs.find(({ name }) => name === mapping.functionName);
    if (spec === undefined) throw new LocalCloudError(`${resource.path}: ${mapping.functionName} does not run here.`);
    const { awsEndpoint, region } = cloud;
    const credentials = cloud.credentialsFor(spec.roleArn, spec.name);
    const { functionName } = mapping;
    return new EventSource({
      mapping,
      queue: openSourceQueue({ awsEndpoint, region, queueUrl: mapping.queueUrl, credentials }),
      invoker: functions,
      region,
      concurrency: Math.min(mapping.maxConcurrency ?? Infinity, functions.capacityOf(functionName)),
      principal: resource.arn,
      onTrouble: (text) =>
        functions.logs.append({
          atMs: Date.now(),
          source: functionName,
          logStream: 'event-source',
          requestId: undefined,
          text,
        }),
    });
  });
  const schedules = new Schedules({ cloud, invoker: functions, mode });
  for (const source of sources) source.start();
  schedules.start();
  return {
    sources,
    schedules,
    sourceOf(functionName) {
      const found = sources.find(({ mapping }) => mapping.functionName === functionName);
      if (found !== undefined) return found;
      throw new LocalCloudError(`No queue of the templates invokes ${functionName}.`);
    },
    async stop() {
      schedules.stop();
      await Promise.all(sources.map((source) => source.stop()));
    },
  };
}
