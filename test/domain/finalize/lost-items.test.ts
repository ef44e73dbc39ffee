import { describe, expect, it } from '@jest/globals';
import { finalizeSlice } from '../../../lambdas/domain/finalize/finalize-slice.ts';
import { reconcile } from '../../../lambdas/domain/reconcile/reconcile.ts';
import { RECONCILE_DEFAULTS, type ReconcileDeps } from '../../../lambdas/domain/reconcile/deps.ts';
import { MESSAGE_VERSION } from '../../../lambdas/domain/queues/messages.ts';
import { settle } from '../../../lambdas/domain/ledger/settlement.ts';
import { makeRow, SUBMISSION_ID, TENANT_ID } from '../../support/factories.ts';
import { makeCsv, numbersOf, upTo } from '../../support/slices/fan-out-rig.ts';
import { createFinalizeRig, type FinalizeRig } from '../../support/slices/finalize-rig.ts';

const MINUTE_MS = 60_000;

/** A file of 600 records, sent. */
async function sentOut(): Promise<FinalizeRig> {
  const rig = createFinalizeRig({ settings: { partChunks: 2 } });
  await rig.submit(makeCsv(600));
  await rig.run();
  return rig;
}

async function reconcileFor(rig: FinalizeRig, minutes: number): Promise<void> {
  const { world, clock } = rig;
  const deps: ReconcileDeps = {
    ...rig.finalizeDeps,
    ...rig.deps,
    providers: world.providers,
    deadLetterQueues: world.queues.deadLetters,
    apis: [{ name: 'company', ratePerSecond: 50 }],
    settings: { ...RECONCILE_DEFAULTS, visibilityMs: 3 * MINUTE_MS },
  };
  for (let minute = 0; minute < minutes; minute++) {
    await clock.advance(MINUTE_MS);
    await reconcile(deps, { remainingMs: () => 55_000 });
  }
}

/** Takes what waits in the lanes out of them. */
function emptyLanes(rig: FinalizeRig): number[] {
  const numbers = numbersOf(rig.sent());
  rig.world.queues.live.small.purge();
  rig.world.queues.live.bulk.purge();
  return numbers;
}

const chunks = [
  ['the first', 0],
  ['a middle one', 1],
  ['the last, which is not full', 2],
] as const;

describe('a ledger item that was deleted', () => {
  it.each(chunks)('of a chunk that is closed is made anew from the rows: %s', async (_which, chunk) => {
    const rig = await sentOut();
    await rig.work(({ recordNo }) => (recordNo % 10 === 0 ? { state: 'failed', reason: 'provider_rejected' } : {}));
    rig.world.lose.ledger(SUBMISSION_ID, chunk);

    await rig.finalize();

    expect(rig.stored()).toMatchObject({
      state: 'partially_failed',
      finalCounts: { total: 600, succeeded: 540, failed: 60, pending: 0 },
    });
  });

  it.each(chunks)('of a chunk whose rows are there is made up for by the reconciler: %s', async (_which, chunk) => {
    const rig = await sentOut();
    const open = [250, 500, 600][chunk] ?? 0;
    await rig.work(({ recordNo }) => (recordNo === open ? { state: 'retrying' } : {}));
    rig.world.lose.ledger(SUBMISSION_ID, chunk);
    await settle({ ...rig.deps, records: rig.world.records }, [makeRow({ recordNo: open })]);
    expect(rig.stored().state).toBe('processing');

    await reconcileFor(rig, 30);
    await rig.finalize();

    expect(rig.stored()).toMatchObject({ state: 'complete', finalCounts: { total: 600, succeeded: 600 } });
  });
});

describe('rows that were deleted', () => {
  it('of open records are worked again from the source', async () => {
    const rig = await sentOut();
    await rig.work(({ recordNo }) => (recordNo > 300 && recordNo <= 330 ? { state: 'deferred' } : {}));
    for (let recordNo = 301; recordNo <= 330; recordNo++) rig.world.lose.row(SUBMISSION_ID, recordNo);
    emptyLanes(rig);

    await reconcileFor(rig, 30);

    expect(numbersOf(rig.sent())).toEqual(upTo(330).slice(300));
    await rig.work();
    await rig.finalize();
    expect(rig.stored()).toMatchObject({ state: 'complete', finalCounts: { total: 600, succeeded: 600 } });
  });

  it('of failed records are worked again from the source, also when the results are due', async () => {
    const rig = await sentOut();
    await rig.work(({ recordNo }) =>
      recordNo > 300 && recordNo <= 330 ? { state: 'failed', reason: 'provider_rejected' } : {},
    );
    for (let recordNo = 301; recordNo <= 330; recordNo++) rig.world.lose.row(SUBMISSION_ID, recordNo);
    emptyLanes(rig);

    await rig.finalize();
    expect(rig.stored().state).toBe('processing');
    await reconcileFor(rig, 30);

    expect(numbersOf(rig.sent())).toEqual(upTo(330).slice(300));
    await rig.work();
    await rig.finalize();
    expect(rig.stored()).toMatchObject({ state: 'complete', finalCounts: { total: 600, succeeded: 600 } });
  });
});

it('a message for results whose submission was deleted goes to the dead-letter queue', async () => {
  const rig = createFinalizeRig();
  const message = { v: MESSAGE_VERSION, kind: 'results', submissionId: SUBMISSION_ID, tenantId: TENANT_ID } as const;
  await expect(finalizeSlice(rig.finalizeDeps, message, { remainingMs: () => 300_000 })).rejects.toThrow(
    `${SUBMISSION_ID} is not in the submissions table: restore its items, then redrive the dead letter.`,
  );
});
