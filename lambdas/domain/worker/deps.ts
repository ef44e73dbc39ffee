import type { EnrichDeps } from '../providers/call.ts';
import { prepareProviders, type Provider } from '../providers/provider.ts';
import type { Lane } from '../model.ts';
import type { QueueAcknowledger, QueueSender } from '../queues/ports.ts';
import type { SubmissionStore } from '../submissions/ports.ts';
import type { ProviderConfig } from '../providers/config.ts';
import type { SettleDeps } from '../ledger/settlement.ts';
import { createRecordValidator, type SchemaCheck } from '../records/validation.ts';
import { createSubmissionCache, type SubmissionCache } from './submission-cache.ts';

/** What a worker is given: the ports of its lane and what an adopter configured. */
export interface WorkerPorts extends SettleDeps, EnrichDeps {
  submissions: SubmissionStore;
  lane: Lane;
  laneQueue: QueueSender;
  deadLetterQueue: QueueSender;
  acknowledger: QueueAcknowledger;
}

/** A worker's ports with everything that is made ready once per process. */
export interface WorkerDeps extends WorkerPorts {
  /** The third-party APIs that every record is enriched by. */
  apis: readonly Provider[];
  checkRecord: SchemaCheck;
  cache: SubmissionCache;
}

/**
 * Makes a worker ready: compiles schemas and prepares providers.
 *
 * @throws InvalidDataError for a configuration that cannot work.
 */
export const prepareWorker = (
  ports: WorkerPorts,
  config: {
    providers: readonly ProviderConfig[];
    /** Calls that this process may have open at the same time, for providers that limit them. */
    callsPerWorker?: Readonly<Record<string, number>>;
    recordSchema: Readonly<Record<string, unknown>>;
  },
): WorkerDeps => ({
  ...ports,
  apis: prepareProviders(config.providers, config.callsPerWorker),
  checkRecord: createRecordValidator(config.recordSchema),
  cache: createSubmissionCache(ports.submissions, ports.clock),
});
