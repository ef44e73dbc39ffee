import { AcceptedSchemas, schemaSetOf } from '../../lambdas/domain/submissions/schemas.ts';
import { jest } from '@jest/globals';
import { FAN_OUT_DEFAULTS } from '../../lambdas/domain/fan-out/deps.ts';
import { fanOutSlice } from '../../lambdas/domain/fan-out/fan-out-slice.ts';
import { closeFullChunks } from '../../lambdas/domain/ledger/settlement.ts';
import { PartTurns } from '../../lambdas/domain/finalize/part-turns.ts';
import { FINALIZE_DEFAULTS } from '../../lambdas/domain/finalize/deps.ts';
import { finalizeSlice } from '../../lambdas/domain/finalize/finalize-slice.ts';
import { readManifest } from '../../lambdas/domain/finalize/manifest.ts';
import { MESSAGE_VERSION, parseFinalizeMessage, parseRecordMessage } from '../../lambdas/domain/queues/messages.ts';
import { chunkOf } from '../../lambdas/domain/model.ts';
import type { QueueReceiver } from '../../lambdas/domain/queues/ports.ts';
import { startServices } from '../contracts/emulated-services.ts';
import { startTables } from '../contracts/tables.ts';
import { makeProvider, makeRow, makeSubmission, SUBMISSION_ID, TENANT_ID } from '../support/factories.ts';
import { createMemoryWorld, seededRandom } from '../support/memory/index.ts';
import { makeCsv, upTo } from '../support/slices/fan-out-rig.ts';
import { marksOf } from '../support/slices/finalize-rig.ts';

// Every call goes over HTTP here.
jest.setTimeout(60_000);

const RECORDS = 270;
const SOURCE_KEY = 'uploads/acme/up_1';
const about = { v: MESSAGE_VERSION, submissionId: SUBMISSION_ID, tenantId: TENANT_ID } as const;
const budget = { remainingMs: () => 300_000 };

const tables = await startTables();
const services = await startServices();
afterAll(async () => {
  await tables.stop();
  await services.stop();
});

async function receiveAll(queue: QueueReceiver, expected: number): Promise<string[]> {
  const bodies: string[] = [];
  for (let empty = 0; bodies.length < expected && empty < 3;) {
    const deliveries = await queue.receive(10, 60_000);
    await queue.acknowledge(deliveries);
    bodies.push(...deliveries.map(({ body }) => body));
    empty = deliveries.length === 0 ? empty + 1 : 0;
  }
  return bodies;
}

describe('fan-out and finalization over the services', () => {
  it('take a file from its object to its results', async () => {
    const stores = await tables.world();
    const { objects } = await services.objectWorld();
    const [lane, finalizeQueue] = [await services.queueWorld(), await services.queueWorld()];
    const { telemetry } = createMemoryWorld({ clock: stores.clock });
    const common = { ...stores, objects, telemetry, finalizeQueue: finalizeQueue.queue, random: seededRandom(1) };
    const file = Buffer.from(makeCsv(RECORDS));
    const { etag, sizeBytes } = await objects.put(SOURCE_KEY, file, 'text/csv');
    await stores.submissions.create(makeSubmission({ source: { key: SOURCE_KEY, etag, sizeBytes } }));

    const schemas = new AcceptedSchemas(
      stores.submissions,
      schemaSetOf({ type: 'object' }, [makeProvider({ name: 'company' }), makeProvider({ name: 'geo' })]),
    );
    const fanOutDeps = {
      ...common,
      schemas,
      lanes: { small: lane.queue, bulk: lane.queue },
      fanOutQueue: lane.queue,
      prepareQueue: lane.queue,
      webhookQueue: finalizeQueue.queue,
      settings: { ...FAN_OUT_DEFAULTS, checkpointRecords: 250 },
    };
    await fanOutSlice(fanOutDeps, about, budget);

    const messages = (await receiveAll(lane.queue, RECORDS)).map(parseRecordMessage);
    expect(messages.map(({ recordNo }) => recordNo).toSorted((a, b) => a - b)).toEqual(upTo(RECORDS));
    const fannedOut = await stores.submissions.get(SUBMISSION_ID);
    expect(fannedOut).toMatchObject({ state: 'processing', lane: 'small', fanOut: { done: true, records: RECORDS } });
    expect(fannedOut?.fanOut.dialect).toEqual({ delimiter: ',', header: ['record_id', 'name', 'note'] });

    const rows = upTo(RECORDS).map((recordNo) =>
      makeRow({ recordNo, ...(recordNo % 5 === 0 && { state: 'failed', reason: 'provider_rejected', answers: {} }) }),
    );
    await Promise.all(rows.map(async (row) => stores.records.put(row)));
    for (const chunk of [0, 1]) {
      const marks = marksOf(rows.filter(({ recordNo }) => chunkOf(recordNo) === chunk));
      const item = await stores.ledger.mark(SUBMISSION_ID, chunk, marks, makeSubmission().expiresAtSeconds);
      await closeFullChunks(fanOutDeps, SUBMISSION_ID, [item]);
    }
    const [request] = await receiveAll(finalizeQueue.queue, 1);
    const finalizeDeps = {
      ...common,
      webhookQueue: lane.queue,
      schemas,
      turns: new PartTurns(common.clock),
      settings: { ...FINALIZE_DEFAULTS, partChunks: 1 },
    };
    await finalizeSlice(finalizeDeps, parseFinalizeMessage(request ?? ''), budget);

    const finished = await stores.submissions.get(SUBMISSION_ID);
    expect(finished).toMatchObject({
      state: 'partially_failed',
      resultsVersion: 1,
      finalCounts: { succeeded: 216, failed: 54 },
    });
    const manifest = await readManifest(objects, finished ?? makeSubmission());
    expect(manifest).toMatchObject({ counts: { total: RECORDS, failed: 54 }, failures: { provider_rejected: 54 } });
    expect(manifest?.files).toHaveLength(8);
    for (const { key, bytes } of manifest?.files ?? []) expect((await objects.head(key))?.sizeBytes).toBe(bytes);
    expect(telemetry.named('ledger_repaired')).toEqual([]);
    expect(await stores.admission.openWork(TENANT_ID)).toEqual([]);
  });
});
