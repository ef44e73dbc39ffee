import { tally } from '../../../lambdas/domain/ledger/ledger.ts';
import { settle } from '../../../lambdas/domain/ledger/settlement.ts';
import { reconcile } from '../../../lambdas/domain/reconcile/reconcile.ts';
import { DependencyUnavailableError } from '../../../lambdas/domain/errors.ts';
import { isOpen } from '../../../lambdas/domain/model.ts';
import { EXPIRES_AT_SECONDS, makeRow, SUBMISSION_ID, TENANT_ID } from '../../support/factories.ts';
import { START_MS } from '../../support/memory/index.ts';
import { createReconcileRig, MINUTE_MS, type ReconcileRig } from '../../support/reconcile-rig.ts';

const finishAll = async (rig: ReturnType<typeof createReconcileRig>, recordNos: number[]): Promise<void> => {
  await settle(
    rig.deps,
    recordNos.map((recordNo) => makeRow({ recordNo })),
  );
};
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

describe('the outbox', () => {
  it('is relayed when the fan-out message was never known to be sent', async () => {
    const rig = createReconcileRig();
    await rig.seed(3, {
      state: 'accepted',
      outboxPending: true,
      fanOut: { done: false, byteOffset: 0, records: 0, line: 1 },
    });
    await rig.minutes(1);
    expect(rig.world.queues.live.fanOut.messages()).toHaveLength(1);
    expect(rig.stored().outboxPending).toBe(false);
  });

  it('is left alone while the one who accepted may still be sending', async () => {
    const rig = createReconcileRig();
    await rig.seed(3, {
      state: 'accepted',
      outboxPending: true,
      fanOut: { done: false, byteOffset: 0, records: 0, line: 1 },
    });
    await rig.clock.advance(10_000);
    await rig.run();
    expect(rig.world.queues.live.fanOut.messages()).toHaveLength(0);
    expect(rig.stored().outboxPending).toBe(true);
  });
});

describe('slices that stalled', () => {
  it('are restarted when fan-out has not moved since its lease ended', async () => {
    const rig = createReconcileRig();
    await rig.seed(3, {
      fanOut: {
        done: false,
        byteOffset: 0,
        records: 0,
        line: 1,
        leaseOwner: 'dead',
        leaseUntilMs: START_MS + MINUTE_MS,
      },
    });
    await rig.minutes(2);
    expect(rig.world.queues.live.fanOut.messages()).toHaveLength(0);
    await rig.minutes(1);
    // Alone: its last invocation ended without giving the lease up.
    expect(rig.world.queues.live.fanOut.messages()).toMatchObject([{ attributes: { isolated: 'true' } }]);
  });

  it('are restarted beside others when nobody had begun them', async () => {
    const rig = createReconcileRig();
    await rig.seed(3, { fanOut: { done: false, byteOffset: 0, records: 0, line: 1 } });
    await rig.minutes(3);
    expect(rig.world.queues.live.fanOut.messages()[0]?.attributes).not.toHaveProperty('isolated');
  });

  it('are restarted less and less often, so that copies do not pile up behind a function that is broken', async () => {
    const rig = createReconcileRig();
    await rig.seed(3, { fanOut: { done: false, byteOffset: 0, records: 0, line: 1 } });
    await rig.minutes(60);
    const messages = rig.world.queues.live.fanOut.messages().length;
    expect(messages).toBeGreaterThan(3);
    expect(messages).toBeLessThan(20);
  });

  it('are restarted when nobody writes the results', async () => {
    const rig = createReconcileRig();
    await rig.seed(3, { state: 'finalizing', closedChunks: new Set([0]) });
    await rig.minutes(3);
    expect(rig.world.queues.live.finalize.messages().length).toBeGreaterThan(0);
  });

  it('are restarted alone when the invocation that wrote the results crashed', async () => {
    const rig = createReconcileRig();
    const finalize = { leaseOwner: 'dead', leaseUntilMs: START_MS, nextPart: 1 };
    await rig.seed(3, { state: 'finalizing', closedChunks: new Set([0]), finalize });
    await rig.minutes(3);
    expect(rig.world.queues.live.finalize.messages()[0]).toMatchObject({ attributes: { isolated: 'true' } });
  });
});

describe('closing', () => {
  it('is made up for when the worker died between the ledger and the closed chunk', async () => {
    const rig = createReconcileRig();
    await rig.seed(3);
    await rig.world.ledger.mark(
      SUBMISSION_ID,
      0,
      { succeeded: [0, 1, 2], cancelled: [], failed: new Map() },
      EXPIRES_AT_SECONDS,
    );
    await rig.world.ledger.setSize(SUBMISSION_ID, 0, 3, EXPIRES_AT_SECONDS);
    await rig.minutes(1);
    expect(rig.stored().state).toBe('finalizing');
    expect(rig.world.queues.live.finalize.messages()).toHaveLength(1);
  });

  it('is made up for when the worker died between the row and the ledger', async () => {
    const rig = createReconcileRig();
    await rig.seed(3);
    for (const recordNo of [1, 2, 3]) await rig.world.records.put(makeRow({ recordNo }));
    await rig.minutes(1);
    expect(rig.stored().state).toBe('finalizing');
    expect(rig.world.telemetry.named('ledger_repaired')).toHaveLength(1);
  });
});

describe('lost messages', () => {
  it('are sent again from the file once the silence is longer than ten minutes', async () => {
    const rig = createReconcileRig();
    await rig.seed(4);
    await finishAll(rig, [2]);
    await rig.minutes(9);
    expect(rig.sent()).toEqual([]);
    await rig.minutes(3);
    expect(rig.sent().map(({ recordNo, line, content }) => ({ recordNo, line, content }))).toEqual(
      [1, 3, 4].map((n) => ({
        recordNo: n,
        line: n + 1,
        content: { kind: 'record', fields: { record_id: `r-${n}`, name: `Name ${n}` } },
      })),
    );
  });

  it('are not lost where a worker has just noted something: its word stands, and nothing is sent', async () => {
    const noted = makeRow({ state: 'deferred', reason: 'pacer_full', answers: {}, updatedAtMs: START_MS + 1 });
    const rig: ReconcileRig = createReconcileRig({
      hook: async ({ port, method, args }, proceed) => {
        const [row] = args as [{ reason?: string }];
        if (port === 'records' && method === 'put' && row.reason === 'message_lost') await rig.world.records.put(noted);
        return proceed();
      },
    });
    await rig.seed(1);
    await rig.minutes(12);
    expect(rig.world.inspect.records(SUBMISSION_ID)).toEqual([noted]);
    expect(rig.sent()).toEqual([]);
  });

  it('are sent again at most once an hour, later ever more seldom, and are never blamed while nobody receives them', async () => {
    const rig = createReconcileRig();
    await rig.seed(1, { deadlineAtMs: START_MS + 72 * 60 * MINUTE_MS });
    await rig.minutes(50);
    expect(rig.sent()).toHaveLength(1);
    await rig.minutes(4 * 60 + 45);
    expect(rig.sent()).toHaveLength(rig.deps.settings.maxResends);
    await rig.minutes(64 * 60);
    expect(rig.sent().length).toBeGreaterThan(rig.deps.settings.maxResends);
    expect(rig.sent().length).toBeLessThanOrEqual(rig.deps.settings.maxResends + 6);
    expect(rig.world.inspect.records(SUBMISSION_ID)).toMatchObject([{ state: 'retrying', reason: 'message_lost' }]);
    await rig.minutes(4 * 60);
    expect(countsOf(rig)).toMatchObject({ counts: { failed: 1 }, failures: { deadline_passed: 1 } });
  });

  it('are given up when they were sent often, and begun alone without being heard of again', async () => {
    const rig = createReconcileRig();
    await rig.seed(1, { deadlineAtMs: START_MS + 24 * 60 * MINUTE_MS });
    const mark = { state: 'retrying', reason: 'worker_crashed', attempts: 0, isolatedReceives: 1, resends: 5 } as const;
    await rig.world.records.put(makeRow({ ...mark, updatedAtMs: START_MS }));
    await rig.minutes(15);
    expect(rig.sent()).toEqual([]);
    expect(rig.world.inspect.records(SUBMISSION_ID)).toMatchObject([
      { state: 'dead_lettered', reason: 'worker_crashed' },
    ]);
    expect(rig.stored().state).toBe('finalizing');
  });

  it('keep their attempts, generation and paid answers', async () => {
    const rig = createReconcileRig();
    await rig.seed(1);
    const answers = { company: { kind: 'found', data: { name: 'Acme' } } } as const;
    await rig.world.records.put(
      makeRow({
        state: 'retrying',
        reason: 'provider_timeout',
        attempts: 2,
        generation: 1,
        redrives: 1,
        answers,
        updatedAtMs: START_MS,
      }),
    );
    await rig.minutes(12);
    expect(rig.sent()).toMatchObject([{ attempt: 3, generation: 1, redrives: 1 }]);
    expect(rig.world.inspect.records(SUBMISSION_ID)).toMatchObject([
      { reason: 'message_lost', resends: 1, attempts: 2, answers },
    ]);
  });

  it('are not assumed before the wait that was announced is over', async () => {
    const rig = createReconcileRig();
    await rig.seed(1);
    await rig.world.records.put(
      makeRow({
        state: 'deferred',
        reason: 'breaker_open',
        attempts: 0,
        waitingUntilMs: START_MS + 60 * MINUTE_MS,
        updatedAtMs: START_MS,
      }),
    );
    await rig.minutes(65);
    expect(rig.sent()).toEqual([]);
    await rig.minutes(20);
    expect(rig.sent()).toHaveLength(1);
  });

  it('are sent again while a provider is in trouble, except of records that wait on it', async () => {
    const rig = createReconcileRig();
    await rig.seed(3);
    const waiting = { state: 'deferred', reason: 'breaker_open', updatedAtMs: START_MS } as const;
    await rig.world.records.put(makeRow({ recordNo: 1, ...waiting, waitingOn: 'company' }));
    await rig.world.records.put(makeRow({ recordNo: 2, ...waiting, reason: 'pacer_full', waitingOn: 'geo' }));
    await rig.world.providers.open('company', { epoch: 0, openUntilMs: START_MS + 59.5 * MINUTE_MS });
    await rig.minutes(15);
    expect(rig.sent().map(({ recordNo }) => recordNo)).toEqual([2, 3]);
    await rig.minutes(44);
    expect(rig.sent().map(({ recordNo }) => recordNo)).not.toContain(1);
    const { epoch } = await rig.world.providers.get('company');
    await rig.world.providers.claimProbe('company', { epoch, owner: 'o', nowMs: rig.clock.now(), leaseMs: 1000 });
    await rig.world.providers.close('company', { epoch, probeOwner: 'o', nowMs: rig.clock.now() });
    await rig.minutes(30);
    expect(rig.sent().map(({ recordNo }) => recordNo)).toContain(1);
  });

  it('are not assumed while the backlog may explain the silence', async () => {
    const rig = createReconcileRig();
    rig.deps.apis = [{ name: 'company', ratePerSecond: 1 }];
    await rig.seed(900);
    await rig.minutes(29);
    expect(rig.sent()).toEqual([]);
    await rig.minutes(10);
    expect(rig.sent()).toHaveLength(900);
  });

  it('are repeated for a bounded number of records in one run', async () => {
    const rig = createReconcileRig();
    rig.deps.settings = { ...rig.deps.settings, recordsWhenSilent: 500 };
    await rig.seed(900);
    await rig.minutes(13);
    expect(rig.sent()).toHaveLength(500);
  });

  it('are repeated until the time of the run is over', async () => {
    const rig = createReconcileRig();
    await rig.seed(900);
    await rig.clock.advance(20 * MINUTE_MS);
    let looks = 0;
    await reconcile(rig.deps, { remainingMs: () => (looks++ < 3 ? 55_000 : 5_000) });
    expect(rig.sent()).toHaveLength(500);
  });

  it('are not repeated while their copies still wait behind the backlog', async () => {
    const rig = createReconcileRig();
    rig.deps.apis = [{ name: 'company', ratePerSecond: 1 }];
    await rig.seed(3_000, { deadlineAtMs: START_MS + 72 * 60 * MINUTE_MS });
    await rig.minutes(5 * 60);
    expect(rig.sent().length).toBeGreaterThanOrEqual(3_000);
    expect(Math.max(...rig.world.inspect.records(SUBMISSION_ID).map(({ resends }) => resends ?? 0))).toBe(2);
  });
});

describe('records that killed their worker', () => {
  it('are dead-lettered once their last lone start has been silent for longer than the visibility timeout', async () => {
    const rig = createReconcileRig();
    await rig.seed(2);
    await finishAll(rig, [1]);
    const mark = {
      recordNo: 2,
      state: 'retrying',
      reason: 'worker_crashed',
      attempts: 0,
      isolatedReceives: 5,
    } as const;
    await rig.world.records.put(makeRow({ ...mark, updatedAtMs: START_MS }));
    await rig.minutes(2);
    expect(rig.stored().state).toBe('processing');
    await rig.minutes(2);
    expect(rig.world.inspect.records(SUBMISSION_ID)[1]).toMatchObject({
      state: 'dead_lettered',
      reason: 'worker_crashed',
    });
    expect(rig.stored().state).toBe('finalizing');
  });
});

const countsOf = (rig: ReconcileRig) => tally(rig.stored(), rig.world.inspect.ledger(SUBMISSION_ID));

describe('stop orders', () => {
  it('are given when the deadline has passed, and every open record then fails with that reason', async () => {
    const rig = createReconcileRig();
    await rig.seed(300, { deadlineAtMs: START_MS + 5 * MINUTE_MS });
    await finishAll(rig, upTo(100));
    await rig.minutes(10);
    expect(countsOf(rig)).toEqual({
      counts: { total: 300, pending: 0, succeeded: 100, failed: 200, cancelled: 0 },
      failures: { deadline_passed: 200 },
    });
    expect(rig.stored()).toMatchObject({ state: 'finalizing', stop: { kind: 'expired' } });
  });

  it('cost one write per chunk, and end what has no outcome', async () => {
    const writes: string[] = [];
    const rig = createReconcileRig({
      hook: async ({ port, method }, apply) => {
        if (/^(put|mark|closeChunks|beginFinalizing|scheduleCheck)$/.test(method)) writes.push(`${port}.${method}`);
        return apply();
      },
    });
    await rig.seed(38_000);
    await finishAll(rig, upTo(100));
    writes.length = 0;
    await rig.world.submissions.requestStop(SUBMISSION_ID, { kind: 'cancelled', atMs: START_MS });
    await rig.minutes(2);
    expect(countsOf(rig).counts).toEqual({ total: 38_000, pending: 0, succeeded: 100, failed: 0, cancelled: 37_900 });
    expect(rig.stored().state).toBe('finalizing');
    // 152 chunks, and the head: 0.0041 writes per record.
    expect(writes.filter((write) => write === 'ledger.mark')).toHaveLength(152);
    expect(writes.filter((write) => write === 'records.put')).toEqual([]);
    expect(writes.length).toBeLessThanOrEqual(157);
    expect(rig.world.telemetry.named('records_stopped')).toMatchObject([{ outcome: 'cancelled', count: 37_900 }]);
  });

  it('let the outcomes of workers that are still at it prevail, and wait for them', async () => {
    const rig = createReconcileRig();
    await rig.seed(3);
    await rig.world.submissions.requestStop(SUBMISSION_ID, { kind: 'cancelled', atMs: START_MS });
    await rig.run();
    expect(countsOf(rig).counts).toMatchObject({ pending: 0, cancelled: 3 });
    await finishAll(rig, [2]);
    expect(rig.stored().state).not.toBe('finalizing');
    await rig.minutes(1);
    expect(countsOf(rig).counts).toMatchObject({ succeeded: 1, cancelled: 2 });
    expect(rig.stored().state).toBe('finalizing');
  });
});

describe('one run', () => {
  it('looks after the others when one submission makes trouble', async () => {
    const rig = createReconcileRig({
      hook: ({ port, method, args }, proceed) => {
        if (port === 'submissions' && method === 'getWithLedger' && args[0] === 'sub_bad') throw new Error('no');
        return proceed();
      },
    });
    await rig.seed(1, { submissionId: 'sub_bad' });
    await rig.seed(1, { state: 'accepted', outboxPending: true });
    await rig.clock.advance(MINUTE_MS);
    expect(await rig.run()).toEqual({ submissions: 1, postponed: 1, actions: 1 });
    expect(rig.world.telemetry.named('unexpected_error')).toMatchObject([{ submissionId: 'sub_bad' }]);
  });

  it('tells of a submission that cannot be read, and looks after the others', async () => {
    const error = new Error('The stored submission is not valid.');
    const rig = createReconcileRig({
      hook: async ({ port, method }, proceed) => {
        const answer = await proceed();
        if (port !== 'submissions' || method !== 'listOpen') return answer;
        return { ...(answer as object), unreadable: [{ submissionId: 'sub_bad', error }] };
      },
    });
    await rig.seed(1, { state: 'accepted', outboxPending: true });
    await rig.clock.advance(MINUTE_MS);
    expect(await rig.run()).toEqual({ submissions: 1, postponed: 0, actions: 1 });
    expect(rig.world.telemetry.named('unexpected_error')).toMatchObject([{ submissionId: 'sub_bad', error }]);
  });

  it('ends early, and not as an error, while its table is throttled; the next one does the work', async () => {
    let isThrottled = true;
    const rig = createReconcileRig({
      hook: ({ method }, proceed) => {
        if (isThrottled && method === 'listOpen') throw new DependencyUnavailableError('Throttled.');
        return proceed();
      },
    });
    await rig.seed(3);
    expect(await rig.minutes(1)).toEqual([{ submissions: 0, postponed: 0, actions: 0 }]);
    expect(rig.world.telemetry.named('reconciled')).toEqual([]);
    expect(rig.world.telemetry.named('unexpected_error')).toMatchObject([{ level: 'warn' }]);
    isThrottled = false;
    expect(await rig.minutes(1)).toMatchObject([{ submissions: 1 }]);
  });

  it('does nothing to a submission for which there is no time', async () => {
    const rig = createReconcileRig();
    await rig.seed(1, { state: 'accepted', outboxPending: true });
    await rig.clock.advance(MINUTE_MS);
    expect(await rig.run(5_000)).toEqual({ submissions: 0, postponed: 1, actions: 0 });
  });

  it('saves what is open, by lane, for admission and estimates', async () => {
    const rig = createReconcileRig();
    await rig.seed(300, { lane: 'bulk', closedChunks: new Set([0]) });
    await rig.clock.advance(MINUTE_MS);
    await rig.run();
    expect(await rig.world.admission.backlog()).toEqual({
      asOfMs: START_MS + MINUTE_MS,
      openRecords: { small: 0, bulk: 50 },
      openSubmissions: 1,
      troubledAtMs: 0,
      pacePerSecond: expect.closeTo(50 * 0.985, 3),
    });
  });

  it('finds nothing to do where nothing is wrong', async () => {
    const rig = createReconcileRig();
    await rig.seed(500);
    await finishAll(rig, upTo(250));
    const reports = await rig.minutes(5);
    expect(reports.every(({ actions }) => actions === 0)).toBe(true);
    expect(isOpen(rig.stored().state)).toBe(true);
  });
});

describe('a run that dies at any call', () => {
  it('leaves the same end state as one that does not', async () => {
    const scenario = async (failAt: number): Promise<{ calls: number; end: unknown }> => {
      let calls = -Infinity; // counted from the end of the preparations
      const rig = createReconcileRig({
        hook: (_call, proceed) => {
          calls += 1;
          if (calls === failAt) throw new Error('died');
          return proceed();
        },
      });
      await rig.seed(3);
      await rig.world.records.put(makeRow({ recordNo: 2, updatedAtMs: START_MS }));
      calls = 0;
      for (let minute = 0; minute < 90; minute++) {
        await rig.clock.advance(MINUTE_MS);
        await rig.run().catch((error: unknown) => expect(error).toEqual(new Error('died')));
      }
      const sent = new Set(rig.sent().map(({ recordNo }) => recordNo));
      const rows = rig.world.inspect
        .records(SUBMISSION_ID)
        .map(({ recordNo, state, reason }) => [recordNo, state, reason]);
      return { calls, end: { sent: [...sent].sort((a, b) => a - b), rows } };
    };
    const undisturbed = await scenario(0);
    expect(undisturbed.end).toMatchObject({ sent: [1, 3] });
    for (let failAt = 1; failAt <= 60; failAt++) expect((await scenario(failAt)).end).toEqual(undisturbed.end);
  });
});

describe('the figures of a run', () => {
  const gauges = (rig: ReturnType<typeof createReconcileRig>, outcome: string) =>
    rig.world.telemetry.named('gauge').filter((event) => event.outcome === outcome);

  it('tell of each provider whether it takes calls', async () => {
    const rig = createReconcileRig();
    const openUntilMs = START_MS + 3 * MINUTE_MS;
    await rig.world.providers.open('company', { epoch: 0, openUntilMs });
    await rig.run();
    expect(gauges(rig, 'breaker_open')).toMatchObject([{ provider: 'company', count: 1 }]);
    expect(gauges(rig, 'provider_blocked')).toMatchObject([{ provider: 'company', count: 0 }]);
    expect(gauges(rig, 'troubled_providers')).toMatchObject([{ count: 1 }]);
  });

  it('tell of each provider which rate is granted, and whether its canary is wrong', async () => {
    const rig = createReconcileRig();
    const { providers } = rig.world;
    const pace = { share: 0.25, limitShare: 0.5 };
    await providers.throttle('company', { seenAtMs: 0, nowMs: START_MS, throttles: 0, pace });
    await rig.run();
    expect(gauges(rig, 'granted_rate')).toMatchObject([{ provider: 'company', count: 12.5 }]);
    expect(gauges(rig, 'canary_distrusted')).toMatchObject([{ count: 0 }]);
    expect((await rig.world.admission.backlog())?.pacePerSecond).toBeCloseTo(12.5 * 0.985, 3);
  });

  it('do not call a breaker open that waits for a record to probe with', async () => {
    const rig = createReconcileRig();
    await rig.world.providers.open('company', { epoch: 0, openUntilMs: START_MS + MINUTE_MS });
    await rig.clock.advance(2 * MINUTE_MS);
    await rig.run();
    expect(gauges(rig, 'breaker_open')).toMatchObject([{ count: 0 }]);
  });

  it('count open submissions by state', async () => {
    const rig = createReconcileRig();
    await rig.seed(3);
    await rig.seed(3, { submissionId: 'sub_2', state: 'finalizing', finalize: { nextPart: 1 } });
    await rig.run();
    const states = ['open_accepted', 'open_processing', 'open_finalizing', 'open_cancelling'];
    expect(states.map((state) => gauges(rig, state)[0]?.count)).toEqual([0, 1, 1, 0]);
  });

  it('let a replayed submission wait since its replay, and any other since it was accepted', async () => {
    const rig = createReconcileRig();
    await rig.seed(3, { lane: 'small' });
    await rig.seed(3, { submissionId: 'sub_2', lane: 'bulk', generation: 1, progressAtMs: START_MS + 4 * MINUTE_MS });
    await rig.clock.advance(5 * MINUTE_MS);
    await rig.run();
    expect(gauges(rig, 'oldest_unfinished')).toMatchObject([
      { lane: 'small', ageMs: 5 * MINUTE_MS },
      { lane: 'bulk', ageMs: MINUTE_MS },
    ]);
  });
});

describe('open work of tenants', () => {
  it('is what is open: leaks end, and replays and lost counts are added', async () => {
    const rig = createReconcileRig();
    const { admission } = rig.world;
    await rig.seed(300);
    await finishAll(rig, upTo(250));
    await admission.setOpenWork(TENANT_ID, { submissionId: 'sub_that_expired', records: 9_000 });
    await rig.run();
    expect(await admission.openWork(TENANT_ID)).toEqual([{ submissionId: SUBMISSION_ID, records: 50, lane: 'small' }]);

    await finishAll(rig, upTo(300));
    await rig.world.submissions.claimFinalize({
      submissionId: SUBMISSION_ID,
      owner: 'f',
      nowMs: rig.clock.now(),
      leaseMs: 1,
    });
    const counts = { total: 300, pending: 0, succeeded: 300, failed: 0, cancelled: 0 };
    const end = { state: 'complete', resultsVersion: 1, counts, nowMs: rig.clock.now() } as const;
    // The finalizer ends here, and never clears what it had open.
    await rig.world.submissions.finish(SUBMISSION_ID, 'f', end);
    await rig.minutes(1);
    expect(await admission.openWork(TENANT_ID)).toEqual([]);
  });
});
