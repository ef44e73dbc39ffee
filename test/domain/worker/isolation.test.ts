import { describe, expect, it, jest } from '@jest/globals';
import { DependencyUnavailableError } from '../../../lambdas/domain/errors.ts';
import { MAX_RECEIVE_COUNT } from '../../../lambdas/domain/limits.ts';
import { parseRecordMessage } from '../../../lambdas/domain/queues/messages.ts';
import { isProvenCrash } from '../../../lambdas/domain/worker/isolation.ts';
import { makeRow } from '../../support/factories.ts';
import { createWorkerRig, VISIBILITY_MS } from '../../support/worker-rig.ts';

// Many visibility timeouts of virtual time take seconds of a busy machine.
jest.setTimeout(60_000);

type Rig = ReturnType<typeof createWorkerRig>;

const killers =
  (...numbers: number[]) =>
  (url: string): boolean =>
    numbers.some((number) => url.includes(`customer${String(number).padStart(4, '0')}`));

const untilVisible = async (rig: Rig): Promise<void> => rig.clock.run(rig.clock.sleep(VISIBILITY_MS));

const numbersFrom = (from: number, to: number, without: readonly number[] = []): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i).filter((number) => !without.includes(number));

describe('a record that kills its worker', () => {
  it('takes nobody with it: its nine neighbours succeed, and SQS moves it to the dead-letter queue alone', async () => {
    const rig = createWorkerRig();
    await rig.submit(10);
    await rig.drain({ killedBy: killers(4) });
    expect(rig.ledger().succeeded).toEqual(numbersFrom(0, 9, [3]));
    expect(rig.deadLetters.messages()).toHaveLength(1);
    const row = rig.row(4);
    expect(row).toMatchObject({ state: 'retrying', reason: 'worker_crashed', isolatedReceives: MAX_RECEIVE_COUNT - 1 });
    expect(isProvenCrash(row)).toBe(true);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'regrouping with one other and eight innocents loses none of those (order %i)',
    async (seed) => {
      const rig = createWorkerRig({ seed });
      await rig.submit(10);
      await rig.drain({ killedBy: killers(2, 7) });
      expect(rig.ledger().succeeded).toEqual(numbersFrom(0, 9, [1, 6]));
      expect(rig.deadLetters.messages()).toHaveLength(2);
      for (const number of [2, 7]) expect(isProvenCrash(rig.row(number))).toBe(true);
    },
  );

  it.each([1, 2, 3])(
    'is found also where all ten do it, with those sent again that prove nothing (order %i)',
    async (seed) => {
      const rig = createWorkerRig({ seed });
      await rig.submit(10);
      for (let rounds = 0; rounds < 5; rounds++) {
        await rig.drain({ killedBy: () => true });
        const letters = await rig.deadLetters.receive(10, 0);
        const unproven = letters.filter(({ body }) => !isProvenCrash(rig.row(parseRecordMessage(body).recordNo)));
        await rig.deadLetters.acknowledge(unproven);
        await rig.lane.send(unproven.map(({ body }) => ({ body, group: 'acme' })));
      }
      expect(rig.lane.messages()).toEqual([]);
      expect(rig.deadLetters.messages()).toHaveLength(10);
      expect(rig.rows().every(isProvenCrash)).toBe(true);
    },
  );

  it.each([1, 2, 3])('is found although a second copy of it is %i receives behind', async (behind) => {
    const rig = createWorkerRig();
    await rig.submit(1);
    const [first] = rig.lane.messages();
    const halfOfVisibility = async (): Promise<void> => rig.clock.run(rig.clock.sleep(VISIBILITY_MS / 2));
    // The first copy is delivered at even steps; when the second one is there, it is delivered at odd ones.
    for (let step = 0; step < 40 && !isProvenCrash(rig.row(1)); step++) {
      if (step === 2 * behind + 1) await rig.lane.send([{ body: first?.body ?? '', group: 'acme' }]);
      await rig.step({ killedBy: killers(1), max: 1 });
      await halfOfVisibility();
    }
    expect(isProvenCrash(rig.row(1))).toBe(true);
  });

  it('among hundreds loses none of the others', async () => {
    const rig = createWorkerRig({ seed: 5 });
    await rig.submit(200);
    const poison = [7, 63, 64, 65, 150];
    await rig.drain({ killedBy: killers(...poison) });
    expect(rig.ledger().succeeded).toEqual(
      numbersFrom(
        0,
        199,
        poison.map((number) => number - 1),
      ),
    );
    expect(rig.deadLetters.messages()).toHaveLength(poison.length);
  });

  it('waits, once known, until all others have been through', async () => {
    const rig = createWorkerRig({ seed: 3 });
    await rig.submit(10);
    for (let receives = 1; receives <= 3; receives++) {
      await rig.step({ killedBy: killers(4) });
      await untilVisible(rig);
    }
    // Killed the batch, then one by one up to itself, then all others before itself.
    expect(rig.ledger().succeeded).toEqual(numbersFrom(0, 9, [3]));
  });

  it('is run once per receive, and never before its neighbours of the batch are acknowledged', async () => {
    const rig = createWorkerRig();
    await rig.submit(10);
    await rig.step({ killedBy: killers(4) });
    await untilVisible(rig);
    await rig.step({ killedBy: killers(4) });
    // Whoever ran before the killer is done and gone from the queue, although the invocation never ended.
    const left = rig.waiting().map(({ message }) => message.recordNo);
    const done = rig.ledger().succeeded.map((offset) => offset + 1);
    expect([...left, ...done].toSorted((a, b) => a - b)).toEqual(numbersFrom(1, 10));
    expect(left).toContain(4);
  });
});

describe('an isolated record', () => {
  it('is marked on its row before it starts, and loses the mark when it has been worked', async () => {
    const rig = createWorkerRig();
    await rig.submit(1);
    await rig.step({ killedBy: killers(1) });
    expect(rig.row(1)).toBeUndefined();
    await untilVisible(rig);
    await rig.step({ killedBy: killers(1) });
    expect(rig.row(1)).toMatchObject({ state: 'retrying', reason: 'worker_crashed', isolatedReceives: 1, attempts: 0 });
    await untilVisible(rig);
    await rig.step();
    expect(rig.row(1)).toMatchObject({ state: 'succeeded', attempts: 1 });
    expect(rig.row(1)).not.toHaveProperty('isolatedReceives');
  });

  it('does not run before new records of the same batch, which a killer among them would take with it', async () => {
    const rig = createWorkerRig();
    await rig.submit(3);
    const old = await rig.lane.receive(1, 1_000);
    await rig.clock.run(rig.clock.sleep(2_000));
    await rig.step({ killedBy: killers(3) });
    expect(old).toHaveLength(1);
    expect(rig.row(1)).toBeUndefined();
  });

  it('at its last receive, never started alone before, comes back as a new message before anything is risked', async () => {
    const rig = createWorkerRig();
    await rig.submit(2);
    const [first] = rig.lane.messages();
    for (let receives = 1; receives < MAX_RECEIVE_COUNT; receives++) {
      await rig.lane.receive(1, 1_000);
      await rig.clock.run(rig.clock.sleep(2_000));
      if (receives === 1) expect(rig.lane.messages()[0]?.messageId).toBe(first?.messageId);
    }
    // Record 2 is new, and kills the worker that record 1 depends on with its last receive.
    await rig.step({ killedBy: killers(2) });
    expect(rig.deadLetters.messages()).toEqual([]);
    await rig.drain({ killedBy: killers(2) });
    expect(rig.ledger().succeeded).toEqual([0]);
    expect(rig.deadLetters.messages()).toHaveLength(1);
  });

  it('that only has to wait loses its mark, so that it proves nothing later', async () => {
    const rig = createWorkerRig();
    await rig.submit(1);
    await rig.step({ killedBy: killers(1) });
    await untilVisible(rig);
    await rig.world.providers.block('company', rig.clock.now() + 20_000);
    await rig.step();
    expect(rig.row(1)).toMatchObject({ state: 'deferred', reason: 'provider_throttled' });
    expect(rig.row(1)).not.toHaveProperty('isolatedReceives');
  });

  it('is started within the shortest timeout that a worker has, also behind other records', async () => {
    const rig = createWorkerRig();
    await rig.submit(10);
    await rig.step({ killedBy: killers(1) });
    await untilVisible(rig);
    await rig.step({ remainingMs: 25_000 });
    expect(rig.ledger().succeeded).toEqual(numbersFrom(0, 9));
  });

  it('is not started when there is no time left for it, and comes back', async () => {
    const rig = createWorkerRig();
    await rig.submit(1);
    await rig.step({ killedBy: killers(1) });
    await untilVisible(rig);
    await rig.step({ remainingMs: 9_000 });
    expect(rig.row(1)).toMatchObject({ state: 'deferred', reason: 'out_of_time' });
    await rig.drain();
    expect(rig.row(1)).toMatchObject({ state: 'succeeded' });
  });

  it('that has its outcome already is acknowledged without being started', async () => {
    const rig = createWorkerRig();
    await rig.submit(1);
    await rig.lane.receive(1, 1_000);
    await rig.clock.run(rig.clock.sleep(2_000));
    await rig.world.records.put(makeRow());
    await rig.step();
    expect(rig.telemetry.named('isolated_run_started')).toEqual([]);
    expect(rig.company.calls).toEqual([]);
    expect(rig.ledger().succeeded).toEqual([0]);
  });

  it('whose first delivery is still at it is not taken for a copy of what that one leaves behind', async () => {
    let isThrottled = true;
    const rig = createWorkerRig({
      hook: async ({ port, method }, apply) => {
        if (isThrottled && port === 'records' && method === 'put') throw new DependencyUnavailableError('Throttled.');
        return apply();
      },
    });
    await rig.submit(1);
    const [delivery] = await rig.lane.receive(1, 1_000);
    if (delivery === undefined) throw new Error('Nothing was received.');
    await rig.invoke([{ ...delivery, receiveCount: 2 }]);
    isThrottled = false;
    // The first delivery ends here: its row is written, its next message is not sent any more.
    const waitingUntilMs = rig.clock.now() + 60_000;
    await rig.world.records.put(makeRow({ state: 'deferred', reason: 'breaker_open', attempts: 0, waitingUntilMs }));
    await rig.drain();
    expect(rig.row(1)).toMatchObject({ state: 'succeeded' });
  });

  it('buys nothing again that was paid for before the crash', async () => {
    const rig = createWorkerRig();
    await rig.submit(1, () => ({ answers: { company: { kind: 'not_found' } } }));
    await rig.step({ killedBy: (url) => url.includes('//geo.') });
    await untilVisible(rig);
    await rig.step();
    expect(rig.row(1)).toMatchObject({ state: 'succeeded', answers: { company: { kind: 'not_found' } } });
    expect(rig.company.calls).toEqual([]);
  });
});

describe('a record that was sent again since its worker crashed', () => {
  const crashed = {
    state: 'retrying',
    reason: 'message_lost',
    attempts: 0,
    answers: {},
    isolatedReceives: 1,
    resends: 1,
  } as const;

  it('by the reconciler runs alone at its first receive: its neighbours are done before it starts', async () => {
    const rig = createWorkerRig();
    await rig.submit(10);
    await rig.world.records.put(makeRow({ ...crashed, recordNo: 4 }));
    expect(await rig.step({ killedBy: killers(4) })).toMatchObject({ crashed: true });
    expect(rig.ledger().succeeded).toEqual(numbersFrom(0, 9, [3]));
    expect(rig.row(4)).toMatchObject({ isolatedReceives: 2 });
  });

  it('before the queue gave it up runs alone, too', async () => {
    const rig = createWorkerRig();
    await rig.submit(10);
    const [delivery] = await rig.lane.receive(1, 1_000);
    if (delivery === undefined) throw new Error('Nothing was received.');
    await rig.invoke([{ ...delivery, receiveCount: MAX_RECEIVE_COUNT }], { remainingMs: 9_000 });
    expect(rig.row(1)).toMatchObject({ state: 'deferred', isolatedReceives: 0 });
    await untilVisible(rig);
    expect(await rig.step({ killedBy: killers(1) })).toMatchObject({ crashed: true });
    expect(rig.ledger().succeeded).toEqual(numbersFrom(1, 9));
  });

  it.each(['getMany', 'put'])('because %s did not work runs alone, too', async (failing) => {
    let isThrottled = false;
    const rig = createWorkerRig({
      hook: async ({ port, method }, apply) => {
        if (isThrottled && port === 'records' && method === failing) throw new DependencyUnavailableError('Throttled.');
        return apply();
      },
    });
    await rig.submit(10);
    const [delivery] = await rig.lane.receive(1, 1_000);
    if (delivery === undefined) throw new Error('Nothing was received.');
    isThrottled = true;
    await rig.invoke([{ ...delivery, receiveCount: 2 }]);
    isThrottled = false;
    await untilVisible(rig);
    expect(await rig.step({ killedBy: killers(1) })).toMatchObject({ crashed: true });
    expect(rig.ledger().succeeded).toEqual(numbersFrom(1, 9));
  });
});

describe('a worker killed from outside', () => {
  it('four times over, with one and the same record in it, does not make that record a killer', async () => {
    const rig = createWorkerRig();
    await rig.submit(2);
    // The batch, then twice while record 1 waits for its turn behind the other, then twice while it runs alone.
    await rig.lane.receive(2, 1_000);
    for (let receives = 2; receives <= 3; receives++) {
      await rig.clock.run(rig.clock.sleep(2_000));
      await rig.lane.receive(2, 1_000);
    }
    for (let deaths = 1; deaths <= 2; deaths++) {
      await rig.clock.run(rig.clock.sleep(VISIBILITY_MS));
      await rig.step({ max: 1, killedBy: killers(1) });
    }
    expect(isProvenCrash(rig.row(1))).toBe(false);
    await rig.drain();
    expect(rig.ledger().succeeded).toEqual([0, 1]);
    expect(rig.deadLetters.messages()).toEqual([]);
  });

  it('at any call loses nothing, and repeats at most what was under way', async () => {
    const rig = createWorkerRig({ seed: 11 });
    await rig.submit(60);
    let calls = 0;
    // Every ninth call of a provider is the last of its worker, some twenty times over.
    await rig.drain({ killedBy: () => ++calls % 9 === 0 && calls < 180 });
    expect(rig.ledger().succeeded).toEqual(numbersFrom(0, 59));
    expect(rig.deadLetters.messages()).toEqual([]);
  });
});

describe('the proof of a crash', () => {
  it.each([
    ['no row', undefined, false],
    ['a row without a mark', makeRow({ state: 'retrying', reason: 'provider_timeout' }), false],
    ['too few marks', makeRow({ state: 'retrying', isolatedReceives: MAX_RECEIVE_COUNT - 2 }), false],
    [
      'a mark for every receive but the first',
      makeRow({ state: 'retrying', isolatedReceives: MAX_RECEIVE_COUNT - 1 }),
      true,
    ],
    ['an outcome', makeRow({ state: 'succeeded', isolatedReceives: MAX_RECEIVE_COUNT }), false],
  ])('is asked of %s', (_, row, expected) => {
    expect(isProvenCrash(row)).toBe(expected);
  });
});
