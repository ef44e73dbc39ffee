import { expect, test } from '@jest/globals';
import { encodeBody } from '../../lambdas/domain/queues/messages.ts';
import type { Delivery } from '../../lambdas/domain/queues/ports.ts';
import { until, type Make, type QueueWorld } from './world.ts';

const message = (text: string) => ({ body: encodeBody({ text }), group: 'acme' });
const textsOf = (deliveries: readonly Delivery[]): string[] =>
  deliveries.map(({ body }) => (JSON.parse(body) as { text: string }).text).toSorted();

async function receiveAll({ queue }: QueueWorld, count: number): Promise<Delivery[]> {
  const all: Delivery[] = [];
  for (let polls = 0; all.length < count && polls < count + 5; polls++) all.push(...(await queue.receive(10, 60_000)));
  return all;
}

/** A standard queue as Sluice uses it. */
export function describeQueue(make: Make<QueueWorld>): void {
  test('more messages than fit into one request all arrive, each once', async () => {
    const world = await make();
    const texts = Array.from({ length: 25 }, (_, index) => `text ${String(index).padStart(2, '0')}`);

    expect(await world.queue.send(texts.map(message))).toEqual([]);

    expect(textsOf(await receiveAll(world, 25))).toEqual(texts);
  });

  test('a message that no queue takes is reported, its neighbours arrive', async () => {
    const world = await make();

    const failures = await world.queue.send([message('a'), message('x'.repeat(1_048_576)), message('c')]);

    expect(failures).toEqual([{ index: 1, senderFault: true, code: 'MessageTooLong' }]);
    expect(textsOf(await receiveAll(world, 2))).toEqual(['a', 'c']);
  });

  test('a delivery tells what was sent, and how often it was received', async () => {
    const { queue } = await make();
    const sent = { ...message('Grüße 👋'), attributes: { reason: 'worker_crashed', record: '7' } };
    await queue.send([sent]);

    const [delivery] = await queue.receive(1, 60_000);

    expect(delivery).toMatchObject({ body: sent.body, receiveCount: 1, attributes: sent.attributes });
    expect(delivery?.sentAtMs).toBeGreaterThan(1_700_000_000_000);
  });

  test('a received message is hidden, and what is acknowledged never comes back', async () => {
    const world = await make();
    await world.queue.send([message('kept'), message('done')]);
    const deliveries = await receiveAll(world, 2);
    expect(await world.queue.receive(10, 60_000)).toEqual([]);

    // In flight, and counted all the same.
    expect(await world.queue.depth()).toBe(2);
    const done = deliveries.filter(({ body }) => body === message('done').body);
    expect(await world.queue.acknowledge(done)).toEqual([]);
    expect(await world.queue.acknowledge(done)).toEqual([]);

    expect(await world.queue.depth()).toBe(1);
  });

  test('what is not acknowledged comes again with a higher receive count, and ends in the dead-letter queue', async () => {
    const world = await make();
    await world.queue.send([{ ...message('poison'), attributes: { reason: 'none' } }]);
    const counts: number[] = [];
    const dead: Delivery[] = [];

    await until(world, async () => {
      counts.push(...(await world.queue.receive(1, 1000)).map(({ receiveCount }) => receiveCount));
      dead.push(...(await world.deadLetters.receive(1, 60_000)));
      return dead.length > 0;
    });

    expect(counts).toEqual([1, 2]);
    expect(dead).toMatchObject([{ body: message('poison').body, attributes: { reason: 'none' } }]);
  });

  test('what is released can be received again at once', async () => {
    const world = await make();
    await world.queue.send([message('kept'), message('released')]);
    const deliveries = await receiveAll(world, 2);

    await world.queue.release(deliveries.filter(({ body }) => body === message('released').body));

    const again: Delivery[] = [];
    await until(world, async () => {
      again.push(...(await world.queue.receive(10, 60_000)));
      return again.length > 0;
    });
    expect(textsOf(again)).toEqual(['released']);
  });

  test('a delayed message is not visible before its time', async () => {
    const world = await make();

    await world.queue.send([{ ...message('later'), delayMs: 1500 }]);

    expect(await world.queue.receive(10, 60_000)).toEqual([]);
    const received: Delivery[] = [];
    await until(world, async () => {
      received.push(...(await world.queue.receive(10, 60_000)));
      return received.length > 0;
    });
    expect(textsOf(received)).toEqual(['later']);
  });
}
