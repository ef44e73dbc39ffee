import { describe, expect, test } from '@jest/globals';
import { LeaseLostError, SluiceError } from '../../lambdas/domain/errors.ts';
import { makeProcessing, makeSubmission, SUBMISSION_ID } from '../support/factories.ts';
import { START_MS } from '../support/memory/index.ts';
import type { Make, StoreWorld } from './world.ts';

const LEASE_MS = 60_000;
const claim = (owner: string, nowMs = START_MS) => ({ submissionId: SUBMISSION_ID, owner, nowMs, leaseMs: LEASE_MS });
const at = (byteOffset: number, records: number) => ({ byteOffset, records, line: records + 1 });

/** What fan-out does to a submission under its lease. */
export function describeFanOutLease(make: Make<StoreWorld>): void {
  const accepted = async (): Promise<StoreWorld> => {
    const world = await make();
    await world.submissions.create(makeSubmission());
    return world;
  };
  const claimedBy = async (owner: string): Promise<StoreWorld> => {
    const world = await accepted();
    await world.submissions.claimFanOut(claim(owner));
    return world;
  };

  describe('claiming', () => {
    test('a claim takes the lease and begins processing', async () => {
      const { submissions } = await accepted();

      const claimed = await submissions.claimFanOut(claim('a'));

      expect(claimed).toMatchObject({ outcome: 'claimed', submission: { state: 'processing' } });
      expect((await submissions.get(SUBMISSION_ID))?.fanOut).toMatchObject({
        leaseOwner: 'a',
        leaseUntilMs: START_MS + LEASE_MS,
      });
    });

    test('of many claims at the same moment exactly one succeeds', async () => {
      const { submissions } = await accepted();
      const owners = Array.from({ length: 12 }, (_, index) => `owner-${index}`);

      const outcomes = await Promise.all(owners.map(async (owner) => submissions.claimFanOut(claim(owner))));

      expect(outcomes.filter(({ outcome }) => outcome === 'claimed')).toHaveLength(1);
      expect(outcomes.filter(({ outcome }) => outcome === 'busy')).toHaveLength(11);
    });

    test('a running lease is busy for others, until the moment it ends', async () => {
      const { submissions } = await claimedBy('a');

      const early = await submissions.claimFanOut(claim('b', START_MS + LEASE_MS - 1));
      const inTime = await submissions.claimFanOut(claim('b', START_MS + LEASE_MS));

      expect(early).toEqual({ outcome: 'busy', untilMs: START_MS + LEASE_MS });
      expect(inTime.outcome).toBe('claimed');
    });

    test('the owner that repeats its claim has it still', async () => {
      const { submissions } = await claimedBy('a');

      expect((await submissions.claimFanOut(claim('a', START_MS + 1))).outcome).toBe('claimed');
    });

    test('a cancelling submission is claimed and stays cancelling', async () => {
      const { submissions } = await accepted();
      await submissions.requestStop(SUBMISSION_ID, { kind: 'cancelled', atMs: START_MS });

      const claimed = await submissions.claimFanOut(claim('a'));

      expect(claimed).toMatchObject({ outcome: 'claimed', submission: { state: 'cancelling' } });
    });

    test('there is nothing to claim once fan-out is done, or when there is no submission', async () => {
      const { submissions } = await make();
      expect(await submissions.claimFanOut(claim('a'))).toEqual({ outcome: 'missing' });

      await submissions.create(makeProcessing(3));
      expect(await submissions.claimFanOut(claim('a'))).toMatchObject({ outcome: 'over' });
    });
  });

  describe('what a source is prepared to', () => {
    const prepared = {
      source: { key: 'prepared/acme/1', etag: '"p"', sizeBytes: 7 },
      format: 'csv',
      from: { kind: 'xlsx', sheet: 'Export' },
    } as const;

    test('is noted and gives the lease up, also when it is noted twice', async () => {
      const { submissions } = await claimedBy('a');

      await submissions.setPrepared(SUBMISSION_ID, 'a', prepared, START_MS + 1);
      const stored = await submissions.setPrepared(SUBMISSION_ID, 'a', prepared, START_MS + 1);

      expect(stored).toMatchObject({ prepared, progressAtMs: START_MS + 1 });
      expect(await submissions.get(SUBMISSION_ID)).toEqual(stored);
      expect((await submissions.claimFanOut(claim('b'))).outcome).toBe('claimed');
    });

    test('is not noted by one that lost the lease', async () => {
      const { submissions } = await claimedBy('a');
      await submissions.claimFanOut(claim('b', START_MS + LEASE_MS));

      const late = submissions.setPrepared(SUBMISSION_ID, 'a', prepared, START_MS + LEASE_MS);
      await expect(late).rejects.toBeInstanceOf(LeaseLostError);
      expect((await submissions.get(SUBMISSION_ID))?.prepared).toBeUndefined();
    });
  });

  describe('the lane', () => {
    test('is written once: whoever continues gets the one that stands', async () => {
      const { submissions } = await claimedBy('a');

      expect(await submissions.decideLane(SUBMISSION_ID, 'a', 'small')).toBe('small');
      expect(await submissions.decideLane(SUBMISSION_ID, 'a', 'bulk')).toBe('small');
      expect((await submissions.get(SUBMISSION_ID))?.lane).toBe('small');
    });

    test('is not decided by one that lost the lease', async () => {
      const { submissions } = await claimedBy('a');
      await submissions.claimFanOut(claim('b', START_MS + LEASE_MS));

      await expect(submissions.decideLane(SUBMISSION_ID, 'a', 'small')).rejects.toBeInstanceOf(LeaseLostError);
      expect((await submissions.get(SUBMISSION_ID))?.lane).toBeUndefined();
    });
  });

  describe('checkpoints', () => {
    test('store the position and renew the lease', async () => {
      const { submissions } = await claimedBy('a');
      const dialect = { delimiter: ',', header: ['record_id'] };
      const nowMs = START_MS + 5000;

      await submissions.checkpointFanOut(SUBMISSION_ID, 'a', { ...at(500, 5), dialect }, { nowMs, leaseMs: LEASE_MS });

      const stored = await submissions.get(SUBMISSION_ID);
      expect(stored?.fanOut).toEqual({
        done: false,
        ...at(500, 5),
        dialect,
        leaseOwner: 'a',
        leaseUntilMs: nowMs + LEASE_MS,
      });
      expect(stored?.progressAtMs).toBe(nowMs);
    });

    test('keep the dialect that an earlier one stored', async () => {
      const { submissions } = await claimedBy('a');
      const dialect = { delimiter: ',', header: ['record_id'] };
      const lease = { nowMs: START_MS, leaseMs: LEASE_MS };
      await submissions.checkpointFanOut(SUBMISSION_ID, 'a', { ...at(10, 0), dialect }, lease);

      const stored = await submissions.checkpointFanOut(SUBMISSION_ID, 'a', at(500, 5), lease);

      expect(stored.fanOut.dialect).toEqual(dialect);
    });

    test('can give the lease up, and a repeated release changes nothing', async () => {
      const { submissions } = await claimedBy('a');

      await submissions.checkpointFanOut(SUBMISSION_ID, 'a', at(500, 5), 'release');
      const repeated = await submissions.checkpointFanOut(SUBMISSION_ID, 'a', at(500, 5), 'release');

      expect(repeated.fanOut).toEqual({ done: false, ...at(500, 5) });
      expect((await submissions.claimFanOut(claim('b'))).outcome).toBe('claimed');
    });

    test('never take the position back', async () => {
      const { submissions } = await claimedBy('a');
      const lease = { nowMs: START_MS, leaseMs: LEASE_MS };
      await submissions.checkpointFanOut(SUBMISSION_ID, 'a', at(900, 9), lease);

      const late = await submissions.checkpointFanOut(SUBMISSION_ID, 'a', at(500, 5), lease);

      expect(late.fanOut).toMatchObject(at(900, 9));
    });

    test('of one that lost the lease are refused', async () => {
      const { submissions } = await claimedBy('a');
      await submissions.claimFanOut(claim('b', START_MS + LEASE_MS));

      const late = submissions.checkpointFanOut(SUBMISSION_ID, 'a', at(500, 5), 'release');

      await expect(late).rejects.toBeInstanceOf(LeaseLostError);
      expect((await submissions.get(SUBMISSION_ID))?.fanOut).toMatchObject({ ...at(0, 0), leaseOwner: 'b' });
    });
  });

  describe('the end', () => {
    test('fixes the total and gives the lease up', async () => {
      const { submissions } = await claimedBy('a');

      const ended = await submissions.completeFanOut(SUBMISSION_ID, 'a', 7, START_MS + 9);

      expect(ended.fanOut).toEqual({ done: true, byteOffset: 0, records: 7, line: 1 });
      expect(ended.progressAtMs).toBe(START_MS + 9);
      expect(await submissions.completeFanOut(SUBMISSION_ID, 'a', 7, START_MS + 10)).toEqual(ended);
    });

    test('is not written by one that lost the lease', async () => {
      const { submissions } = await claimedBy('a');
      await submissions.claimFanOut(claim('b', START_MS + LEASE_MS));
      await submissions.completeFanOut(SUBMISSION_ID, 'b', 7, START_MS);

      const late = submissions.completeFanOut(SUBMISSION_ID, 'a', 7, START_MS);

      await expect(late).rejects.toBeInstanceOf(LeaseLostError);
    });

    test('of an unknown submission is an error of its own', async () => {
      const { submissions } = await make();

      const call = submissions.completeFanOut('sub_unknown', 'a', 7, START_MS);

      await expect(call).rejects.toThrow(/sub_unknown is missing/);
      await expect(call).rejects.toBeInstanceOf(SluiceError);
    });
  });

  describe('rejection', () => {
    const rejection = { code: 'EMPTY_FILE', detail: 'The file holds no record.' };

    test('closes the submission, and a repeated one changes nothing', async () => {
      const { submissions } = await claimedBy('a');

      const rejected = await submissions.reject(SUBMISSION_ID, 'a', rejection, START_MS + 1);

      expect(rejected).toMatchObject({ state: 'rejected', rejection });
      expect(rejected.nextCheckAtMs).toBeUndefined();
      expect(rejected.fanOut.leaseOwner).toBeUndefined();
      expect(await submissions.reject(SUBMISSION_ID, 'a', rejection, START_MS + 2)).toEqual(rejected);
      expect(await submissions.claimFanOut(claim('b'))).toMatchObject({ outcome: 'over' });
      expect(await submissions.listOpen({ limit: 10 })).toEqual({ items: [], unreadable: [] });
    });

    test('comes too late once a message may have been sent', async () => {
      const { submissions } = await claimedBy('a');
      await submissions.decideLane(SUBMISSION_ID, 'a', 'small');

      expect(await submissions.reject(SUBMISSION_ID, 'a', rejection, START_MS)).toMatchObject({ state: 'processing' });
    });

    test('is refused from one that lost the lease', async () => {
      const { submissions } = await claimedBy('a');
      await submissions.claimFanOut(claim('b', START_MS + LEASE_MS));

      const late = submissions.reject(SUBMISSION_ID, 'a', rejection, START_MS);

      await expect(late).rejects.toBeInstanceOf(LeaseLostError);
    });
  });
}
