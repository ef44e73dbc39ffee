import { DependencyUnavailableError } from '../../../lambdas/domain/errors.ts';
import { parseFanOutMessage } from '../../../lambdas/domain/queues/messages.ts';
import type { Delivery } from '../../../lambdas/domain/queues/ports.ts';
import { eachDelivery, type DeliveryDeps } from '../../../lambdas/domain/submissions/deliveries.ts';
import type { Telemetry } from '../../../lambdas/domain/telemetry.ts';
import { makeDelivery } from '../../support/factories.ts';
import { createMemoryWorld, createTestClock, seededRandom } from '../../support/memory/index.ts';
import type { MemoryQueue } from '../../support/memory/queue.ts';

const depsOf = (queue: MemoryQueue, telemetry: Telemetry): DeliveryDeps => ({
  queue,
  acknowledger: queue,
  telemetry,
  random: seededRandom(1),
});

const VISIBILITY_MS = 1_800_000;
const never = new Promise<never>(() => undefined);
const tenantsIn = (bodies: readonly string[]): string[] =>
  bodies.map((body) => body.replaceAll(/.*"tenantId":"|".*/g, ''));
const message = (tenantId: string) => ({ body: JSON.stringify({ submissionId: 'sub_1', tenantId }), group: tenantId });

/** A queue that holds a message of each tenant, and its dead-letter queue. */
async function queueOf(tenants: readonly string[]) {
  const clock = createTestClock();
  const { queues, telemetry } = createMemoryWorld({ clock });
  const queue = queues.live.fanOut;
  await queue.send(tenants.map(message));
  const deps = depsOf(queue, telemetry);
  /** One invocation as its event source makes it. It dies as soon as a delivery of `poison` is worked, when all others beside it are. */
  const invoke = async (deliveries: readonly Delivery[], poison?: string): Promise<string[]> => {
    const started: string[] = [];
    let die: () => void = () => undefined;
    const died = new Promise<'died'>((resolve) => (die = () => resolve('died')));
    const ended = eachDelivery(deps, deliveries, async (body) => {
      started.push(...tenantsIn([body]));
      if (tenantsIn([body])[0] !== poison) return;
      die();
      await never;
    });
    const failed = await Promise.race([ended, died]);
    if (failed !== 'died') await queue.acknowledge(deliveries.filter(({ messageId }) => !failed.includes(messageId)));
    return started;
  };
  const receive = async (): Promise<Delivery[]> => queue.receive(10, VISIBILITY_MS);
  const left = (): string[] => tenantsIn(queue.messages().map(({ body }) => body));
  return { clock, queue, deps, invoke, receive, left, deadLetters: queues.deadLetters.fanOut };
}

describe('the deliveries of an invocation', () => {
  it('are worked side by side: a small file does not wait for a large one', async () => {
    const { deps, receive } = await queueOf(['large', 'small']);
    const done: string[] = [];
    let endLarge: () => void = () => undefined;
    const large = new Promise<void>((resolve) => (endLarge = resolve));

    const ended = eachDelivery(deps, await receive(), async (body) => {
      if (body.includes('large')) await large;
      done.push(...tenantsIn([body]));
      if (body.includes('small')) endLarge();
    });

    expect(await ended).toEqual([]);
    expect(done).toEqual(['small', 'large']);
  });

  it('that were received before run one in an invocation, when the others are acknowledged', async () => {
    const { clock, queue, invoke, receive, left } = await queueOf(['poison', 'a', 'b']);
    await invoke(await receive(), 'poison');
    await clock.advance(VISIBILITY_MS);
    await queue.send([message('new')]);

    const started = await invoke(await receive(), 'poison');

    expect(started).toEqual(['new', 'poison']);
    expect(left().toSorted()).toEqual(['a', 'b', 'poison']);
    expect(queue.messages().filter(({ receiveCount }) => receiveCount === 0)).toMatchObject([
      { attributes: { isolated: 'true' } },
      { attributes: { isolated: 'true' } },
    ]);
  });

  it('beside one that ends every invocation are worked, and only that one is dead-lettered', async () => {
    const innocent = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
    const { clock, queue, invoke, receive, left, deadLetters } = await queueOf([...innocent, 'poison']);
    const worked = new Set<string>();

    for (let invocation = 0; invocation < 60 && left().length > 0; invocation++) {
      await clock.advance(Math.max((queue.nextVisibleAtMs() ?? 0) - clock.now(), 0));
      const deliveries = await receive();
      // The first time the slices of all have begun, and none has ended.
      const started = await invoke(deliveries, 'poison');
      if (invocation > 0) for (const tenant of started) worked.add(tenant);
    }

    expect(left()).toEqual([]);
    expect([...worked].toSorted()).toEqual([...innocent, 'poison']);
    expect(tenantsIn(deadLetters.messages().map(({ body }) => body))).toEqual(['poison']);
  });

  it('on their last receive never run behind others, which could crash the invocation', async () => {
    const { invoke, left } = await queueOf([]);
    const last = makeDelivery(message('last').body, { messageId: 'last', receiveCount: 5 });
    const first = makeDelivery(message('first').body, { messageId: 'first' });

    expect(await invoke([last, first])).toEqual(['first']);
    expect(left()).toEqual(['last']);
    expect(await invoke([last])).toEqual(['last']);
  });

  it('are delivered again when they cannot be sent again, or when their work failed', async () => {
    const { deps } = await queueOf([]);
    const queue = { send: async () => [{ index: 0, senderFault: false, code: 'Throttled' }] };
    const deliveries = ['alone', 'unsent', 'sent'].map((messageId) =>
      makeDelivery('{}', { messageId, receiveCount: 2 }),
    );
    const failed = await eachDelivery({ ...deps, queue }, deliveries, async () => Promise.reject(new TypeError('x')));
    expect(failed).toEqual(['unsent', 'alone']);
  });
});

describe('a failure', () => {
  it('of one delivery leaves the others alone, and is reported', async () => {
    const { telemetry, queues } = createMemoryWorld({ clock: createTestClock() });
    const deliveries = ['a', 'b', 'c'].map((messageId) => makeDelivery(messageId, { messageId }));
    const worked: string[] = [];
    const error = new TypeError('x');

    const failed = await eachDelivery(depsOf(queues.live.fanOut, telemetry), deliveries, async (body) => {
      if (body === 'b') throw error;
      worked.push(body);
    });

    expect(failed).toEqual(['b']);
    expect(worked).toEqual(['a', 'c']);
    expect(telemetry.named('unexpected_error')).toMatchObject([{ level: 'error', error }]);
  });

  it('at a call to AWS is reported as what passes, and not as a defect', async () => {
    const { telemetry, queues } = createMemoryWorld({ clock: createTestClock() });
    const deliveries = [makeDelivery('a', { messageId: 'a' })];
    const error = new DependencyUnavailableError('Not sent.');

    const failed = await eachDelivery(depsOf(queues.live.fanOut, telemetry), deliveries, async () =>
      Promise.reject(error),
    );

    expect(failed).toEqual(['a']);
    expect(telemetry.named('unexpected_error')).toMatchObject([{ level: 'warn', error }]);
  });

  it('to know the version of a message hands it back, without an error and without a receive', async () => {
    const { telemetry, queues } = createMemoryWorld({ clock: createTestClock() });
    const body = JSON.stringify({ v: 2, submissionId: 'sub_1', tenantId: 'acme' });

    const failed = await eachDelivery(depsOf(queues.live.fanOut, telemetry), [makeDelivery(body)], async (read) => {
      parseFanOutMessage(read);
    });

    expect(failed).toEqual([]);
    expect(queues.live.fanOut.messages()).toMatchObject([{ body, receiveCount: 0 }]);
    expect(telemetry.named('message_handed_back')).toMatchObject([{ submissionId: 'sub_1', level: 'warn' }]);
    expect(telemetry.named('unexpected_error')).toEqual([]);
  });
});
