import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { DependencyUnavailableError } from '../../lambdas/domain/errors.ts';
import type { LedgerMarks } from '../../lambdas/domain/ledger/ports.ts';
import { startTables } from '../contracts/tables.ts';
import type { StoreWorld } from '../contracts/world.ts';
import { EXPIRES_AT_SECONDS, makeProcessing, makeRow, makeSubmission, SUBMISSION_ID } from '../support/factories.ts';
import { START_MS } from '../support/memory/index.ts';
import { injectFaults } from './faulty-client.ts';
import { serviceError } from './service-errors.ts';

jest.setTimeout(30_000);

const tables = await startTables();
const faults = injectFaults(tables.client);
afterAll(async () => tables.stop());

const LEASE = { nowMs: START_MS, leaseMs: 60_000 };
const claim = { submissionId: SUBMISSION_ID, owner: 'a', ...LEASE };
const COUNTS = { total: 3, pending: 0, succeeded: 3, failed: 0, cancelled: 0 };
const marks: LedgerMarks = { succeeded: [1], cancelled: [], failed: new Map() };

let world: StoreWorld;
beforeEach(async () => {
  world = await tables.world();
});

/** Runs a call whose first write is applied without an answer: the SDK repeats it and meets its own work. */
async function withLostReply<T>(call: () => Promise<T>): Promise<T> {
  faults.sent.length = 0;
  faults.loseReplies(1);
  const answer = await call();
  const writes = faults.sent.filter(({ command }) => command !== 'GetItemCommand' && command !== 'QueryCommand');
  expect(writes.length).toBeGreaterThanOrEqual(2);
  return answer;
}

describe('a write that was applied, whose answer was lost', () => {
  const having = async (submission: Parameters<StoreWorld['submissions']['create']>[0]) => {
    await world.submissions.create(submission);
    return world.submissions;
  };
  const claimed = async () => {
    const submissions = await having(makeSubmission());
    await submissions.claimFanOut(claim);
    return submissions;
  };
  const finalizing = async () => {
    const submissions = await having(makeProcessing(3, { closedChunks: new Set([0]) }));
    await submissions.beginFinalizing(SUBMISSION_ID, 1, START_MS);
    await submissions.claimFinalize(claim);
    return submissions;
  };

  test('has created the submission', async () => {
    const { created } = await withLostReply(async () => world.submissions.create(makeSubmission()));

    expect(created).toBe(true);
  });

  test('has claimed the fan-out', async () => {
    const submissions = await having(makeSubmission());

    expect((await withLostReply(async () => submissions.claimFanOut(claim))).outcome).toBe('claimed');
  });

  test('has decided the lane', async () => {
    const submissions = await claimed();

    expect(await withLostReply(async () => submissions.decideLane(SUBMISSION_ID, 'a', 'bulk'))).toBe('bulk');
  });

  test('has stored a checkpoint that gives the lease up', async () => {
    const submissions = await claimed();
    const at = { byteOffset: 90, records: 3, line: 4 };

    const stored = await withLostReply(async () => submissions.checkpointFanOut(SUBMISSION_ID, 'a', at, 'release'));

    expect(stored.fanOut).toEqual({ done: false, ...at });
  });

  test('has ended the fan-out', async () => {
    const submissions = await claimed();

    const stored = await withLostReply(async () => submissions.completeFanOut(SUBMISSION_ID, 'a', 3, START_MS));

    expect(stored.fanOut).toMatchObject({ done: true, records: 3 });
  });

  test('has rejected the file', async () => {
    const submissions = await claimed();
    const rejection = { code: 'EMPTY_FILE', detail: 'The file is empty.' };

    const stored = await withLostReply(async () => submissions.reject(SUBMISSION_ID, 'a', rejection, START_MS));

    expect(stored).toMatchObject({ state: 'rejected', rejection });
  });

  test('has won the beginning of the end, and nobody else has', async () => {
    const submissions = await having(makeProcessing(3, { closedChunks: new Set([0]) }));

    const won = await withLostReply(async () => submissions.beginFinalizing(SUBMISSION_ID, 1, START_MS));

    expect(won).toBe(true);
    expect(await submissions.beginFinalizing(SUBMISSION_ID, 1, START_MS)).toBe(false);
  });

  test('has claimed the finalization', async () => {
    const submissions = await having(makeProcessing(3, { closedChunks: new Set([0]) }));
    await submissions.beginFinalizing(SUBMISSION_ID, 1, START_MS);

    expect((await withLostReply(async () => submissions.claimFinalize(claim))).outcome).toBe('claimed');
  });

  test('has finished the submission', async () => {
    const submissions = await finalizing();
    const end = { state: 'complete', resultsVersion: 1, counts: COUNTS, nowMs: START_MS } as const;

    const stored = await withLostReply(async () => submissions.finish(SUBMISSION_ID, 'a', end));

    expect(stored).toMatchObject({ state: 'complete', resultsVersion: 1 });
  });

  test('has stopped the submission', async () => {
    const submissions = await having(makeProcessing(3));
    const stop = { kind: 'cancelled', atMs: START_MS } as const;

    const stored = await withLostReply(async () => submissions.requestStop(SUBMISSION_ID, stop));

    expect(stored).toMatchObject({ state: 'cancelling', stop });
  });

  test('has reopened the submission once', async () => {
    const submissions = await finalizing();
    const change = { chunks: [0], generation: 1, nowMs: START_MS + 9, deadlineAtMs: START_MS };
    // The read comes through; the answer of the write behind it is lost.
    faults.sent.length = 0;
    faults.beforeNext(async () => {
      faults.beforeNext(async () => faults.loseReplies(1));
    });

    const stored = await submissions.reopen(SUBMISSION_ID, change);

    expect(faults.sent.filter(({ command }) => command === 'UpdateItemCommand').length).toBeGreaterThanOrEqual(2);
    expect(stored).toMatchObject({ state: 'processing', generation: 1 });
  });

  test('has marked the ledger', async () => {
    const chunk = await withLostReply(async () => world.ledger.mark(SUBMISSION_ID, 0, marks, EXPIRES_AT_SECONDS));

    expect([...chunk.succeeded]).toEqual([1]);
  });

  test('has put an outcome', async () => {
    const row = makeRow();

    expect(await withLostReply(async () => world.records.put(row))).toEqual({ applied: true, stored: row });
  });

  test('has put a row that nobody had changed, and the same write of another one has not', async () => {
    const row = makeRow({ state: 'retrying', reason: 'redriven' });
    const put = async () => world.records.put(row, undefined, { ifUnchanged: true });

    expect(await withLostReply(put)).toEqual({ applied: true, stored: row });
    expect(await put()).toEqual({ applied: false, stored: row });
  });

  test('has claimed the probe', async () => {
    await world.providers.open('geo', { epoch: 0, openUntilMs: START_MS });
    const probe = { epoch: 1, owner: 'a', nowMs: START_MS, leaseMs: 500 };

    expect((await withLostReply(async () => world.providers.claimProbe('geo', probe))).claimed).toBe(true);
  });

  test('has reserved slots that pass unused: the ones granted come behind them', async () => {
    const request = { provider: 'geo', slots: 5, intervalMs: 20, nowMs: START_MS, maxWaitMs: 1000 };
    await world.providers.reserve(request);

    const reserved = await withLostReply(async () => world.providers.reserve(request));

    expect(reserved).toMatchObject({ granted: true, firstSlotMs: START_MS + 200 });
  });

  test('has noted open work', async () => {
    const work = { submissionId: SUBMISSION_ID, records: 3 };

    await withLostReply(async () => world.admission.setOpenWork('acme', work));

    expect(await world.admission.openWork('acme')).toEqual([work]);
  });
});

describe('a table that throttles', () => {
  const throttle = () =>
    serviceError('ProvisionedThroughputExceededException', 400, { $retryable: { throttling: true } });

  test('for a moment is not noticed', async () => {
    faults.refuse(2, throttle);

    expect((await world.records.put(makeRow())).applied).toBe(true);
  });

  test('for longer is a dependency that does not work', async () => {
    faults.refuse(50, throttle);

    await expect(world.records.put(makeRow())).rejects.toBeInstanceOf(DependencyUnavailableError);

    faults.refuse(0, throttle);
    expect(await world.records.getMany([makeRow()])).toEqual([]);
  });
});

describe('races that one update cannot decide', () => {
  test('a reservation that was overtaken while it changed its form takes the slots behind', async () => {
    const request = { provider: 'geo', slots: 5, intervalMs: 20, nowMs: START_MS, maxWaitMs: 1000 };
    // The first form is refused (nothing is reserved yet), and so is the second: by then somebody else has begun.
    faults.beforeNext(async () => {
      faults.beforeNext(async () => {
        faults.beforeNext(async () => {
          await world.providers.reserve({ ...request, slots: 2 });
        });
      });
    });

    const reserved = await world.providers.reserve(request);

    expect(reserved).toMatchObject({ granted: true, firstSlotMs: START_MS + 40 });
  });

  test('a stop order that was overtaken by the end of the work is noted without moving the state', async () => {
    await world.submissions.create(makeProcessing(3, { closedChunks: new Set([0]) }));
    faults.beforeNext(async () => {
      await world.submissions.beginFinalizing(SUBMISSION_ID, 1, START_MS);
    });

    const stored = await world.submissions.requestStop(SUBMISSION_ID, { kind: 'cancelled', atMs: START_MS });

    expect(stored).toMatchObject({ state: 'finalizing', stop: { kind: 'cancelled' } });
  });

  test('a replay that was overtaken by a cancellation is applied to what stands then, and leaves the cancellation', async () => {
    await world.submissions.create(makeProcessing(3, { closedChunks: new Set([0]) }));
    faults.beforeNext(async () => {
      faults.beforeNext(async () => {
        await world.submissions.requestStop(SUBMISSION_ID, { kind: 'cancelled', atMs: START_MS });
      });
    });

    const change = { chunks: [0], generation: 1, nowMs: START_MS, deadlineAtMs: START_MS };
    const stored = await world.submissions.reopen(SUBMISSION_ID, change);

    expect(stored).toMatchObject({ generation: 1, closedChunks: new Set(), stop: { kind: 'cancelled' } });
  });
});
