import { UnverifiedInputError } from '../../../lambdas/domain/errors.ts';
import { recount } from '../../../lambdas/domain/finalize/recount.ts';
import { tally } from '../../../lambdas/domain/ledger/ledger.ts';
import { CHUNK_RECORDS } from '../../../lambdas/domain/model.ts';
import { makeRow, makeSubmission, SUBMISSION_ID } from '../../support/factories.ts';
import { makeCsv, upTo } from '../../support/slices/fan-out-rig.ts';
import { createFinalizeRig, marksOf, type FinalizeRig } from '../../support/slices/finalize-rig.ts';

const failed = { state: 'failed', reason: 'provider_rejected' } as const;

async function finishedRig(records: number, prepare: (rig: FinalizeRig) => Promise<void>): Promise<FinalizeRig> {
  const rig = createFinalizeRig();
  await rig.submit(makeCsv(records));
  await rig.run();
  await prepare(rig);
  await rig.finalize();
  return rig;
}

const close = async (rig: FinalizeRig, chunks: number[]): Promise<void> => {
  const stored = await rig.world.submissions.closeChunks(SUBMISSION_ID, chunks, rig.clock.now());
  await rig.world.submissions.beginFinalizing(SUBMISSION_ID, chunks.length, rig.clock.now());
  const message = { v: 1, kind: 'results', submissionId: SUBMISSION_ID, tenantId: stored.tenantId };
  await rig.world.queues.live.finalize.send([{ body: JSON.stringify(message), group: stored.tenantId }]);
};

describe('recounting a submission', () => {
  it('adds to the ledger what a row has and the ledger lacks', async () => {
    const rows = upTo(10).map((recordNo) => makeRow({ recordNo, ...(recordNo > 7 && failed) }));
    const rig = await finishedRig(10, async ({ world, ...rest }) => {
      for (const row of rows) await world.records.put(row);
      await close({ world, ...rest }, [0]);
    });

    const ledger = rig.world.inspect.ledger(SUBMISSION_ID);
    expect(tally(rig.stored(), ledger)).toEqual({
      counts: { total: 10, pending: 0, succeeded: 7, failed: 3, cancelled: 0 },
      failures: { provider_rejected: 3 },
    });
    expect(rig.stored().state).toBe('partially_failed');
    expect(rig.world.telemetry.named('ledger_repaired')).toMatchObject([{ count: 10 }]);
  });

  it('reports outcomes past the end of the file, of which no results are made', async () => {
    const rig = await finishedRig(3, async (prepared) => {
      for (const recordNo of upTo(3)) await prepared.world.records.put(makeRow({ recordNo }));
      const marks = marksOf([...upTo(3), 5, 9].map((recordNo) => makeRow({ recordNo })));
      await prepared.world.ledger.mark(SUBMISSION_ID, 0, marks, makeSubmission().expiresAtSeconds);
      await close(prepared, [0]);
    });

    expect(rig.stored()).toMatchObject({ state: 'complete', finalCounts: { total: 3, succeeded: 3 } });
    expect(rig.world.telemetry.named('conservation_broken')).toMatchObject([
      { level: 'error', submissionId: SUBMISSION_ID, recordNo: 5, count: 2 },
    ]);
  });

  it('reports outcomes past a file that ends with a full chunk', async () => {
    const rig = await finishedRig(CHUNK_RECORDS, async (prepared) => {
      for (const recordNo of upTo(CHUNK_RECORDS)) await prepared.world.records.put(makeRow({ recordNo }));
      const marks = marksOf([makeRow({ recordNo: CHUNK_RECORDS + 1 })]);
      await prepared.world.ledger.mark(SUBMISSION_ID, 1, marks, makeSubmission().expiresAtSeconds);
      await close(prepared, [0]);
    });

    expect(rig.stored()).toMatchObject({ state: 'complete', finalCounts: { total: CHUNK_RECORDS } });
    expect(rig.world.telemetry.named('conservation_broken')).toMatchObject([{ recordNo: CHUNK_RECORDS + 1, count: 1 }]);
  });

  it('corrects a failure that the row gives another reason, or none', async () => {
    const rig = await finishedRig(3, async (prepared) => {
      const rows = [
        makeRow({ recordNo: 1, ...failed }),
        makeRow({ recordNo: 2 }),
        makeRow({ recordNo: 3, state: 'cancelled', reason: 'cancelled' }),
      ];
      for (const row of rows) await prepared.world.records.put(row);
      const wrong = marksOf(
        upTo(3).map((recordNo) => makeRow({ recordNo, state: 'failed', reason: 'invalid_record' })),
      );
      await prepared.world.ledger.mark(SUBMISSION_ID, 0, wrong, makeSubmission().expiresAtSeconds);
      await close(prepared, [0]);
    });

    expect(tally(rig.stored(), rig.world.inspect.ledger(SUBMISSION_ID))).toMatchObject({
      counts: { succeeded: 1, failed: 1, cancelled: 1 },
      failures: { provider_rejected: 1 },
    });
    expect((await rig.manifest()).failures).toEqual({ provider_rejected: 1 });
  });

  it('opens the chunks again in which a record has no outcome, and writes nothing', async () => {
    const rig = await finishedRig(1_000, async (prepared) => {
      const rows = upTo(1_000).map((recordNo) =>
        makeRow({ recordNo, ...(recordNo === 600 && { state: 'retrying', reason: 'provider_timeout' }) }),
      );
      for (const row of rows.filter(({ recordNo }) => recordNo !== 251)) await prepared.world.records.put(row);
      // The ledger knows a failure that no row confirms.
      const marks = marksOf([makeRow({ recordNo: 600, ...failed })]);
      await prepared.world.ledger.mark(SUBMISSION_ID, 2, marks, makeSubmission().expiresAtSeconds);
      await close(prepared, [0, 1, 2, 3]);
    });

    expect(rig.stored()).toMatchObject({ state: 'processing', resultsVersion: 0, generation: 0 });
    expect([...rig.stored().closedChunks]).toEqual([0, 3]);
    expect(rig.world.objects.keys().filter((key) => key.startsWith('results/'))).toEqual([]);
    const { counts } = tally(rig.stored(), rig.world.inspect.ledger(SUBMISSION_ID));
    expect(counts).toMatchObject({ pending: 2, succeeded: 998, failed: 0 });
    expect(rig.world.telemetry.named('submission_reopened')).toMatchObject([{ level: 'error', count: 2 }]);

    await rig.work();
    await rig.finalize();
    expect(rig.stored()).toMatchObject({ state: 'complete', resultsVersion: 1 });
    expect(rig.lines('succeeded')).toHaveLength(1_000);
  });

  it('fails loudly when the ledger has a success that the row denies', () => {
    const ledger = {
      chunk: 3,
      succeeded: new Set([0]),
      cancelled: new Set<number>(),
      failed: new Map(),
    };
    const rows = [makeRow({ recordNo: 751, ...failed })];
    expect(() => recount(makeSubmission(), rows, ledger, 1)).toThrow(UnverifiedInputError);
    expect(() => recount(makeSubmission(), rows, ledger, 1)).toThrow('record 751');
  });

  it('ignores rows behind the end of the file', () => {
    const ledger = { chunk: 0, succeeded: new Set([0, 1]), cancelled: new Set<number>(), failed: new Map() };
    const found = recount(
      makeSubmission(),
      [makeRow({ recordNo: 1 }), makeRow({ recordNo: 2 }), makeRow({ recordNo: 3, ...failed })],
      ledger,
      2,
    );
    expect(found).toMatchObject({ open: [], wrong: [], missing: undefined });
    expect([...found.finished.keys()]).toEqual([0, 1]);
  });

  it('does not take over from a replay that opened the submission in the meantime', async () => {
    const rig = createFinalizeRig({
      hook: async (call, apply) => {
        const result = await apply();
        if (call.method === 'chunkRows') {
          const change = { chunks: [0], generation: 1, nowMs: rig.clock.now(), deadlineAtMs: 0 };
          await rig.world.submissions.reopen(SUBMISSION_ID, change);
        }
        return result;
      },
    });
    await rig.submit(makeCsv(3));
    await rig.run();
    await rig.world.records.put(makeRow({ recordNo: 1 }));
    await close(rig, [0]);

    await rig.finalize();

    expect(rig.stored()).toMatchObject({ state: 'processing', generation: 1 });
    expect(rig.world.telemetry.named('submission_reopened')).toEqual([]);
  });
});
