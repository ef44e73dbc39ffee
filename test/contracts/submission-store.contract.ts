import { describe, expect, test } from '@jest/globals';
import { InvalidCursorError } from '../../lambdas/domain/errors.ts';
import type { Submission } from '../../lambdas/domain/model.ts';
import type { Page } from '../../lambdas/domain/submissions/ports.ts';
import { EXPIRES_AT_SECONDS, makeSubmission, SUBMISSION_ID, TENANT_ID } from '../support/factories.ts';
import { START_MS } from '../support/memory/index.ts';
import type { Make, StoreWorld } from './world.ts';

const DAY_MS = 86_400_000;

const everyOptionalField = (): Submission =>
  makeSubmission({
    lane: 'bulk',
    fileName: 'Kunden – Übersicht.csv',
    expectedRecords: 12,
    reference: 'march run',
    callbackUrl: 'https://example.com/done',
    closedChunks: new Set([0, 3]),
    fanOut: {
      done: false,
      byteOffset: 120,
      records: 3,
      line: 5,
      dialect: { delimiter: ';', header: ['record_id', 'name'] },
    },
  });

async function everyPage(read: (cursor?: string) => Promise<Page<Submission>>): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page: Page<Submission> = await read(cursor);
    pages.push(page.items.map(({ submissionId }) => submissionId));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return pages;
}

/** Creating, reading and listing. */
export function describeSubmissionStore(make: Make<StoreWorld>): void {
  describe('creation', () => {
    test('a submission is stored with every field it has', async () => {
      const { submissions } = await make();
      const submission = everyOptionalField();

      const { created, stored } = await submissions.create(submission);

      expect(created).toBe(true);
      expect(stored).toEqual(submission);
      expect(await submissions.get(SUBMISSION_ID)).toEqual(submission);
    });

    test('schemas are kept under their hash, the first that were stored', async () => {
      const { submissions } = await make();
      const schemas = { record: { type: 'object', required: ['name'] }, responses: { company: { type: 'object' } } };
      expect(await submissions.getSchemas('a1')).toBeUndefined();
      await submissions.keepSchemas('a1', schemas);
      await submissions.keepSchemas('a1', { ...schemas, responses: {} });
      expect(await submissions.getSchemas('a1')).toEqual(schemas);
      expect((await submissions.listAll({ limit: 10 })).items).toEqual([]);
    });

    test('the first of two with one id stands, and both callers are told of it', async () => {
      const { submissions } = await make();
      await submissions.create(makeSubmission({ requestHash: 'first' }));

      const second = await submissions.create(makeSubmission({ requestHash: 'second' }));

      expect(second.created).toBe(false);
      expect(second.stored.requestHash).toBe('first');
    });

    test('of many at the same moment exactly one creates', async () => {
      const { submissions } = await make();
      const racers = Array.from({ length: 12 }, (_, racer) => makeSubmission({ requestHash: `hash-${racer}` }));

      const outcomes = await Promise.all(racers.map(async (racer) => submissions.create(racer)));

      expect(outcomes.filter(({ created }) => created)).toHaveLength(1);
      expect(new Set(outcomes.map(({ stored }) => stored.requestHash)).size).toBe(1);
    });

    test('an expired submission is absent and makes way for a new one of the same id', async () => {
      const { submissions, clock } = await make();
      await submissions.create(makeSubmission({ requestHash: 'old' }));
      await clock.advance(EXPIRES_AT_SECONDS * 1000 - START_MS);
      expect(await submissions.get(SUBMISSION_ID)).toBeUndefined();

      const successor = makeSubmission({ requestHash: 'new', expiresAtSeconds: EXPIRES_AT_SECONDS + 1000 });
      const { created, stored } = await submissions.create(successor);

      expect(created).toBe(true);
      expect(stored.requestHash).toBe('new');
    });

    test('what a caller holds is its own copy', async () => {
      const { submissions } = await make();
      const submission = makeSubmission();
      await submissions.create(submission);
      submission.fanOut.records = 99;

      const read = await submissions.get(SUBMISSION_ID);
      if (read) read.fanOut.records = 98;

      expect((await submissions.get(SUBMISSION_ID))?.fanOut.records).toBe(0);
    });
  });

  describe('reading with the ledger', () => {
    test('the ledger comes in chunk order, without that of other submissions', async () => {
      const { submissions, ledger } = await make();
      await submissions.create(makeSubmission());
      const marks = (offset: number) => ({ succeeded: [offset], cancelled: [], failed: new Map() });
      for (const chunk of [10, 2, 0]) await ledger.mark(SUBMISSION_ID, chunk, marks(chunk), EXPIRES_AT_SECONDS);
      await ledger.mark('sub_other', 1, marks(1), EXPIRES_AT_SECONDS);

      const read = await submissions.getWithLedger(SUBMISSION_ID);

      expect(read?.submission).toEqual(makeSubmission());
      expect(read?.ledger.map(({ chunk, succeeded }) => [chunk, [...succeeded]])).toEqual([
        [0, [0]],
        [2, [2]],
        [10, [10]],
      ]);
    });

    test('the ledger is read from a chunk on, page by page, and nothing of other kinds or submissions', async () => {
      const { submissions, ledger } = await make();
      await submissions.create(makeSubmission());
      const marks = (offset: number) => ({ succeeded: [offset], cancelled: [], failed: new Map() });
      for (const chunk of [0, 3, 9, 10, 99_999]) await ledger.mark(SUBMISSION_ID, chunk, marks(1), EXPIRES_AT_SECONDS);
      await ledger.mark('sub_other', 4, marks(1), EXPIRES_AT_SECONDS);
      const pages: number[][] = [];
      let from: number | undefined = 3;
      while (from !== undefined) {
        const page = await submissions.ledgerPage(SUBMISSION_ID, { from, limit: 2 });
        pages.push(page.chunks.map(({ chunk }) => chunk));
        from = page.next;
      }
      expect(pages.flat()).toEqual([3, 9, 10, 99_999]);
      expect(Math.max(...pages.map(({ length }) => length))).toBe(2);
      expect(await submissions.ledgerPage('sub_unknown', { from: 0, limit: 2 })).toEqual({ chunks: [] });
    });

    test('neither an absent nor an expired submission is answered, and no expired ledger', async () => {
      const { submissions, ledger, clock } = await make();
      await submissions.create(makeSubmission());
      const none = { succeeded: [1], cancelled: [], failed: new Map() };
      await ledger.mark(SUBMISSION_ID, 0, none, EXPIRES_AT_SECONDS - 100);
      expect(await submissions.getWithLedger('sub_unknown')).toBeUndefined();

      await clock.advance((EXPIRES_AT_SECONDS - 50) * 1000 - START_MS);
      expect((await submissions.getWithLedger(SUBMISSION_ID))?.ledger).toEqual([]);

      await clock.advance(DAY_MS);
      expect(await submissions.getWithLedger(SUBMISSION_ID)).toBeUndefined();
    });
  });

  describe('lists', () => {
    const seed = async ({ submissions }: StoreWorld, count: number, overrides: Partial<Submission> = {}) => {
      for (let index = 0; index < count; index++) {
        await submissions.create(
          makeSubmission({
            submissionId: `sub_${index}`,
            createdAtMs: START_MS + index,
            nextCheckAtMs: START_MS + 100 * index,
            ...overrides,
          }),
        );
      }
    };

    test("a tenant's submissions come newest first, page after page, each once", async () => {
      const world = await make();
      await seed(world, 7);
      await world.submissions.create(makeSubmission({ submissionId: 'sub_other', tenantId: 'other' }));

      const pages = await everyPage(async (cursor) =>
        world.submissions.listByTenant({ tenantId: TENANT_ID, limit: 3, ...(cursor === undefined ? {} : { cursor }) }),
      );

      expect(pages.every((page) => page.length <= 3)).toBe(true);
      expect(pages.flat()).toEqual(['sub_6', 'sub_5', 'sub_4', 'sub_3', 'sub_2', 'sub_1', 'sub_0']);
    });

    test('a state filters the list and leaves the order', async () => {
      const world = await make();
      await seed(world, 6);
      for (const id of ['sub_1', 'sub_4']) {
        await world.submissions.requestStop(id, { kind: 'cancelled', atMs: START_MS });
      }

      const pages = await everyPage(async (cursor) =>
        world.submissions.listByTenant({
          tenantId: TENANT_ID,
          state: 'cancelling',
          limit: 1,
          ...(cursor === undefined ? {} : { cursor }),
        }),
      );

      expect(pages.flat()).toEqual(['sub_4', 'sub_1']);
    });

    test("another tenant's cursor, and one that nobody gave, are refused", async () => {
      const world = await make();
      await seed(world, 3);
      const { nextCursor = '' } = await world.submissions.listByTenant({ tenantId: TENANT_ID, limit: 1 });
      expect(nextCursor).not.toBe('');

      const foreign = world.submissions.listByTenant({ tenantId: 'other', limit: 1, cursor: nextCursor });
      await expect(foreign).rejects.toBeInstanceOf(InvalidCursorError);
      const forged = world.submissions.listByTenant({ tenantId: TENANT_ID, limit: 1, cursor: 'WzEsImEiXQ' });
      await expect(forged).rejects.toBeInstanceOf(InvalidCursorError);
    });

    test('what is due comes oldest first and not beyond the limit', async () => {
      const world = await make();
      await seed(world, 9);

      const due = await world.submissions.listDue({ nowMs: START_MS + 500, limit: 4 });

      expect(due.map(({ submissionId }) => submissionId)).toEqual(['sub_0', 'sub_1', 'sub_2', 'sub_3']);
      expect(await world.submissions.listDue({ nowMs: START_MS + 500, limit: 100 })).toHaveLength(6);
    });

    test('a check that was put off is not due, and one of a closed submission is never scheduled', async () => {
      const world = await make();
      await seed(world, 2);
      await world.submissions.scheduleCheck('sub_0', START_MS + 10_000);
      await close(world, 'sub_1');
      await world.submissions.scheduleCheck('sub_1', START_MS);

      expect(await world.submissions.listDue({ nowMs: START_MS + 9999, limit: 10 })).toEqual([]);
      const later = await world.submissions.listDue({ nowMs: START_MS + 10_000, limit: 10 });
      expect(later.map(({ submissionId }) => submissionId)).toEqual(['sub_0']);
      expect((await world.submissions.get('sub_1'))?.nextCheckAtMs).toBeUndefined();
    });

    test('expired submissions do not crowd out those that are due', async () => {
      const world = await make();
      await seed(world, 5, { expiresAtSeconds: START_MS / 1000 + 1 });
      await world.clock.advance(2000);
      await world.submissions.create(makeSubmission({ submissionId: 'sub_due', nextCheckAtMs: START_MS + 2000 }));

      const due = await world.submissions.listDue({ nowMs: world.clock.now(), limit: 2 });

      expect(due.map(({ submissionId }) => submissionId)).toEqual(['sub_due']);
    });

    test('every submission is listed once, page after page, whosever it is and whatever its state', async () => {
      const world = await make();
      await seed(world, 11);
      await world.submissions.create(makeSubmission({ submissionId: 'sub_other', tenantId: 'globex' }));
      await close(world, 'sub_5');

      const pages = await everyPage(async (cursor) =>
        world.submissions.listAll({ limit: 5, ...(cursor === undefined ? {} : { cursor }) }),
      );

      const expected = [...Array.from({ length: 11 }, (_, index) => `sub_${index}`), 'sub_other'];
      expect(pages.flat().toSorted()).toEqual(expected.toSorted());
    });

    test('every open submission is listed once, page after page, and no closed one', async () => {
      const world = await make();
      await seed(world, 11);
      await close(world, 'sub_5');

      const pages = await everyPage(async (cursor) =>
        world.submissions.listOpen({ limit: 3, ...(cursor === undefined ? {} : { cursor }) }),
      );

      expect(pages.every((page) => page.length <= 3)).toBe(true);
      const expected = [0, 1, 2, 3, 4, 6, 7, 8, 9, 10].map((index) => `sub_${index}`);
      expect(pages.flat().toSorted()).toEqual(expected.toSorted());
    });
  });

  test('a relayed submission says so, and an unknown one is not invented', async () => {
    const { submissions } = await make();
    await submissions.create(makeSubmission());

    await submissions.markRelayed(SUBMISSION_ID);
    await submissions.markRelayed('sub_unknown');
    await submissions.scheduleCheck('sub_unknown', START_MS);

    expect((await submissions.get(SUBMISSION_ID))?.outboxPending).toBe(false);
    expect(await submissions.get('sub_unknown')).toBeUndefined();
    expect(await submissions.listDue({ nowMs: START_MS, limit: 10 })).toEqual([]);
  });
}

/** Ends a submission by the shortest way there is. */
async function close({ submissions }: StoreWorld, submissionId: string): Promise<void> {
  await submissions.claimFanOut({ submissionId, owner: 'closer', nowMs: START_MS, leaseMs: 1000 });
  await submissions.reject(submissionId, 'closer', { code: 'EMPTY_FILE', detail: 'The file is empty.' }, START_MS);
}
