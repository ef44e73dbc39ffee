import { describe, expect, test } from '@jest/globals';
import { LeaseLostError, SluiceError } from '../../lambdas/domain/errors.ts';
import type { Submission } from '../../lambdas/domain/model.ts';
import { EXPIRES_AT_SECONDS, makeProcessing, makeSubmission, SUBMISSION_ID } from '../support/factories.ts';
import { START_MS } from '../support/memory/index.ts';
import type { Make, StoreWorld } from './world.ts';

const LEASE_MS = 60_000;
const COUNTS = { total: 300, pending: 0, succeeded: 299, failed: 1, cancelled: 0 };
const claim = (owner: string, nowMs = START_MS) => ({ submissionId: SUBMISSION_ID, owner, nowMs, leaseMs: LEASE_MS });
const end = { state: 'partially_failed', resultsVersion: 1, counts: COUNTS, nowMs: START_MS + 9 } as const;

/** The way of a submission to its end, and back by a replay. */
export function describeFinalizing(make: Make<StoreWorld>): void {
  const having = async (submission: Submission): Promise<StoreWorld> => {
    const world = await make();
    await world.submissions.create(submission);
    return world;
  };
  const finalizing = async (): Promise<StoreWorld> => {
    const world = await having(makeProcessing(300, { closedChunks: new Set([0, 1]) }));
    await world.submissions.beginFinalizing(SUBMISSION_ID, 2, START_MS);
    return world;
  };
  const finished = async (): Promise<StoreWorld> => {
    const world = await finalizing();
    await world.submissions.claimFinalize(claim('a'));
    await world.submissions.finish(SUBMISSION_ID, 'a', end);
    return world;
  };

  describe('ending without results', () => {
    const rejection = { code: 'RESULTS_LOST', detail: 'Lost.' };

    test('is what its owner may do, and leaves the results of before', async () => {
      const { submissions } = await finalizing();
      await submissions.claimFinalize(claim('a'));

      await expect(
        submissions.finishWithoutResults(SUBMISSION_ID, 'b', rejection, START_MS + 9),
      ).rejects.toBeInstanceOf(LeaseLostError);
      await submissions.finishWithoutResults(SUBMISSION_ID, 'a', rejection, START_MS + 9);

      const stored = await submissions.get(SUBMISSION_ID);
      expect(stored).toMatchObject({ state: 'rejected', rejection, resultsVersion: 0, updatedAtMs: START_MS + 9 });
      expect(stored?.nextCheckAtMs).toBeUndefined();
      expect((await submissions.listOpen({ limit: 10 })).items).toEqual([]);
    });

    test('is ordered for the generation whose results are due, and for no other', async () => {
      const { submissions } = await finalizing();

      expect(await submissions.giveUpResults(SUBMISSION_ID, 1)).toBe(false);
      expect(await submissions.giveUpResults(SUBMISSION_ID, 0)).toBe(true);
      expect(await submissions.get(SUBMISSION_ID)).toMatchObject({ state: 'finalizing', givenUpGeneration: 0 });
      expect(await submissions.giveUpResults('sub_unknown', 0)).toBe(false);
    });

    test('is not ordered for what has ended', async () => {
      const { submissions } = await finished();

      expect(await submissions.giveUpResults(SUBMISSION_ID, 0)).toBe(false);
      expect((await submissions.get(SUBMISSION_ID))?.givenUpGeneration).toBeUndefined();
    });
  });

  describe('closing chunks', () => {
    test('closings at the same moment all count, and each only once', async () => {
      const { submissions } = await having(makeProcessing(3000));
      const chunks = [0, 1, 2, 3, 4, 5, 6, 7, 3, 4];

      await Promise.all(chunks.map(async (chunk) => submissions.closeChunks(SUBMISSION_ID, [chunk], START_MS + 5)));
      const stored = await submissions.closeChunks(SUBMISSION_ID, [8, 0], START_MS + 6);

      expect(stored.closedChunks).toEqual(new Set([0, 1, 2, 3, 4, 5, 6, 7, 8]));
      expect(stored.progressAtMs).toBe(START_MS + 6);
    });

    test('no chunk closes nothing, and an unknown submission is not invented', async () => {
      const { submissions } = await having(makeProcessing(300));

      expect((await submissions.closeChunks(SUBMISSION_ID, [], START_MS)).closedChunks.size).toBe(0);
      await expect(submissions.closeChunks('sub_unknown', [1], START_MS)).rejects.toBeInstanceOf(SluiceError);
      expect(await submissions.get('sub_unknown')).toBeUndefined();
    });
  });

  describe('beginning', () => {
    test('of many at the same moment exactly one begins', async () => {
      const { submissions } = await having(makeProcessing(300, { closedChunks: new Set([0, 1]) }));

      const won = await Promise.all(
        Array.from({ length: 12 }, async () => submissions.beginFinalizing(SUBMISSION_ID, 2, START_MS)),
      );

      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await submissions.get(SUBMISSION_ID)).toMatchObject({ state: 'finalizing', finalize: { nextPart: 1 } });
    });

    test.each([
      ['a chunk is open', makeProcessing(300, { closedChunks: new Set([0]) })],
      ['fan-out goes on', makeSubmission({ state: 'processing', closedChunks: new Set([0, 1]) })],
      ['it is closed', makeProcessing(300, { state: 'complete', closedChunks: new Set([0, 1]) })],
    ])('nobody begins while %s', async (_why, submission) => {
      const { submissions } = await having(submission);

      expect(await submissions.beginFinalizing(SUBMISSION_ID, 2, START_MS)).toBe(false);
      expect((await submissions.get(SUBMISSION_ID))?.state).toBe(submission.state);
    });

    test('a cancelled file and a file without records come to their end too', async () => {
      const { submissions } = await having(makeProcessing(0, { state: 'cancelling' }));

      expect(await submissions.beginFinalizing(SUBMISSION_ID, 0, START_MS)).toBe(true);
      expect(await submissions.beginFinalizing('sub_unknown', 0, START_MS)).toBe(false);
    });
  });

  describe('under the lease', () => {
    test('of many claims at the same moment exactly one succeeds', async () => {
      const { submissions } = await finalizing();
      const owners = Array.from({ length: 12 }, (_, index) => `owner-${index}`);

      const outcomes = await Promise.all(owners.map(async (owner) => submissions.claimFinalize(claim(owner))));

      expect(outcomes.filter(({ outcome }) => outcome === 'claimed')).toHaveLength(1);
      expect(outcomes.filter(({ outcome }) => outcome === 'busy')).toHaveLength(11);
    });

    test('only what is finalizing can be claimed', async () => {
      const { submissions } = await having(makeProcessing(300));

      expect(await submissions.claimFinalize(claim('a'))).toMatchObject({ outcome: 'over' });
      const unknown = { ...claim('a'), submissionId: 'sub_unknown' };
      expect(await submissions.claimFinalize(unknown)).toEqual({ outcome: 'missing' });
    });

    test('a checkpoint keeps the place, never backwards, and can give the lease up', async () => {
      const { submissions } = await finalizing();
      await submissions.claimFinalize(claim('a'));
      const nowMs = START_MS + 5;
      await submissions.checkpointFinalize(SUBMISSION_ID, 'a', { nextPart: 4 }, { nowMs, leaseMs: LEASE_MS });

      const late = await submissions.checkpointFinalize(SUBMISSION_ID, 'a', { nextPart: 2 }, 'release');
      expect(late.finalize).toEqual({
        nextPart: 4,
        partAtMs: expect.any(Number),
        leaseOwner: 'a',
        leaseUntilMs: nowMs + LEASE_MS,
      });

      const released = await submissions.checkpointFinalize(
        SUBMISSION_ID,
        'a',
        { nextPart: 5, partAtMs: nowMs },
        'release',
      );
      expect(released.finalize).toEqual({ nextPart: 5, partAtMs: nowMs });
      expect(await submissions.claimFinalize(claim('b'))).toMatchObject({
        outcome: 'claimed',
        submission: { finalize: { nextPart: 5, leaseOwner: 'b' } },
      });
      const lost = submissions.checkpointFinalize(SUBMISSION_ID, 'a', { nextPart: 6 }, 'release');
      await expect(lost).rejects.toBeInstanceOf(LeaseLostError);
    });

    test('finishing closes the submission and takes it out of the open ones', async () => {
      const { submissions } = await finalizing();
      await submissions.claimFinalize(claim('a'));

      const closed = await submissions.finish(SUBMISSION_ID, 'a', end);

      expect(closed).toMatchObject({ state: 'partially_failed', resultsVersion: 1, finalCounts: COUNTS });
      expect(closed.nextCheckAtMs).toBeUndefined();
      // Kilobytes for a large file, which every list would read.
      expect(closed.closedChunks.size).toBe(0);
      expect(await submissions.listOpen({ limit: 10 })).toEqual({ items: [], unreadable: [] });
      expect(await submissions.finish(SUBMISSION_ID, 'a', end)).toEqual(closed);
    });

    test('one that lost the lease finishes nothing', async () => {
      const { submissions } = await finalizing();
      await submissions.claimFinalize(claim('a'));
      await submissions.claimFinalize(claim('b', START_MS + LEASE_MS));

      await expect(submissions.finish(SUBMISSION_ID, 'a', end)).rejects.toBeInstanceOf(LeaseLostError);
      expect((await submissions.get(SUBMISSION_ID))?.state).toBe('finalizing');
    });
  });

  describe('stop orders', () => {
    const cancelled = { kind: 'cancelled', atMs: START_MS + 3 } as const;

    test('a cancellation moves an open submission, and the first order stands', async () => {
      const { submissions } = await having(makeProcessing(300));

      expect(await submissions.requestStop(SUBMISSION_ID, cancelled)).toMatchObject({
        state: 'cancelling',
        stop: cancelled,
      });
      const second = await submissions.requestStop(SUBMISSION_ID, { kind: 'expired', atMs: START_MS + 8 });
      expect(second).toMatchObject({ state: 'cancelling', stop: cancelled });
    });

    test('a passed deadline stops the work and leaves the state', async () => {
      const { submissions } = await having(makeProcessing(300));
      const stop = { kind: 'expired', atMs: START_MS } as const;

      expect(await submissions.requestStop(SUBMISSION_ID, stop)).toMatchObject({ state: 'processing', stop });
    });

    test('a cancellation while finalizing is noted and does not move it', async () => {
      const { submissions } = await finalizing();

      const stored = await submissions.requestStop(SUBMISSION_ID, cancelled);

      expect(stored).toMatchObject({ state: 'finalizing', stop: cancelled });
    });

    test('what is closed is not stopped, and what is unknown stays unknown', async () => {
      const { submissions } = await finished();

      const stored = await submissions.requestStop(SUBMISSION_ID, cancelled);

      expect(stored?.state).toBe('partially_failed');
      expect(stored?.stop).toBeUndefined();
      expect(await submissions.requestStop('sub_unknown', cancelled)).toBeUndefined();
    });
  });

  describe('reopening', () => {
    const later = START_MS + 1000;
    const change = { chunks: [1], generation: 1, nowMs: later, deadlineAtMs: later + 5 };

    test('a replay takes its chunks out and brings the submission back to work', async () => {
      const { submissions } = await finished();

      const reopened = await submissions.reopen(SUBMISSION_ID, change);

      expect(reopened).toMatchObject({ state: 'processing', generation: 1, progressAtMs: later, resultsVersion: 1 });
      expect(reopened.closedChunks).toEqual(new Set([0]));
      expect(reopened.nextCheckAtMs).toBe(later + 60_000);
      expect(reopened.deadlineAtMs).toBe(makeProcessing(300).deadlineAtMs);
      expect(reopened.finalize).toBeUndefined();
      const due = await submissions.listDue({ nowMs: later + 60_000, limit: 10 });
      expect(due.map(({ submissionId }) => submissionId)).toEqual([SUBMISSION_ID]);
    });

    test('a closing that comes after the end leaves every other chunk closed for a replay', async () => {
      const { submissions } = await having(makeProcessing(1000, { state: 'complete' }));
      await submissions.closeChunks(SUBMISSION_ID, [2], START_MS);
      expect((await submissions.reopen(SUBMISSION_ID, change)).closedChunks).toEqual(new Set([0, 2, 3]));
      await submissions.closeChunks(SUBMISSION_ID, [1], START_MS);
      expect(await submissions.beginFinalizing(SUBMISSION_ID, 4, START_MS)).toBe(true);
    });

    test('a repeated one is the same, an older one changes nothing', async () => {
      const { submissions } = await finished();
      const reopened = await submissions.reopen(SUBMISSION_ID, change);

      expect(await submissions.reopen(SUBMISSION_ID, change)).toEqual(reopened);
      const older = await submissions.reopen(SUBMISSION_ID, { ...change, generation: 0, chunks: [0] });
      expect(older).toEqual(reopened);
    });

    test('a new generation of what is closed moves the deadline and clears the stop order; the same one keeps it', async () => {
      const { submissions } = await having(
        makeProcessing(300, { state: 'cancelled', stop: { kind: 'cancelled', atMs: START_MS } }),
      );

      const same = await submissions.reopen(SUBMISSION_ID, { ...change, generation: 0 });
      expect(same).toMatchObject({ state: 'processing', stop: { kind: 'cancelled' } });

      const { submissions: others } = await having(
        makeProcessing(300, { state: 'cancelled', stop: { kind: 'cancelled', atMs: START_MS } }),
      );
      const deadlineAtMs = same.deadlineAtMs + 1;
      const replayed = await others.reopen(SUBMISSION_ID, { ...change, deadlineAtMs });
      expect(replayed.stop).toBeUndefined();
      // Messages of what it has ended may still be on their way.
      expect(replayed.stoppedGeneration).toBe(0);
      expect(replayed.deadlineAtMs).toBe(deadlineAtMs);
    });

    test('a stop order that came just before a replay stands', async () => {
      const { submissions } = await having(makeProcessing(300));
      await submissions.requestStop(SUBMISSION_ID, { kind: 'cancelled', atMs: START_MS });

      expect(await submissions.reopen(SUBMISSION_ID, change)).toMatchObject({
        generation: 1,
        stop: { kind: 'cancelled' },
      });
    });

    test('a finalizer that found an open record has lost its lease by it, and the end is found again', async () => {
      const { submissions } = await finalizing();
      await submissions.claimFinalize(claim('a'));

      await submissions.reopen(SUBMISSION_ID, { ...change, generation: 0 });

      await expect(submissions.finish(SUBMISSION_ID, 'a', end)).rejects.toBeInstanceOf(LeaseLostError);
      expect(await submissions.beginFinalizing(SUBMISSION_ID, 2, START_MS)).toBe(false);
      await submissions.closeChunks(SUBMISSION_ID, [1], START_MS);
      expect(await submissions.beginFinalizing(SUBMISSION_ID, 2, START_MS)).toBe(true);
    });

    test('a replay and a closing chunk at the same moment lose nothing', async () => {
      const { submissions } = await having(makeProcessing(1000, { closedChunks: new Set([0, 1]) }));

      await Promise.all([
        submissions.reopen(SUBMISSION_ID, change),
        submissions.closeChunks(SUBMISSION_ID, [2], START_MS),
        submissions.closeChunks(SUBMISSION_ID, [3], START_MS),
      ]);

      const stored = await submissions.get(SUBMISSION_ID);
      expect(stored?.closedChunks).toEqual(new Set([0, 2, 3]));
    });

    test('a rejected file stays rejected; an expired submission cannot be reopened', async () => {
      const { submissions, clock } = await having(makeSubmission({ state: 'rejected' }));
      expect(await submissions.reopen(SUBMISSION_ID, change)).toMatchObject({ state: 'rejected', generation: 0 });

      await clock.advance(EXPIRES_AT_SECONDS * 1000 - START_MS);
      await expect(submissions.reopen(SUBMISSION_ID, change)).rejects.toBeInstanceOf(SluiceError);
    });
  });
}
