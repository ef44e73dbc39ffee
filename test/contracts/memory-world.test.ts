import { describe, expect, test } from '@jest/globals';
import { makeRow, makeSubmission, SUBMISSION_ID } from '../support/factories.ts';
import { createMemoryWorld, createTestClock, seededRandom, START_MS, type PortHook } from '../support/memory/index.ts';

const message = (body: string) => ({ body, group: 'acme' });

describe('the hook of the world in memory', () => {
  test('sees every call by the name of its port', async () => {
    const calls: string[] = [];
    const hook: PortHook = async ({ port, method }, apply) => {
      calls.push(`${port}.${method}`);
      return apply();
    };
    const world = createMemoryWorld({ clock: createTestClock(), hook, credentials: { geo: 'key' } });

    await world.submissions.get(SUBMISSION_ID);
    await world.ledger.get(SUBMISSION_ID, 0);
    await world.records.getMany([]);
    await world.providers.get('geo');
    await world.admission.backlog();
    await world.credentials.get('geo');
    await world.queues.live.small.send([]);
    await world.queues.deadLetters.small.depth();
    await world.objects.head('uploads/x');
    await world.objects.writer('results/x', 'text/csv').close();

    expect(calls).toEqual([
      'submissions.get',
      'ledger.get',
      'records.getMany',
      'providers.get',
      'admission.backlog',
      'credentials.get',
      'queues.small.send',
      'deadLetters.small.depth',
      'objects.head',
      'objects.writer.close',
    ]);
  });

  test('can refuse a call, or lose the reply of one that was applied', async () => {
    const hook: PortHook = async ({ port, args }, apply) => {
      if (port !== 'submissions') return apply();
      if (args[0] === SUBMISSION_ID) throw new Error('refused');
      await apply();
      throw new Error('lost');
    };
    const world = createMemoryWorld({ clock: createTestClock(), hook });

    await expect(world.submissions.create(makeSubmission({ submissionId: 'sub_2' }))).rejects.toThrow('lost');
    await expect(world.submissions.get(SUBMISSION_ID)).rejects.toThrow('refused');

    expect(world.inspect.submissions().map(({ submissionId }) => submissionId)).toEqual(['sub_2']);
  });

  test('can let a part of a batch through', async () => {
    const hook: PortHook = async ({ port, method, args }, apply) => {
      if (port !== 'queues.bulk' || method !== 'send') return apply();
      const [messages] = args as [unknown[]];
      await apply([messages.slice(0, 1)]);
      return [{ index: 1, senderFault: false, code: 'InternalError' }];
    };
    const { queues } = createMemoryWorld({ clock: createTestClock(), hook });

    expect(await queues.live.bulk.send([message('a'), message('b')])).toHaveLength(1);

    expect(queues.live.bulk.messages().map(({ body }) => body)).toEqual(['a']);
  });

  test('what is read past it is a copy', async () => {
    const world = createMemoryWorld({ clock: createTestClock() });
    await world.records.put(makeRow());

    for (const row of world.inspect.records(SUBMISSION_ID)) row.attempts = 99;

    expect(world.inspect.records(SUBMISSION_ID)).toEqual([makeRow()]);
  });
});

describe('a queue in memory', () => {
  test('delivers in order, and in any order where it has a source of chance', async () => {
    const clock = createTestClock();
    const bodies = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const received = async (world: ReturnType<typeof createMemoryWorld>): Promise<string[]> => {
      await world.queues.live.small.send(bodies.map(message));
      return (await world.queues.live.small.receive(10, 1000)).map(({ body }) => body);
    };

    expect(await received(createMemoryWorld({ clock }))).toEqual(bodies);
    const shuffled = await received(createMemoryWorld({ clock, random: seededRandom(7) }));
    expect(shuffled).not.toEqual(bodies);
    expect(shuffled.toSorted()).toEqual(bodies);
    expect(await received(createMemoryWorld({ clock, random: seededRandom(7) }))).toEqual(shuffled);
  });

  test('can deliver a message twice, give messages back, be purged, and say when the next one is due', async () => {
    const clock = createTestClock();
    const { small } = createMemoryWorld({ clock }).queues.live;
    await small.send([{ ...message('later'), delayMs: 1200 }]);
    expect(small.nextVisibleAtMs()).toBe(START_MS + 2000);

    await clock.advance(2000);
    const first = await small.receive(10, 60_000);
    small.duplicate(first[0]?.messageId ?? '');
    expect((await small.receive(10, 60_000)).map(({ body }) => body)).toEqual(['later']);

    small.giveBack(first);
    expect((await small.receive(10, 60_000)).map(({ receiveCount }) => receiveCount)).toEqual([2]);

    small.purge();
    expect(small.messages()).toEqual([]);
    expect(small.nextVisibleAtMs()).toBeUndefined();
  });
});

describe('the clock of tests', () => {
  test('wakes sleepers in the order of their times, each at its own time', async () => {
    const clock = createTestClock();
    const woken: [string, number][] = [];
    const sleep = async (name: string, ms: number): Promise<void> => {
      await clock.sleep(ms);
      woken.push([name, clock.now() - START_MS]);
    };
    const late = sleep('late', 300);
    const early = sleep('early', 100).then(async () => sleep('again', 100));

    await clock.advance(250);
    expect(woken).toEqual([
      ['early', 100],
      ['again', 200],
    ]);
    expect(clock.sleeping()).toBe(1);

    await clock.advance(50);
    await Promise.all([late, early]);
    expect(woken.at(-1)).toEqual(['late', 300]);
  });

  test('can move by itself', async () => {
    const clock = createTestClock({ autoAdvance: true });

    await clock.sleep(5000);

    expect(clock.now()).toBe(START_MS + 5000);
  });
});
