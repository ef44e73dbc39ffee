import { closeFullChunks } from '../../../lambdas/domain/ledger/settlement.ts';
import { PartTurns } from '../../../lambdas/domain/finalize/part-turns.ts';
import { FINALIZE_DEFAULTS, type FinalizeDeps, type FinalizeSettings } from '../../../lambdas/domain/finalize/deps.ts';
import { finalizeSlice } from '../../../lambdas/domain/finalize/finalize-slice.ts';
import { readManifest, type Manifest } from '../../../lambdas/domain/finalize/manifest.ts';
import {
  parseFinalizeMessage,
  parseWebhookMessage,
  type RecordMessage,
  type WebhookMessage,
} from '../../../lambdas/domain/queues/messages.ts';
import { chunkOf, offsetOf, type RecordRow, type RowState } from '../../../lambdas/domain/model.ts';
import type { LedgerMarks } from '../../../lambdas/domain/ledger/ports.ts';
import type { ReasonCode } from '../../../lambdas/domain/reasons.ts';
import { AcceptedSchemas, schemaSetOf } from '../../../lambdas/domain/submissions/schemas.ts';
import { makeProvider, makeRow, SUBMISSION_ID } from '../factories.ts';
import type { PortHook } from '../memory/index.ts';
import { deliverAll } from './deliver.ts';
import { createFanOutRig, type FanOutRig } from './fan-out-rig.ts';

export interface FinalizeRig extends FanOutRig {
  finalizeDeps: FinalizeDeps;
  /** Events that were announced so far. */
  announced(): WebhookMessage[];
  /** Gives every record that was sent the outcome that `outcomeOf` answers: a row, a mark in the ledger, a closed chunk. */
  work(outcomeOf?: (message: RecordMessage) => Partial<RecordRow>): Promise<void>;
  /** Delivers finalize messages until there are none. */
  finalize(
    around?: (slice: () => Promise<void>) => Promise<void>,
  ): Promise<{ deliveries: number; failures: unknown[] }>;
  manifest(): Promise<Manifest>;
  /** Lines of the part's file of a kind, the header of a CSV file among them. */
  lines(kind: 'succeeded' | 'failed', format?: 'ndjson' | 'csv', part?: number, version?: number): string[];
}

const PROVIDERS = [
  makeProvider({
    name: 'company',
    responseSchema: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        address: { type: 'object', properties: { city: { type: 'string' } } },
        tags: { type: 'array' },
      },
    },
  }),
  makeProvider({ name: 'geo', responseSchema: { type: 'object', properties: { latitude: { type: 'number' } } } }),
];

const SCHEMAS = schemaSetOf({ type: 'object' }, PROVIDERS);

export function createFinalizeRig(
  options: {
    settings?: Partial<FinalizeSettings>;
    hook?: PortHook;
    recordSchema?: Readonly<Record<string, unknown>>;
  } = {},
): FinalizeRig {
  const rig = createFanOutRig({
    settings: { smallLaneThreshold: 100_000 },
    pieceBytes: 16_384,
    ...(options.hook && { hook: options.hook }),
  });
  const { world, clock, deps } = rig;
  const finalizeDeps: FinalizeDeps = {
    submissions: world.submissions,
    ledger: world.ledger,
    records: world.records,
    objects: world.objects,
    admission: world.admission,
    finalizeQueue: world.queues.live.finalize,
    webhookQueue: world.queues.live.webhooks,
    schemas: new AcceptedSchemas(
      world.submissions,
      options.recordSchema ? { ...SCHEMAS, record: options.recordSchema } : SCHEMAS,
    ),
    turns: new PartTurns(clock),
    telemetry: world.telemetry,
    clock,
    random: deps.random,
    settings: { ...FINALIZE_DEFAULTS, ...options.settings },
  };
  return {
    ...rig,
    finalizeDeps,
    announced: () => world.queues.live.webhooks.messages().map(({ body }) => parseWebhookMessage(body)),
    work: async (outcomeOf = () => ({})) => {
      const messages = rig.sent().toSorted((a, b) => a.recordNo - b.recordNo);
      const rows = messages.map((message) => rowOf(message, outcomeOf(message)));
      for (const row of rows) await world.records.put(row);
      for (const chunk of new Set(rows.map(({ recordNo }) => chunkOf(recordNo)))) {
        const marks = marksOf(rows.filter((row) => chunkOf(row.recordNo) === chunk));
        const item = await world.ledger.mark(SUBMISSION_ID, chunk, marks, messages[0]?.expiresAtSeconds ?? 0);
        await closeFullChunks({ ...deps, telemetry: world.telemetry }, SUBMISSION_ID, [item]);
      }
    },
    finalize: async (around = async (slice) => slice()) =>
      deliverAll(world.queues.live.finalize, clock, async (body) =>
        around(async () => finalizeSlice(finalizeDeps, parseFinalizeMessage(body), { remainingMs: () => 300_000 })),
      ),
    async manifest() {
      const manifest = await readManifest(world.objects, rig.stored());
      if (!manifest) throw new Error('There is no manifest.');
      return manifest;
    },
    lines(kind, format = 'ndjson', part = 1, version = 1) {
      const name = `${kind}-${String(part).padStart(5, '0')}.${format}`;
      const text = world.objects.text(`results/acme/${SUBMISSION_ID}/v${version}/${name}`);
      return text.split(format === 'csv' ? '\r\n' : '\n').slice(0, -1);
    },
  };
}

const rowOf = ({ recordNo, generation, content }: RecordMessage, outcome: Partial<RecordRow>): RecordRow => {
  const defect = content.kind === 'defect' ? ({ state: 'failed', reason: content.reason } as const) : {};
  const state: RowState = outcome.state ?? (content.kind === 'defect' ? 'failed' : 'succeeded');
  const answers = state === 'succeeded' ? {} : { answers: {} };
  return makeRow({ recordNo, generation, ...answers, ...defect, ...outcome });
};

/** What a worker marks in the ledger for rows of one chunk. */
export function marksOf(rows: readonly RecordRow[]): LedgerMarks {
  const offsets = (state: RowState): number[] =>
    rows.filter((row) => row.state === state).map(({ recordNo }) => offsetOf(recordNo));
  const failed = new Map<ReasonCode, number[]>();
  for (const { state, reason, recordNo } of rows) {
    if ((state !== 'failed' && state !== 'dead_lettered') || !reason) continue;
    failed.set(reason, [...(failed.get(reason) ?? []), offsetOf(recordNo)]);
  }
  return { succeeded: offsets('succeeded'), cancelled: offsets('cancelled'), failed };
}
