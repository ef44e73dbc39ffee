import { PROVIDERS } from '../../config/providers.ts';
import recordSchema from '../../config/record.schema.json' with { type: 'json' };
import { resolveProfile } from '../../lambdas/domain/profiles/profile.ts';
import { AcceptedSchemas, schemaSetOf } from '../../lambdas/domain/submissions/schemas.ts';
import { READER_VERSION } from '../../lambdas/domain/submissions/terms.ts';
import { createReadStream } from 'node:fs';
import { statSync } from 'node:fs';
import { FAN_OUT_DEFAULTS, type FanOutDeps } from '../../lambdas/domain/fan-out/deps.ts';
import type { Submission } from '../../lambdas/domain/model.ts';
import type { QueueSender } from '../../lambdas/domain/queues/ports.ts';
import { systemClock as clock } from '../../lambdas/runtime/clock.ts';

const MAX_RECORD_BYTES = 64 * 1024;
const DAY_MS = 86_400_000;
export const SCHEMAS = schemaSetOf(recordSchema, PROVIDERS);
const { mapping } = resolveProfile({}, recordSchema);

/** What stands in for AWS around the fan-out of one file: stores that keep one submission, and a queue that only counts. */
export interface FanOutPorts {
  readonly deps: FanOutDeps;
  readonly submission: Submission;
  /** Messages that were sent to the lanes so far. */
  readonly sent: () => number;
}

/** A port of which only some methods are reached: any other one says so by its name. */
export function port<T extends object>(name: string, methods: Partial<T>): T {
  const known: object = methods;
  return new Proxy(known, {
    get(target, method) {
      if (Reflect.has(target, method)) return Reflect.get(target, method) as unknown;
      throw new RangeError(
        `The function has come to need ${name}.${String(method)}: add it to the ports of its benchmark.`,
      );
    },
  }) as T;
}

/** @param lane - Takes the records, counted; by default everything at once. */
export function createFanOutPorts(path: string, lane: QueueSender = { send: async () => [] }): FanOutPorts {
  const submission = newSubmission(statSync(path).size);
  let sent = 0;
  const counted: QueueSender = {
    async send(messages) {
      sent += messages.length;
      return lane.send(messages);
    },
  };
  const nowhere: QueueSender = { send: async () => [] };
  const submissions = port<FanOutDeps['submissions']>('submissions', {
    claimFanOut: async () => ({
      outcome: 'claimed',
      submission: { ...submission, fanOut: { ...submission.fanOut } },
    }),
    decideLane: async (_id, _owner, wanted) => (submission.lane ??= wanted),
    async checkpointFanOut(_id, _owner, progress) {
      Object.assign(submission.fanOut, progress);
      return submission;
    },
    reject: async (_id, _owner, rejection) => Object.assign(submission, { state: 'rejected' as const, rejection }),
    async completeFanOut(_id, _owner, records) {
      Object.assign(submission.fanOut, { done: true, records });
      return submission;
    },
  });
  const deps: FanOutDeps = {
    submissions,
    schemas: new AcceptedSchemas(submissions, SCHEMAS),
    ledger: port<FanOutDeps['ledger']>('ledger', {
      get: async () => undefined,
      noteStarts: async () => undefined,
      setSize: async (_id, chunk, size) => ({
        chunk,
        size,
        succeeded: new Set(),
        cancelled: new Set(),
        failed: new Map(),
      }),
    }),
    objects: port<FanOutDeps['objects']>('objects', {
      read: async (_source, fromByte) => createReadStream(path, { start: fromByte }),
    }),
    admission: port<FanOutDeps['admission']>('admission', {
      openWork: async () => [],
      setOpenWork: async () => undefined,
      clearOpenWork: async () => undefined,
    }),
    lanes: { small: counted, bulk: counted },
    fanOutQueue: nowhere,
    prepareQueue: nowhere,
    webhookQueue: nowhere,
    finalizeQueue: nowhere,
    telemetry: { emit: () => undefined },
    clock,
    random: Math.random,
    // One slice does all, however slow the machine is.
    settings: { ...FAN_OUT_DEFAULTS, sliceMs: DAY_MS },
  };
  return { deps, submission, sent: () => sent };
}

export function newSubmission(sizeBytes: number): Submission {
  const nowMs = clock.now();
  return {
    submissionId: 'sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD',
    tenantId: 'acme',
    state: 'processing',
    source: { key: 'uploads/acme/up_1', etag: '"1"', sizeBytes },
    terms: { maxRecordBytes: MAX_RECORD_BYTES, maxRecords: 10_000_000, readerVersion: READER_VERSION, mapping },
    format: 'csv',
    requestHash: '0'.repeat(64),
    fanOut: { done: false, byteOffset: 0, records: 0, line: 1 },
    closedChunks: new Set(),
    outboxPending: false,
    generation: 0,
    resultsVersion: 0,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    progressAtMs: nowMs,
    deadlineAtMs: nowMs + DAY_MS,
    expiresAtSeconds: Math.round((nowMs + 30 * DAY_MS) / 1_000),
  };
}
