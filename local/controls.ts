import { PurgeQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Lane } from '../lambdas/domain/model.ts';
import type { Cloud } from './cloud/contract.ts';
import { LocalCloudError } from './cloud/errors.ts';
import type { Events } from './cloud/events/start.ts';
import type { LocalFunctions } from './cloud/lambda/functions.ts';
import type { FunctionSpec } from './cloud/lambda/spec.ts';
import type { ResourceNames } from './cloud/resources.ts';

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
export function controlsOf(
  cloud: Cloud,
  functions: LocalFunctions,
  events: Events,
  resources: ResourceNames,
): Controls {
  const isWorker = (lane: Lane | undefined) => (spec: FunctionSpec) =>
    serviceOf(spec) === 'worker' && (lane === undefined || spec.environment['LANE'] === lane);
  const functionOf = (service: string, lane?: Lane): FunctionSpec => {
    const found = functions.specs.filter(
      (spec) => serviceOf(spec) === service && (lane === undefined || spec.environment['LANE'] === lane),
    );
    const [spec] = found;
    if (spec !== undefined && found.length === 1) return spec;
    const known = [...new Set(functions.specs.map(serviceOf))].join(', ');
    throw new LocalCloudError(`${found.length} functions are named ${service}; there are: ${known}. Name the lane?`);
  };
  return {
    killWorkers: (lane) => functions.kill(isWorker(lane)),
    functionOf,
    fireSchedule: async (service) => {
      for (const { functionError, payload } of await events.schedules.fire(functionOf(service).name)) {
        if (functionError !== undefined) throw new LocalCloudError(`${service} failed when fired: ${payload}`);
      }
    },
    purge: (queue) => purge(cloud, resources.queues[queue] ?? queue),
  };
}

const serviceOf = (spec: FunctionSpec): string => spec.environment['POWERTOOLS_SERVICE_NAME'] ?? spec.name;

async function purge(cloud: Cloud, queueUrl: string): Promise<void> {
  const { awsEndpoint: endpoint, region, operatorCredentials } = cloud;
  const client = new SQSClient({ endpoint, region, credentials: { ...operatorCredentials } });
  try {
    await client.send(new PurgeQueueCommand({ QueueUrl: queueUrl }));
  } finally {
    client.destroy();
  }
}
