import recordSchema from '../../config/record.schema.json' with { type: 'json' };
import type { Environment } from './environment.ts';
import { providerConfigs } from './provider.ts';
import { FAN_OUT_DEFAULTS } from '../../lambdas/domain/fan-out/deps.ts';
import { fanOutSlice } from '../../lambdas/domain/fan-out/fan-out-slice.ts';
import { PartTurns } from '../../lambdas/domain/finalize/part-turns.ts';
import { FINALIZE_DEFAULTS } from '../../lambdas/domain/finalize/deps.ts';
import { finalizeSlice } from '../../lambdas/domain/finalize/finalize-slice.ts';
import type { Lane } from '../../lambdas/domain/model.ts';
import type { HttpTransport } from '../../lambdas/domain/providers/ports.ts';
import { prepareProviders } from '../../lambdas/domain/providers/provider.ts';
import type { Converter } from '../../lambdas/domain/prepare/ports.ts';
import { PREPARE_DEFAULTS, prepareSlice, type PrepareDeps } from '../../lambdas/domain/prepare/prepare-slice.ts';
import { parseFanOutMessage, parseFinalizeMessage, parseWebhookMessage } from '../../lambdas/domain/queues/messages.ts';
import type { Delivery } from '../../lambdas/domain/queues/ports.ts';
import { RECONCILE_DEFAULTS, type ReconcileDeps } from '../../lambdas/domain/reconcile/deps.ts';
import { reconcile } from '../../lambdas/domain/reconcile/reconcile.ts';
import { WEBHOOK_DEFAULTS } from '../../lambdas/domain/webhooks/deps.ts';
import { handleWebhookMessage } from '../../lambdas/domain/webhooks/handle.ts';
import { AcceptedSchemas, schemaSetOf } from '../../lambdas/domain/submissions/schemas.ts';
import { redrive } from '../../lambdas/domain/redrive/redrive.ts';
import { REDRIVE_DEFAULTS, type RedriveDeps, type RedriveReport } from '../../lambdas/domain/redrive/run.ts';
import { eachDelivery } from '../../lambdas/domain/submissions/deliveries.ts';
import type { Telemetry } from '../../lambdas/domain/telemetry.ts';
import type { Random, TimeBudget } from '../../lambdas/domain/time.ts';
import { processBatch, type WorkerDeps } from '../../lambdas/domain/worker/process-batch.ts';

/** The same for every run, and expensive to make. */
const APIS = prepareProviders(providerConfigs({ skewMs: 0, slowReplyMs: 0 }));
export const SCHEMAS = schemaSetOf(
  recordSchema,
  APIS.map(({ config }) => config),
);

/** What a newer version checks records and answers by: no file was accepted with it. */
const STRICTER = { record: { ...recordSchema, required: ['vat_number'] }, responses: {} };

export const SLICE_TIMEOUT_MS = 180_000;
export const PREPARE_TIMEOUT_MS = 900_000;
export const WEBHOOKS_TIMEOUT_MS = 30_000;
const RECEIVER_MS = 100;
const RECONCILE_TIMEOUT_MS = 55_000;
const REDRIVE_TIMEOUT_MS = 300_000;
export const visibilityMs = (timeoutMs: number): number => 6 * timeoutMs;

const SMALL_LANE_THRESHOLD = 60;
export const DEADLINE_MS = 24 * 3_600_000;

/** What a function is given besides its environment. */
export interface FunctionOptions {
  telemetry: Telemetry;
  random: Random;
  transport: HttpTransport;
  checkpointRecords: number;
  workerTimeoutMs: number;
}

/** A function as its environment holds it between invocations: works a batch and answers the ids to deliver again. */
export type QueueFunction = (deliveries: readonly Delivery[], budget: TimeBudget) => Promise<readonly string[]>;

const common = ({ ports, clock, isEarly }: Environment, { telemetry, random }: FunctionOptions) => {
  const {
    prepare: prepareQueue,
    fanOut: fanOutQueue,
    small,
    bulk,
    finalize: finalizeQueue,
    webhooks: webhookQueue,
  } = ports.queues.live;
  const schemas = new AcceptedSchemas(ports.submissions, isEarly ? STRICTER : SCHEMAS);
  const queues = { prepareQueue, fanOutQueue, finalizeQueue, webhookQueue, lanes: { small, bulk } };
  return { ...ports, ...queues, schemas, telemetry, clock, random };
};

export function workerOf(environment: Environment, options: FunctionOptions, lane: Lane): QueueFunction {
  const { ports, name } = environment;
  const deps: WorkerDeps = {
    ...common(environment, options),
    lane,
    laneQueue: ports.queues.live[lane],
    deadLetterQueue: ports.queues.deadLetters[lane],
    acknowledger: ports.queues.live[lane],
    transport: options.transport,
    owner: name,
    apis: APIS,
  };
  return async (deliveries, budget) => processBatch(deps, deliveries, budget);
}

export function fanOutOf(environment: Environment, options: FunctionOptions): QueueFunction {
  const { checkpointRecords } = options;
  const queue = environment.ports.queues.live.fanOut;
  const settings = { ...FAN_OUT_DEFAULTS, checkpointRecords, smallLaneThreshold: SMALL_LANE_THRESHOLD };
  const deps = { ...common(environment, options), settings };
  return async (deliveries, budget) =>
    eachDelivery({ ...deps, queue, acknowledger: queue }, deliveries, async (body) =>
      fanOutSlice(deps, parseFanOutMessage(body), budget),
    );
}

export function prepareOf(environment: Environment, options: FunctionOptions): QueueFunction {
  const { objects, queues } = environment.ports;
  // Files are ASCII here, whatever character set is named: in all of those it is the same bytes as in UTF-8.
  const converter: Converter = {
    convert: async ({ source, charset = 'utf-8' }) => ({
      from: { kind: 'text', charset },
      blocks: await objects.read(source, 0),
    }),
  };
  const deps: PrepareDeps = { ...common(environment, options), converter, settings: PREPARE_DEFAULTS };
  const queue = queues.live.prepare;
  return async (deliveries, budget) =>
    eachDelivery({ ...deps, queue, acknowledger: queue }, deliveries, async (body) =>
      prepareSlice(deps, parseFanOutMessage(body), budget),
    );
}

export function finalizerOf(environment: Environment, options: FunctionOptions): QueueFunction {
  const queue = environment.ports.queues.live.finalize;
  const settings = { ...FINALIZE_DEFAULTS, partChunks: 1, largePartChunks: 1, largePartsAtOnce: 1 };
  const shared = common(environment, options);
  const deps = { ...shared, turns: new PartTurns(shared.clock), settings };
  return async (deliveries, budget) =>
    eachDelivery({ ...deps, queue, acknowledger: queue }, deliveries, async (body) =>
      finalizeSlice(deps, parseFinalizeMessage(body), budget),
    );
}

/** Every endpoint takes what it is sent. */
export function webhooksOf(environment: Environment, options: FunctionOptions): QueueFunction {
  const shared = common(environment, options);
  const { webhookQueue: queue } = shared;
  const transport = environment.transport(async ({ url }) => {
    if (url.includes('//refused.')) return { kind: 'failure', cause: 'refused_target', detail: 'not public' };
    await shared.clock.sleep(RECEIVER_MS);
    return { kind: 'response', status: 204, headers: {}, body: new Uint8Array(), truncated: false };
  });
  const deps = { ...shared, transport, settings: WEBHOOK_DEFAULTS };
  return async (deliveries) =>
    eachDelivery({ ...deps, queue, acknowledger: queue }, deliveries, async (body) =>
      handleWebhookMessage(deps, parseWebhookMessage(body)),
    );
}

function redriveDeps(environment: Environment, options: FunctionOptions): RedriveDeps {
  const { small, bulk } = environment.ports.queues.deadLetters;
  return {
    ...common(environment, options),
    deadLetters: { small, bulk },
    apis: APIS.map(({ config }) => config),
    providers: environment.ports.providers,
    settings: { ...REDRIVE_DEFAULTS, deadlineMs: DEADLINE_MS },
  };
}

export async function runReconciler(environment: Environment, options: FunctionOptions): Promise<void> {
  const deps: ReconcileDeps = {
    ...common(environment, options),
    deadLetterQueues: environment.ports.queues.deadLetters,
    apis: APIS.map(({ config }) => config),
    settings: { ...RECONCILE_DEFAULTS, visibilityMs: visibilityMs(options.workerTimeoutMs) },
    automaticRedrive: redriveDeps(environment, options),
  };
  await environment.invoke(RECONCILE_TIMEOUT_MS, async (budget) => reconcile(deps, budget));
}

/** Replays what an operator selects; undefined when the function died. */
export async function runRedrive(
  environment: Environment,
  options: FunctionOptions,
  request: object,
): Promise<RedriveReport | undefined> {
  const deps = redriveDeps(environment, options);
  const result = await environment.invoke(REDRIVE_TIMEOUT_MS, async (budget) => redrive(deps, request, budget));
  return result === 'died' ? undefined : result.ended;
}
