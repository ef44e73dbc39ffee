import { encodeBody } from '../../../lambdas/domain/queues/messages.ts';
import { makeRecordMessage, makeRow, SUBMISSION_ID } from '../../support/factories.ts';
import { createRedriveRig, type RedriveRig } from '../../support/redrive-rig.ts';
import { MINUTE_MS } from '../../support/reconcile-rig.ts';

const park = async (rig: RedriveRig, body: string, attributes: Record<string, string> = {}): Promise<void> => {
  await rig.world.queues.deadLetters.small.send([{ body, group: 'acme', attributes }]);
};
const left = (rig: RedriveRig): number => rig.world.queues.deadLetters.small.messages().length;
const DEAD = { state: 'dead_lettered', reason: 'attempts_exhausted' } as const;
const drain = { mode: 'dead_letter_queue', dryRun: false };

describe('draining a dead-letter queue', () => {
  it('replays a record that was given up, then deletes its message', async () => {
    const rig = createRedriveRig();
    await rig.seed(1);
    await rig.finish([{ recordNo: 1, state: 'dead_lettered', reason: 'attempts_exhausted', attempts: 5 }]);
    await park(rig, encodeBody(makeRecordMessage()), { reason: 'attempts_exhausted' });
    expect(await rig.ask(drain)).toMatchObject({ replayed: 1, byReason: { attempts_exhausted: 1 } });
    expect(rig.messages()).toMatchObject([{ recordNo: 1, generation: 1, redrives: 1 }]);
    expect(left(rig)).toBe(0);
  });

  it('sends the message of an open record again, whose worker died with it', async () => {
    const rig = createRedriveRig();
    await rig.seed(1);
    await park(rig, encodeBody(makeRecordMessage({ attempt: 2 })));
    expect(await rig.ask(drain)).toMatchObject({ replayed: 1, byReason: { worker_crashed: 1 } });
    expect(rig.messages()).toMatchObject([{ recordNo: 1, generation: 0, attempt: 2, redrives: 1 }]);
    expect(left(rig)).toBe(0);
  });

  it('tells a message of the wait that its row announced before its worker died', async () => {
    const rig = createRedriveRig();
    await rig.seed(1);
    const waitingUntilMs = rig.clock.now() + 10 * MINUTE_MS;
    await rig.world.records.put(
      makeRow({ state: 'retrying', reason: 'provider_timeout', attempts: 1, waitingUntilMs }),
    );
    await park(rig, encodeBody(makeRecordMessage()));
    await rig.ask(drain);
    expect(rig.messages()).toMatchObject([{ recordNo: 1, notBeforeMs: waitingUntilMs }]);
  });

  it('replays all dead letters of a submission before the first of them can end it', async () => {
    const openAtSend: number[] = [];
    const rig: RedriveRig = createRedriveRig({
      hook: async ({ port, method }, proceed) => {
        if (port === 'queues.small' && method === 'send') {
          const rows = rig.world.inspect.records(SUBMISSION_ID);
          openAtSend.push(rows.filter(({ state }) => state === 'retrying').length);
        }
        return proceed();
      },
    });
    await rig.seed(300);
    await rig.finish([
      ...Array.from({ length: 299 }, (_, index) => ({ ...DEAD, recordNo: index + 1 })),
      { recordNo: 300, state: 'failed', reason: 'provider_rejected' },
    ]);
    for (let recordNo = 1; recordNo <= 299; recordNo++) await park(rig, encodeBody(makeRecordMessage({ recordNo })));

    expect(await rig.ask(drain)).toMatchObject({ replayed: 299, skipped: {} });

    expect(openAtSend).toEqual([299, 299]);
    expect(rig.messages()).toHaveLength(299);
    expect(left(rig)).toBe(0);
  });

  it('replays all dead letters of a submission at once, whatever its limit, and begins with no other', async () => {
    const rig = createRedriveRig();
    const key = 'uploads/acme/up_2';
    const source = { key, ...rig.world.objects.seed(key, 'record_id,name\nr-1,Name 1\n') };
    await rig.seed(1, { submissionId: 'sub_other', source });
    await rig.seed(300);
    const recordNos = Array.from({ length: 300 }, (_, index) => index + 1);
    await rig.finish([
      ...recordNos.map((recordNo) => ({ ...DEAD, recordNo })),
      { ...DEAD, submissionId: 'sub_other', recordNo: 1 },
    ]);
    for (const recordNo of recordNos) await park(rig, encodeBody(makeRecordMessage({ recordNo })));
    await park(rig, encodeBody(makeRecordMessage({ submissionId: 'sub_other' })));
    expect(await rig.ask({ ...drain, limit: 20 })).toMatchObject({ replayed: 300 });
    expect(rig.messages().filter(({ submissionId }) => submissionId === 'sub_other')).toEqual([]);
    expect(left(rig)).toBe(1);
    expect(await rig.ask({ ...drain, limit: 20 })).toMatchObject({ replayed: 1 });
    expect(left(rig)).toBe(0);
  });

  it('replays also the dead letters of a submission whose time was up before they were looked at', async () => {
    const rig = createRedriveRig();
    await rig.seed(3);
    await rig.finish([
      { recordNo: 1, state: 'failed', reason: 'deadline_passed' },
      { recordNo: 2, state: 'failed', reason: 'deadline_passed' },
      { recordNo: 3, state: 'failed', reason: 'provider_rejected' },
    ]);
    for (const recordNo of [1, 2]) await park(rig, encodeBody(makeRecordMessage({ recordNo })));
    const counted = await rig.ask({ mode: 'dead_letter_queue' });
    expect(counted).toMatchObject({ replayed: 2, byReason: { deadline_passed: 2 } });
    expect(await rig.ask(drain)).toMatchObject({ replayed: 2, byReason: { deadline_passed: 2 } });
    expect(rig.messages().map(({ recordNo }) => recordNo)).toEqual([1, 2]);
    expect(left(rig)).toBe(0);
  });

  it('looks once into a file that is gone, however many of its records lie there', async () => {
    const rig = createRedriveRig();
    await rig.seed(30);
    const recordNos = Array.from({ length: 30 }, (_, index) => index + 1);
    await rig.finish(recordNos.map((recordNo) => ({ ...DEAD, recordNo })));
    for (const recordNo of recordNos) await park(rig, encodeBody(makeRecordMessage({ recordNo })));
    rig.world.objects.delete('uploads/acme/up_1');
    expect(await rig.ask(drain)).toMatchObject({ replayed: 0, skipped: { source_gone: 30 } });
    expect(left(rig)).toBe(30);
  });

  it('keeps the dead letter whose replay the lane did not take, and deletes the others', async () => {
    const rig = createRedriveRig({
      hook: async ({ port, method, args }, proceed) => {
        if (port !== 'queues.small' || method !== 'send') return proceed();
        const [messages] = args as [unknown[]];
        await proceed([messages.slice(1)]);
        return [{ index: 0, senderFault: false, code: 'InternalError' }];
      },
    });
    await rig.seed(2);
    await rig.finish([1, 2].map((recordNo) => ({ ...DEAD, recordNo })));
    for (const recordNo of [1, 2]) await park(rig, encodeBody(makeRecordMessage({ recordNo })));
    expect(await rig.ask(drain)).toMatchObject({ replayed: 2, unsent: 1 });
    expect(rig.messages()).toMatchObject([{ recordNo: 2 }]);
    expect(left(rig)).toBe(1);
  });

  it('deletes what has nothing left to do', async () => {
    const rig = createRedriveRig();
    await rig.seed(1);
    await rig.finish([{ recordNo: 1 }]);
    await park(rig, encodeBody(makeRecordMessage()));
    await park(rig, encodeBody(makeRecordMessage({ submissionId: 'sub_expired' })));
    expect(await rig.ask(drain)).toMatchObject({ replayed: 0, skipped: { settled: 2 } });
    expect(left(rig)).toBe(0);
    expect(rig.messages()).toEqual([]);
  });

  it('gives an unreadable body three more chances, then moves it into an object of its own', async () => {
    const rig = createRedriveRig();
    let attributes: Record<string, string> = { reason: 'unreadable_message' };
    for (let redrive = 1; redrive <= 3; redrive++) {
      await park(rig, '{"v":2}', attributes);
      expect(await rig.ask(drain)).toMatchObject({ replayed: 1, byReason: { unreadable_message: 1 } });
      expect(left(rig)).toBe(0);
      const [message] = rig.world.queues.live.small.messages();
      attributes = { ...message?.attributes, reason: 'unreadable_message' };
      expect(attributes['redrives']).toBe(String(redrive));
      rig.world.queues.live.small.purge();
    }
    await park(rig, '{"v":2}', attributes);
    expect(await rig.ask({ ...drain, dryRun: true })).toMatchObject({ setApart: 1 });
    expect(left(rig)).toBe(1);

    expect(await rig.ask(drain)).toMatchObject({ replayed: 0, setApart: 1, deadLettersDeleted: 1 });

    expect(left(rig)).toBe(0);
    expect(rig.world.queues.live.small.messages()).toEqual([]);
    const [key = ''] = rig.world.objects.keys().filter((name) => name.startsWith('set-apart/'));
    expect(key).toMatch(/^set-apart\/small\/\d{4}-\d\d-\d\d\/[^/]+\.json$/);
    expect(JSON.parse(rig.world.objects.text(key))).toMatchObject({ lane: 'small', body: '{"v":2}', attributes });
    expect(rig.world.telemetry.named('message_set_apart')).toMatchObject([{ level: 'warn', detail: key }]);
  });

  it('keeps the message when the lane did not take what it stands for', async () => {
    const rig = createRedriveRig({
      hook: async ({ port, method }, proceed) =>
        port === 'queues.small' && method === 'send'
          ? [{ index: 0, senderFault: false, code: 'InternalError' }]
          : proceed(),
    });
    await rig.seed(1);
    await park(rig, encodeBody(makeRecordMessage()));
    expect(await rig.ask(drain)).toMatchObject({ unsent: 1 });
    expect(left(rig)).toBe(1);
  });

  it('deletes what it has sent, also when the next message makes trouble', async () => {
    const rig = createRedriveRig({
      hook: async ({ port, method, args }, proceed) => {
        if (port === 'submissions' && method === 'get' && args[0] === 'sub_bad') throw new Error('no');
        return proceed();
      },
    });
    await rig.seed(1);
    await park(rig, encodeBody(makeRecordMessage()));
    await park(rig, encodeBody(makeRecordMessage({ submissionId: 'sub_bad' })));
    await expect(rig.ask(drain)).rejects.toThrow('no');
    expect(rig.messages()).toHaveLength(1);
    expect(left(rig)).toBe(1);
  });

  it('looks at no more messages than its limit', async () => {
    const rig = createRedriveRig();
    await rig.seed(5);
    for (let recordNo = 1; recordNo <= 5; recordNo++) await park(rig, encodeBody(makeRecordMessage({ recordNo })));
    expect(await rig.ask({ ...drain, limit: 2 })).toMatchObject({ replayed: 2 });
    expect(left(rig)).toBe(3);
  });

  it('sets an unreadable body apart whose count of redrives makes no sense', async () => {
    const rig = createRedriveRig();
    await rig.seed(1);
    await park(rig, 'nonsense', { redrives: 'often' });
    expect(await rig.ask(drain)).toMatchObject({ replayed: 0, setApart: 1 });
    expect(left(rig)).toBe(0);
  });

  it('sets it apart, too, where it selects by reason, as the automatic redrive does', async () => {
    const rig = createRedriveRig();
    await park(rig, 'nonsense', { redrives: '3' });
    await park(rig, 'nonsense', { redrives: '2' });
    expect(await rig.ask({ ...drain, reason: 'breaker_open' })).toMatchObject({ replayed: 0, setApart: 1 });
    expect(left(rig)).toBe(1);
  });

  it('keeps it in the queue when the object cannot be written', async () => {
    const rig = createRedriveRig({
      hook: async ({ port, method }, proceed) => {
        if (port === 'objects' && method === 'put') throw new Error('no');
        return proceed();
      },
    });
    await park(rig, 'nonsense', { redrives: '3' });
    await expect(rig.ask(drain)).rejects.toThrow('no');
    expect(left(rig)).toBe(1);
  });

  it('only counts in a dry run', async () => {
    const rig = createRedriveRig();
    await rig.seed(1);
    await park(rig, encodeBody(makeRecordMessage()));
    await park(rig, 'nonsense');
    expect(await rig.ask({ mode: 'dead_letter_queue' })).toMatchObject({
      dryRun: true,
      byReason: { worker_crashed: 1, unreadable_message: 1 },
    });
    expect(left(rig)).toBe(2);
    expect(rig.world.queues.live.small.messages()).toEqual([]);
  });

  it('leaves what it only counted to the redrive that follows at once', async () => {
    const rig = createRedriveRig();
    await rig.seed(1);
    await park(rig, encodeBody(makeRecordMessage()));
    await rig.ask({ mode: 'dead_letter_queue' });
    expect(await rig.ask(drain)).toMatchObject({ replayed: 1 });
    expect(left(rig)).toBe(0);
  });

  it('goes on behind what it has looked at when it stopped at its limit', async () => {
    const rig = createRedriveRig();
    await rig.seed(11);
    // Foreign messages stay where they are.
    for (let recordNo = 1; recordNo <= 10; recordNo++)
      await park(rig, encodeBody(makeRecordMessage({ recordNo })), { reason: 'foreign_message' });
    await park(rig, encodeBody(makeRecordMessage({ recordNo: 11 })));
    expect(await rig.ask({ ...drain, limit: 10 })).toMatchObject({ replayed: 0 });
    expect(await rig.ask({ ...drain, limit: 10 })).toMatchObject({ replayed: 1 });
    expect(left(rig)).toBe(10);
  });

  it('counts the same in every dry run, also when it stops at its limit', async () => {
    const rig = createRedriveRig();
    await rig.seed(11);
    for (let recordNo = 1; recordNo <= 11; recordNo++) await park(rig, encodeBody(makeRecordMessage({ recordNo })));
    for (let round = 0; round < 3; round++) {
      expect(await rig.ask({ mode: 'dead_letter_queue', limit: 10 })).toMatchObject({ replayed: 10 });
    }
    expect(await rig.ask(drain)).toMatchObject({ replayed: 11, deadLettersDeleted: 11 });
  });

  it('shows in a dry run what lies there, and nothing that a customer sent', async () => {
    const rig = createRedriveRig();
    await rig.seed(1);
    await park(rig, encodeBody(makeRecordMessage()), { reason: 'attempts_exhausted' });
    await park(rig, 'Ada Lovelace', { reason: 'Ada Lovelace' });
    const report = await rig.ask({ mode: 'dead_letter_queue' });
    expect(report.deadLetters).toEqual([
      {
        lane: 'small',
        messageId: expect.any(String),
        submissionId: SUBMISSION_ID,
        recordNo: 1,
        reason: 'attempts_exhausted',
        sentAtMs: expect.any(Number),
      },
      { lane: 'small', messageId: expect.any(String), sentAtMs: expect.any(Number) },
    ]);
  });

  it('replays once what is parked again while it goes on', async () => {
    const rig: RedriveRig = createRedriveRig({
      hook: async ({ port, method }, proceed) => {
        const answer = await proceed();
        if (port === 'queues.small' && method === 'send') {
          await rig.clock.advance(1);
          await park(rig, 'nonsense', { redrives: '1' });
        }
        return answer;
      },
    });
    await rig.seed(1);
    await park(rig, 'nonsense');
    expect(await rig.ask(drain)).toMatchObject({ replayed: 1 });
    expect(left(rig)).toBe(1);
  });

  it('takes only what the request selects', async () => {
    const rig = createRedriveRig();
    await rig.seed(1);
    await park(rig, encodeBody(makeRecordMessage()));
    await park(rig, 'nonsense');
    expect(await rig.ask({ ...drain, submissionId: 'sub_other' })).toMatchObject({ replayed: 0 });
    expect(await rig.ask({ ...drain, lane: 'bulk' })).toMatchObject({ replayed: 0 });
    expect(await rig.ask({ ...drain, submissionId: SUBMISSION_ID })).toMatchObject({ replayed: 1 });
    expect(left(rig)).toBe(1);
  });
});

describe('a redrive by reason', () => {
  const byReason = { reason: 'attempts_exhausted', dryRun: false };

  it('deletes the dead letters of the records that it replayed, and no others', async () => {
    const rig = createRedriveRig();
    await rig.seed(3);
    await rig.finish([
      { ...DEAD, recordNo: 1 },
      { ...DEAD, recordNo: 2 },
      { state: 'dead_lettered', reason: 'worker_crashed', recordNo: 3 },
    ]);
    for (const recordNo of [1, 2, 3]) await park(rig, encodeBody(makeRecordMessage({ recordNo })));
    await park(rig, 'nonsense');
    expect(await rig.ask({ ...byReason, dryRun: true })).toMatchObject({ replayed: 2, deadLettersDeleted: 0 });
    expect(left(rig)).toBe(4);
    expect(await rig.ask(byReason)).toMatchObject({ replayed: 2, deadLettersDeleted: 2 });
    expect(left(rig)).toBe(2);
    expect(await rig.ask({ mode: 'dead_letter_queue' })).toMatchObject({ replayed: 2 });
  });

  it('leaves a message that was no record of the submission, whatever number it bears', async () => {
    const rig = createRedriveRig();
    await rig.seed(1);
    await rig.finish([{ ...DEAD, recordNo: 1 }]);
    await park(rig, encodeBody(makeRecordMessage({ generation: 1_000 })), { reason: 'foreign_message' });
    expect(await rig.ask(byReason)).toMatchObject({ replayed: 1, deadLettersDeleted: 0 });
    expect(left(rig)).toBe(1);
  });

  it('keeps the dead letter whose record the lane did not take', async () => {
    const rig = createRedriveRig({
      hook: async ({ port, method }, proceed) =>
        port === 'queues.small' && method === 'send'
          ? [{ index: 0, senderFault: false, code: 'InternalError' }]
          : proceed(),
    });
    await rig.seed(1);
    await rig.finish([{ ...DEAD, recordNo: 1 }]);
    await park(rig, encodeBody(makeRecordMessage()));
    expect(await rig.ask(byReason)).toMatchObject({ unsent: 1, deadLettersDeleted: 0 });
    expect(left(rig)).toBe(1);
  });
});

describe('after an outage', () => {
  it('dead letters of that kind are replayed by themselves, and others stay', async () => {
    const rig = createRedriveRig();
    rig.reconciler.deps.automaticRedrive = rig.deps;
    await rig.seed(2);
    await rig.finish([
      { recordNo: 1, state: 'dead_lettered', reason: 'attempts_exhausted' },
      { recordNo: 2, state: 'dead_lettered', reason: 'worker_crashed' },
    ]);
    for (const recordNo of [1, 2]) await park(rig, encodeBody(makeRecordMessage({ recordNo })));
    await rig.world.providers.block('company', rig.clock.now() + 10 * MINUTE_MS);
    await rig.minutes(10);
    expect(rig.messages()).toEqual([]);
    await rig.minutes(6);
    expect(rig.messages().map(({ recordNo }) => recordNo)).toEqual([1]);
    expect(left(rig)).toBe(1);
  });

  it('one replay of every record is left to operators', async () => {
    const rig = createRedriveRig();
    rig.reconciler.deps.automaticRedrive = rig.deps;
    await rig.seed(2);
    await rig.finish([1, 2].map((redrives) => ({ ...DEAD, recordNo: redrives, redrives })));
    for (const recordNo of [1, 2]) await park(rig, encodeBody(makeRecordMessage({ recordNo })));
    await rig.world.providers.block('company', rig.clock.now() + 3 * MINUTE_MS);
    await rig.minutes(8);
    expect(rig.messages().map(({ recordNo }) => recordNo)).toEqual([1]);
  });

  it('nothing is replayed where that is left to operators', async () => {
    const rig = createRedriveRig();
    await rig.seed(1);
    await rig.world.records.put(makeRow({ state: 'dead_lettered', reason: 'attempts_exhausted', answers: {} }));
    await park(rig, encodeBody(makeRecordMessage()));
    await rig.world.providers.block('company', rig.clock.now() + 3 * MINUTE_MS);
    await rig.minutes(30);
    expect(rig.messages()).toEqual([]);
  });
});
