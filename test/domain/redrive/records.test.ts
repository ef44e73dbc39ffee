import * as v from 'valibot';
import { codeSchema } from '../../../lambdas/domain/versions.ts';
import { answerRedrive } from '../../../lambdas/domain/redrive/redrive.ts';
import { encodeBody } from '../../../lambdas/domain/queues/messages.ts';
import { CHUNK_RECORDS } from '../../../lambdas/domain/model.ts';
import { makeRecordMessage, makeRow, SUBMISSION_ID } from '../../support/factories.ts';
import { START_MS } from '../../support/memory/index.ts';
import { redrive } from '../../../lambdas/domain/redrive/redrive.ts';
import { createRedriveRig, type RedriveRig } from '../../support/redrive-rig.ts';
import { MINUTE_MS } from '../../support/reconcile-rig.ts';

const dead = (recordNo: number) =>
  ({ recordNo, state: 'dead_lettered', reason: 'attempts_exhausted', attempts: 5 }) as const;
const invalid = (recordNo: number) => ({ recordNo, state: 'failed', reason: 'invalid_record' }) as const;

describe('a dry run', () => {
  it('counts by reason, calls that are not paid for yet, and the time at the paced rate, and changes nothing', async () => {
    const rig = createRedriveRig();
    await rig.seed(5);
    const paid = { company: { kind: 'found', data: {} } } as const;
    await rig.finish([
      { recordNo: 1 },
      dead(2),
      { ...dead(3), answers: paid },
      invalid(4),
      { ...dead(5), redrives: 3 },
    ]);
    const before = [rig.world.inspect.records(SUBMISSION_ID), rig.stored()];

    expect(await rig.ask({ submissionId: SUBMISSION_ID })).toEqual({
      dryRun: true,
      replayed: 2,
      setApart: 0,
      byReason: { attempts_exhausted: 2 },
      submissions: 1,
      providerCalls: { company: 1, geo: 2 },
      seconds: 1,
      skipped: { not_helpful: 1, exhausted: 1 },
      unsent: 0,
      deadLettersDeleted: 0,
      stoppedEarly: false,
      deadLetters: [],
    });
    expect([rig.world.inspect.records(SUBMISSION_ID), rig.stored()]).toEqual(before);
    expect(rig.messages()).toEqual([]);
  });
});

describe('a replay', () => {
  it('reopens the submission and its failed records, and sends them from the file with what was paid for', async () => {
    const rig = createRedriveRig();
    await rig.seed(3);
    const answers = { company: { kind: 'not_found' } } as const;
    await rig.finish([{ recordNo: 1 }, { ...dead(2), answers }, dead(3)]);

    expect(await rig.ask({ submissionId: SUBMISSION_ID, dryRun: false })).toMatchObject({ replayed: 2, unsent: 0 });

    expect(rig.stored()).toMatchObject({ state: 'processing', generation: 1, closedChunks: new Set() });
    expect(rig.world.inspect.records(SUBMISSION_ID)).toMatchObject([
      { state: 'succeeded', generation: 0 },
      { state: 'retrying', reason: 'redriven', generation: 1, redrives: 1, attempts: 0, answers },
      { state: 'retrying', reason: 'redriven', generation: 1, redrives: 1, attempts: 0 },
    ]);
    expect(rig.world.inspect.ledger(SUBMISSION_ID)[0]).toMatchObject({ succeeded: new Set([0]), failed: new Map() });
    expect(rig.messages()).toMatchObject([
      { recordNo: 2, attempt: 1, generation: 1, content: { fields: { record_id: 'r-2' } } },
      { recordNo: 3, attempt: 1, generation: 1, content: { fields: { record_id: 'r-3' } } },
    ]);
  });

  it('never reopens a record that has succeeded, even where the ledger still counts an earlier failure', async () => {
    const rig = createRedriveRig();
    await rig.seed(2);
    await rig.finish([dead(1), dead(2)]);
    await rig.world.records.put(makeRow({ recordNo: 1, generation: 1, updatedAtMs: rig.clock.now() }));

    await rig.ask({ submissionId: SUBMISSION_ID, dryRun: false });

    expect(rig.world.inspect.records(SUBMISSION_ID)[0]).toMatchObject({ state: 'succeeded' });
    expect(rig.messages().map(({ recordNo }) => recordNo)).toEqual([2]);
  });

  it('done twice sends a record once', async () => {
    const rig = createRedriveRig();
    await rig.seed(2);
    await rig.finish([dead(1), dead(2)]);
    for (let time = 0; time < 2; time++) await rig.ask({ submissionId: SUBMISSION_ID, dryRun: false });
    expect(
      rig
        .messages()
        .map(({ recordNo }) => recordNo)
        .sort((a, b) => a - b),
    ).toEqual([1, 2]);
  });

  it('is refused for a record that was replayed three times', async () => {
    const rig = createRedriveRig();
    await rig.seed(1);
    await rig.finish([{ ...dead(1), redrives: 3 }]);
    expect(await rig.ask({ submissionId: SUBMISSION_ID, dryRun: false, force: true })).toMatchObject({
      replayed: 0,
      skipped: { exhausted: 1 },
    });
  });

  it('selects by reason, provider, tenant, lane and time', async () => {
    const rig = createRedriveRig();
    await rig.seed(4);
    await rig.finish([
      { ...dead(1), answers: { geo: { kind: 'not_found' } } },
      { ...dead(2), answers: { company: { kind: 'not_found' } } },
      { recordNo: 3, state: 'failed', reason: 'provider_rejected' },
      { ...dead(4), updatedAtMs: START_MS - 1 },
    ]);
    const replayed = async (event: object): Promise<number> => (await rig.ask(event)).replayed;
    expect(await replayed({ reason: 'provider_rejected' })).toBe(1);
    expect(await replayed({ reason: ['provider_rejected', 'attempts_exhausted'] })).toBe(4);
    expect(await replayed({ provider: 'company', reason: 'attempts_exhausted' })).toBe(2);
    expect(await replayed({ provider: 'geo', reason: 'attempts_exhausted' })).toBe(2);
    expect(await replayed({ tenantId: 'acme' })).toBe(4);
    expect(await replayed({ tenantId: 'globex' })).toBe(0);
    expect(await replayed({ lane: 'bulk' })).toBe(0);
    expect(await replayed({ lane: 'small', finishedBefore: new Date(START_MS - 1).toISOString() })).toBe(1);
    expect(await replayed({ finishedAfter: new Date(START_MS).toISOString() })).toBe(3);
  });

  it('leaves alone what expires soon, what is being finalized and what is being cancelled', async () => {
    const rig = createRedriveRig();
    await rig.seed(1, { submissionId: 'sub_expiring', expiresAtSeconds: START_MS / 1000 + 3600 });
    await rig.seed(1, { submissionId: 'sub_finalizing', state: 'finalizing' });
    await rig.seed(1, {
      submissionId: 'sub_cancelling',
      state: 'cancelling',
      stop: { kind: 'cancelled', atMs: START_MS },
    });
    expect(await rig.ask({ lane: 'small', dryRun: false })).toMatchObject({
      replayed: 0,
      skipped: { expiring: 1, busy: 2 },
    });
  });

  it('leaves records whose file is gone as they are', async () => {
    const rig = createRedriveRig();
    await rig.seed(1, { source: { key: 'uploads/acme/gone', etag: '"x"', sizeBytes: 10 } });
    await rig.finish([dead(1)]);
    expect(await rig.ask({ submissionId: SUBMISSION_ID, dryRun: false })).toMatchObject({
      replayed: 0,
      skipped: { source_gone: 1 },
    });
    expect(rig.world.inspect.records(SUBMISSION_ID)).toMatchObject([{ state: 'dead_lettered' }]);
  });

  it('takes as long as the rate that the slowest provider grants at the moment', async () => {
    const rig = createRedriveRig();
    const pace = { share: 0.02, limitShare: 0.04 };
    await rig.world.providers.throttle('company', { seenAtMs: 0, nowMs: rig.clock.now(), throttles: 0, pace });
    await rig.seed(11);
    await rig.finish(Array.from({ length: 11 }, (_, index) => dead(index + 1)));
    // 50 calls per second, of which 2 % are granted.
    expect(await rig.ask({ submissionId: SUBMISSION_ID })).toMatchObject({ seconds: 12 });
  });

  it('spreads messages at the rate that was asked for, in hops beyond the longest delay of a queue', async () => {
    const rig = createRedriveRig();
    await rig.seed(11);
    await rig.finish(Array.from({ length: 11 }, (_, index) => dead(index + 1)));
    const report = await rig.ask({ submissionId: SUBMISSION_ID, dryRun: false, ratePerSecond: 0.01 });
    expect(report.seconds).toBe(1100);
    const waits = rig.world.queues.live.small.messages().map(({ visibleAtMs }) => (visibleAtMs - START_MS) / 1000);
    expect(waits).toEqual([0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 900]);
    expect(rig.messages().map(({ notBeforeMs }) => notBeforeMs)).toEqual([
      undefined,
      ...Array.from({ length: 10 }, (_, index) => START_MS + (index + 1) * 100_000),
    ]);
  });

  it('stops when its time runs out or its limit is reached, and goes on with the cursor', async () => {
    const rig = createRedriveRig();
    await rig.seed(600);
    await rig.finish([1, 300, 600].map(dead));
    const seen: number[] = [];
    let cursor: string | undefined;
    for (let run = 0; run < 10; run++) {
      const event = { submissionId: SUBMISSION_ID, dryRun: false, limit: 1, ...(cursor !== undefined && { cursor }) };
      const report = await rig.ask(event);
      seen.push(report.replayed);
      cursor = report.nextCursor;
      if (cursor === undefined) break;
    }
    expect(seen.reduce((sum, count) => sum + count, 0)).toBe(3);
    expect(rig.messages().map(({ recordNo }) => recordNo)).toEqual([1, 300, 600]);
    expect(await rig.ask({ submissionId: SUBMISSION_ID }, 1_000)).toMatchObject({
      replayed: 0,
      nextCursor: expect.any(String),
    });
  });

  it('replays no more than its limit of one chunk, and goes on behind them, also when it only counts', async () => {
    const rig = createRedriveRig();
    await rig.seed(5);
    await rig.finish([dead(1), invalid(2), dead(3), dead(4), dead(5)]);
    const event = { submissionId: SUBMISSION_ID, limit: 2 };
    const counted = await rig.ask(event);
    expect(counted).toMatchObject({ replayed: 2, skipped: { not_helpful: 1 } });
    expect(await rig.ask({ ...event, cursor: counted.nextCursor })).toMatchObject({ replayed: 2, skipped: {} });
    expect(await rig.ask({ ...event, dryRun: false })).toMatchObject({ replayed: 2 });
    expect(rig.messages().map(({ recordNo }) => recordNo)).toEqual([1, 3]);
  });

  it('announces on the row when its message becomes visible, so that nobody sends it again before', async () => {
    const rig = createRedriveRig();
    await rig.seed(3);
    await rig.finish([dead(1), dead(2), dead(3)]);
    await rig.ask({ submissionId: SUBMISSION_ID, dryRun: false, ratePerSecond: 0.01 });
    expect(rig.world.inspect.records(SUBMISSION_ID).map(({ waitingUntilMs }) => waitingUntilMs)).toEqual([
      undefined,
      START_MS + 100_000,
      START_MS + 200_000,
    ]);
    expect(rig.messages().map(({ notBeforeMs }) => notBeforeMs)).toEqual([
      undefined,
      START_MS + 100_000,
      START_MS + 200_000,
    ]);
  });

  it('ends before the submission expires, whatever the deadline of a stage', async () => {
    const rig = createRedriveRig();
    const expiresAtMs = START_MS + 8 * 60 * MINUTE_MS;
    await rig.seed(1, { expiresAtSeconds: expiresAtMs / 1000, deadlineAtMs: START_MS });
    await rig.finish([dead(1)]);
    await rig.ask({ submissionId: SUBMISSION_ID, dryRun: false });
    expect(rig.stored().deadlineAtMs).toBe(expiresAtMs - 3 * 60 * MINUTE_MS);
  });

  it('leaves alone what was replayed as often as the request allows', async () => {
    const rig = createRedriveRig();
    await rig.seed(2);
    await rig.finish([
      { ...dead(1), redrives: 1 },
      { ...dead(2), redrives: 2 },
    ]);
    expect(await rig.ask({ submissionId: SUBMISSION_ID, maxRedrives: 2 })).toMatchObject({
      replayed: 1,
      skipped: { exhausted: 1 },
    });
  });

  it('keeps the submission open when a worker closed it on the strength of the old ledger', async () => {
    const rig: RedriveRig = createRedriveRig({
      hook: async ({ port, method }, proceed) => {
        if (port === 'ledger' && method === 'reopen') {
          const nowMs = rig.clock.now();
          await rig.world.submissions.closeChunks(SUBMISSION_ID, [0], nowMs);
          await rig.world.submissions.beginFinalizing(SUBMISSION_ID, 1, nowMs);
          await rig.world.submissions.claimFinalize({ submissionId: SUBMISSION_ID, owner: 'f', nowMs, leaseMs: 1000 });
          const counts = { total: 1, pending: 0, succeeded: 0, failed: 1, cancelled: 0 };
          await rig.world.submissions.finish(SUBMISSION_ID, 'f', { state: 'failed', resultsVersion: 2, counts, nowMs });
        }
        return proceed();
      },
    });
    await rig.seed(1);
    await rig.finish([dead(1)]);
    expect(await rig.ask({ submissionId: SUBMISSION_ID, dryRun: false })).toMatchObject({ replayed: 1 });
    // What the finalizer that was too fast still writes is of the version before.
    expect(rig.stored()).toMatchObject({ state: 'processing', closedChunks: new Set(), generation: 2 });
    expect(rig.messages()).toMatchObject([{ recordNo: 1, generation: 1 }]);
  });

  it('reopens every record of a submission before it sends the first, so that the submission ends once', async () => {
    const reopenedAtSend: number[] = [];
    const rig: RedriveRig = createRedriveRig({
      hook: async ({ port, method }, proceed) => {
        if (port === 'queues.small' && method === 'send') {
          const rows = rig.world.inspect.records(SUBMISSION_ID);
          reopenedAtSend.push(rows.filter(({ state }) => state === 'retrying').length);
        }
        return proceed();
      },
    });
    await rig.seed(600);
    await rig.finish(Array.from({ length: 600 }, (_, index) => dead(index + 1)));
    expect(await rig.ask({ submissionId: SUBMISSION_ID, dryRun: false })).toMatchObject({ replayed: 600, unsent: 0 });
    expect(reopenedAtSend).toEqual([600, 600, 600]);
    expect(rig.messages()).toHaveLength(600);
  });

  it('sends what it has reopened before it fails', async () => {
    let reopenings = 0;
    const rig = createRedriveRig({
      hook: async ({ port, method }, proceed) => {
        if (port === 'ledger' && method === 'reopen' && ++reopenings === 2) throw new Error('The second chunk fails.');
        return proceed();
      },
    });
    await rig.seed(CHUNK_RECORDS + 1);
    await rig.finish(Array.from({ length: CHUNK_RECORDS + 1 }, (_, index) => dead(index + 1)));
    await expect(rig.ask({ submissionId: SUBMISSION_ID, dryRun: false })).rejects.toThrow('The second chunk fails.');
    expect(rig.messages()).toHaveLength(CHUNK_RECORDS);
  });

  it('stops reopening when half of its time is over, and sends what it has reopened', async () => {
    const rig = createRedriveRig();
    await rig.seed(600);
    await rig.finish(Array.from({ length: 600 }, (_, index) => dead(index + 1)));
    let remainingMs = 90_000;
    const budget = { remainingMs: () => (remainingMs -= 10_000) };
    const report = await redrive(rig.deps, { submissionId: SUBMISSION_ID, dryRun: false }, budget);
    expect(report.nextCursor).toBeDefined();
    expect(report.replayed).toBeGreaterThan(0);
    expect(report.replayed).toBeLessThan(600);
    expect(rig.messages()).toHaveLength(report.replayed);
    await rig.ask({ submissionId: SUBMISSION_ID, dryRun: false, cursor: report.nextCursor });
    expect(new Set(rig.messages().map(({ recordNo }) => recordNo)).size).toBe(600);
  });

  it('goes above the generation of a redrive that overtook it', async () => {
    let overtaken = false;
    const rig: RedriveRig = createRedriveRig({
      hook: async ({ port, method }, proceed) => {
        if (port === 'submissions' && method === 'reopen' && !overtaken) {
          overtaken = true;
          const nowMs = rig.clock.now();
          await rig.world.submissions.reopen(SUBMISSION_ID, { chunks: [], generation: 4, nowMs, deadlineAtMs: nowMs });
        }
        return proceed();
      },
    });
    await rig.seed(1);
    await rig.finish([dead(1)]);
    await rig.ask({ submissionId: SUBMISSION_ID, dryRun: false });
    expect(rig.stored()).toMatchObject({ state: 'processing', closedChunks: new Set(), generation: 4 });
    expect(rig.messages()).toMatchObject([{ recordNo: 1, generation: 4 }]);
  });

  it('sends every record once, although another one does the same at the same time', async () => {
    const rig = createRedriveRig();
    await rig.seed(300);
    await rig.finish(Array.from({ length: 300 }, (_, index) => dead(index + 1)));
    const request = { submissionId: SUBMISSION_ID, dryRun: false };
    const reports = await Promise.all([rig.ask(request), rig.ask(request)]);
    expect(reports.reduce((sum, { replayed }) => sum + replayed, 0)).toBe(300);
    expect(rig.messages()).toHaveLength(300);
    expect(new Set(rig.messages().map(({ recordNo }) => recordNo)).size).toBe(300);
  });

  it('leaves what it has reopened to another one that takes it over', async () => {
    let isFirst = true;
    const request = { submissionId: SUBMISSION_ID, dryRun: false };
    const rig: RedriveRig = createRedriveRig({
      hook: async ({ port, method }, proceed) => {
        if (port === 'ledger' && method === 'reopen' && isFirst) {
          isFirst = false;
          await rig.ask(request);
        }
        return proceed();
      },
    });
    await rig.seed(2);
    await rig.finish([dead(1), dead(2)]);
    await rig.ask(request);
    expect(rig.messages()).toMatchObject([
      { recordNo: 1, generation: 2 },
      { recordNo: 2, generation: 2 },
    ]);
  });

  it('refuses a cursor that it did not give', async () => {
    const rig = createRedriveRig();
    await expect(rig.ask({ tenantId: 'acme', cursor: 'e30x' })).rejects.toThrow('cursor is "e30x"');
  });

  it('goes through what can be read of a tenant, and tells what cannot', async () => {
    const error = new Error('The head is no head.');
    const rig = createRedriveRig({
      hook: async ({ method }, proceed) => {
        const page = await proceed();
        if (method !== 'listByTenant') return page;
        return Object.assign({}, page, { unreadable: [{ submissionId: 'sub_damaged', error }] });
      },
    });
    const { tenantId } = await rig.seed(1);
    await rig.finish([dead(1)]);
    expect(await rig.ask({ tenantId, dryRun: false })).toMatchObject({ replayed: 1, submissions: 1 });
    expect(rig.world.telemetry.named('unexpected_error')).toMatchObject([
      { level: 'error', submissionId: 'sub_damaged', error },
    ]);
  });

  it('goes through the submissions of all tenants', async () => {
    const rig = createRedriveRig();
    for (let index = 0; index < 120; index++) {
      await rig.seed(1, { submissionId: `sub_${index}`, tenantId: `tenant-${index}` });
      await rig.finish([{ ...dead(1), submissionId: `sub_${index}` }]);
    }
    expect(await rig.ask({ reason: 'attempts_exhausted' })).toMatchObject({ replayed: 120, submissions: 120 });
  });
});

describe('a replay that dies at any call', () => {
  it.each([
    ['by an operator', { submissionId: SUBMISSION_ID, dryRun: false }],
    ['of dead letters', { mode: 'dead_letter_queue', dryRun: false }],
  ])('%s, before it has sent anything, is sent by the reconciler a quarter of an hour later', async (_by, request) => {
    let isDying = true;
    const rig = createRedriveRig({
      hook: async ({ port, method }, proceed) => {
        if (isDying && port === 'queues.small' && method === 'send') throw new Error('died');
        return proceed();
      },
    });
    await rig.seed(3);
    await rig.finish([{ recordNo: 1 }, dead(2), dead(3)]);
    const body = encodeBody(makeRecordMessage({ recordNo: 2 }));
    await rig.world.queues.deadLetters.small.send([{ body, group: 'acme' }]);
    await expect(rig.ask(request)).rejects.toThrow('died');
    isDying = false;
    await rig.minutes(15);
    const sent = rig.messages().toSorted((a, b) => a.recordNo - b.recordNo);
    expect(sent.map(({ recordNo, generation }) => [recordNo, generation])).toEqual([
      [2, 1],
      [3, 1],
    ]);
  });

  it('loses no record: it can be repeated, and the reconciler sends what was reopened', async () => {
    for (let failAt = 1; failAt <= 30; failAt++) {
      let calls = -Infinity;
      const rig = createRedriveRig({
        hook: (_call, proceed) => {
          calls += 1;
          if (calls === failAt) throw new Error('died');
          return proceed();
        },
      });
      await rig.seed(2);
      await rig.finish([{ recordNo: 1 }, dead(2)]);
      calls = 0;
      await rig
        .ask({ submissionId: SUBMISSION_ID, dryRun: false })
        .catch((error: unknown) => expect(error).toEqual(new Error('died')));
      calls = -Infinity;
      await rig.ask({ submissionId: SUBMISSION_ID, dryRun: false });
      for (let minute = 0; minute < 15; minute++) await rig.minutes(1);
      expect(new Set(rig.messages().map(({ recordNo }) => recordNo))).toEqual(new Set([2]));
      expect(rig.world.inspect.records(SUBMISSION_ID)).toMatchObject([{ state: 'succeeded' }, { state: 'retrying' }]);
      expect(rig.clock.now()).toBe(START_MS + 15 * MINUTE_MS);
    }
  });
});

describe('a reason that only a newer version knows', () => {
  it('selects the records that carry it, and replays them when forced', async () => {
    const rig = createRedriveRig();
    await rig.seed(3);
    const reason = v.parse(codeSchema, 'provider_moved');
    await rig.finish([{ recordNo: 1, state: 'failed', reason }, dead(2), dead(3)]);
    expect(await rig.ask({ reason: 'provider_moved' })).toMatchObject({ replayed: 0, skipped: { not_helpful: 1 } });
    await rig.ask({ reason: 'provider_moved', force: true, dryRun: false });
    expect(rig.messages().map(({ recordNo }) => recordNo)).toEqual([1]);
  });
});

describe('a mistake of an operator', () => {
  it.each([
    [{ submissionId: 'nope' }, 'submissionId is "nope": there is no such submission, or it has expired.'],
    [{ submissionId: SUBMISSION_ID, reason: 'broken' }, 'reason is "broken": no selected record carries it.'],
    [{ submissionId: SUBMISSION_ID, cursor: '???' }, 'cursor is "???"'],
  ])('is an answer and no failure: %j', async (event, sentence) => {
    const rig = createRedriveRig();
    await rig.seed(1);
    const answer = await answerRedrive(rig.deps, event, { remainingMs: () => 800_000 });
    expect(answer).toEqual({ refused: expect.stringContaining(sentence) });
    expect(rig.world.telemetry.named('unexpected_error')).toEqual([]);
  });
});
