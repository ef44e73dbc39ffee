import { PurgeQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Lane } from '../lambdas/domain/model.ts';
import type { FunctionSpec, LocalCloud, ResourceNames } from './cloud/index.ts';
import { LocalError } from './errors.ts';
import { asOperator } from './setup.ts';

/** What tests and drills disturb a running pipeline with. */
export interface Controls {
  /** Kills the worker processes of one lane or of both, in the middle of what they do. */
  killWorkers(lane?: Lane): { killed: number; busy: number };
  /** Runs what the schedules of a function (by its name in `lambdas`, such as `reconciler`) would run, and waits for it. */
  fireSchedule(service: string): Promise<void>;
  /** The function with this name in `lambdas`; for `worker`, which runs once per lane, also the lane. */
  functionOf(service: string, lane?: Lane): FunctionSpec;
  /** Deletes every message of a queue, by its path in `resources.queues`. */
  purge(queue: string): Promise<void>;
}

/** Makes the controls of a running cloud. */
export function controlsOf({ cloud, functions, events }: LocalCloud, resources: ResourceNames): Controls {
  const isWorker = (lane: Lane | undefined) => (spec: FunctionSpec) =>
    serviceOf(spec) === 'worker' && (lane === undefined || spec.environment['LANE'] === lane);
  const functionOf = (service: string, lane?: Lane): FunctionSpec => {
    const found = functions.specs.filter(
      (spec) => serviceOf(spec) === service && (lane === undefined || spec.environment['LANE'] === lane),
    );
    const [spec] = found;
    if (spec !== undefined && found.length === 1) return spec;
    const known = [...new Set(functions.specs.map(serviceOf))].join(', ');
    throw new LocalError(`${found.length} functions are named ${service}; there are: ${known}. Name the lane?`);
  };
  return {
    killWorkers: (lane) => functions.kill(isWorker(lane)),
    functionOf,
    fireSchedule: async (service) => {
      for (const { functionError, payload } of await events.schedules.fire(functionOf(service).name)) {
        if (functionError !== undefined) throw new LocalError(`${service} failed when fired: ${payload}`);
      }
    },
    async purge(queue) {
      const client = new SQSClient(asOperator(cloud));
      try {
        await client.send(new PurgeQueueCommand({ QueueUrl: resources.queues[queue] ?? queue }));
      } finally {
        client.destroy();
      }
    },
  };
}

const serviceOf = (spec: FunctionSpec): string => spec.environment['POWERTOOLS_SERVICE_NAME'] ?? spec.name;
