import { afterEach, describe, expect, test } from '@jest/globals';
import type { FunctionInvoker, InvokeResult } from '../../contract.ts';
import { EventSource } from '../../events/event-source.ts';
import { readMapping, type SqsMapping } from '../../events/mapping.ts';
import type { Message, SourceQueue } from '../../events/queue.ts';
import { resource } from '../support/functions.ts';

/** A queue in memory: receiving hides, and the test decides what comes back. */
class TestQueue implements SourceQueue {
  readonly waiting: Message[] = [];
  readonly deleted: string[] = [];
  readonly polls: number[] = [];
  /** Answers that replace the queue's own, in order. */
  readonly deleteFailures: string[][] = [];
  receiveError: Error | undefined;
  visibilityMs = 30_000;
  #wake: () => void = () => undefined;
  #closed = false;

  send(...bodies: string[]): void {
    for (const body of bodies) this.waiting.push({ MessageId: body, ReceiptHandle: body, Body: body });
    this.#wake();
  }

  async receive(max: number): Promise<readonly Message[]> {
    this.polls.push(max);
    if (this.receiveError !== undefined) throw this.receiveError;
    if (this.waiting.length === 0) await new Promise<void>((wake) => (this.#wake = wake));
    if (this.#closed) throw new Error('aborted');
    return this.waiting.splice(0, max);
  }

  async delete(receipts: readonly string[]): Promise<string[]> {
    const failed = this.deleteFailures.shift() ?? [];
    this.deleted.push(...receipts.filter((receipt) => !failed.includes(receipt)));
    return failed;
  }

  async visibilityTimeoutMs(): Promise<number> {
    return this.visibilityMs;
  }

  close(): void {
    this.#closed = true;
    this.#wake();
  }
}

/** A function whose invocations end when the test says so. */
class TestInvoker implements FunctionInvoker {
  readonly batches: string[][] = [];
  readonly #ends: ((result: InvokeResult) => void)[] = [];
  #changed: () => void = () => undefined;

  invoke({ payload }: { payload: string }): Promise<InvokeResult> {
    const { Records } = JSON.parse(payload) as { Records: { body: string }[] };
    this.batches.push(Records.map(({ body }) => body));
    return new Promise((end) => {
      this.#ends.push(end);
      this.#changed();
    });
  }

  async running(count: number): Promise<void> {
    while (this.#ends.length < count) await new Promise<void>((changed) => (this.#changed = changed));
  }

  end(result: Partial<InvokeResult> = {}): void {
    this.#ends.shift()?.({ statusCode: 200, payload: 'null', ...result });
  }

  endAll(): void {
    while (this.#ends.length > 0) this.end();
  }
}

const MAPPING: SqsMapping = {
  id: 'mapping',
  functionName: 'worker',
  queueUrl: 'http://127.0.0.1:1/queue',
  queueArn: 'arn:aws:sqs:us-east-1:123456789012:queue',
  enabled: true,
  batchSize: 10,
  windowMs: 0,
  maxConcurrency: 2,
  reportsItemFailures: true,
};

const queue = { current: new TestQueue() };
const invoker = { current: new TestInvoker() };
const troubles: string[] = [];
let source: EventSource;

function start(mapping: Partial<SqsMapping> = {}, concurrency = 2): { queue: TestQueue; invoker: TestInvoker } {
  queue.current = new TestQueue();
  invoker.current = new TestInvoker();
  troubles.length = 0;
  source = new EventSource({
    mapping: { ...MAPPING, ...mapping },
    queue: queue.current,
    invoker: invoker.current,
    region: 'us-east-1',
    concurrency,
    principal: 'arn',
    onTrouble: (text) => troubles.push(text),
  });
  source.start();
  return { queue: queue.current, invoker: invoker.current };
}

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((done) => setImmediate(done));
};

afterEach(async () => {
  const stopped = source.stop();
  invoker.current.endAll();
  await stopped;
});

describe('an event source', () => {
  test('hands over batches and deletes what the function finished', async () => {
    const { queue, invoker } = start();
    queue.send('a', 'b', 'c');
    await invoker.running(1);
    expect(invoker.batches).toEqual([['a', 'b', 'c']]);
    invoker.end({ payload: '{"batchItemFailures":[{"itemIdentifier":"b"}]}' });
    await until(() => queue.deleted.length === 2);
    expect(queue.deleted).toEqual(['a', 'c']);
  });

  test('deletes nothing of a batch whose function failed', async () => {
    const { queue, invoker } = start();
    queue.send('a');
    await invoker.running(1);
    invoker.end({ functionError: 'Unhandled', payload: '{}' });
    queue.send('b');
    await invoker.running(1);
    invoker.end();
    await until(() => queue.deleted.length > 0);
    expect(queue.deleted).toEqual(['b']);
  });

  test('leaves messages in the queue while it may not run more batches', async () => {
    const { queue, invoker } = start({ batchSize: 2 }, 2);
    queue.send('1', '2', '3', '4', '5');
    await invoker.running(2);
    expect(invoker.batches).toEqual([
      ['1', '2'],
      ['3', '4'],
    ]);
    expect(queue.waiting.map(({ Body }) => Body)).toEqual(['5']);
    expect(queue.polls).toEqual([2, 2]);
    invoker.end();
    await until(() => invoker.batches.length === 3);
    expect(invoker.batches[2]).toEqual(['5']);
  });

  test('fills a batch over several receives within its window', async () => {
    const { queue, invoker } = start({ batchSize: 25, windowMs: 60_000 });
    queue.send(...Array.from({ length: 25 }, (_, index) => `m${index}`));
    await invoker.running(1);
    expect(invoker.batches[0]).toHaveLength(25);
    expect(queue.polls.slice(0, 3)).toEqual([10, 10, 5]);
  });

  test('tries again while the function is throttled', async () => {
    const { queue, invoker } = start();
    queue.send('a');
    await invoker.running(1);
    invoker.end({ statusCode: 429 });
    await invoker.running(1);
    invoker.end();
    await until(() => queue.deleted.length === 1);
    expect(invoker.batches).toEqual([['a'], ['a']]);
  });

  test('gives throttled messages up when they are about to come back by themselves', async () => {
    const { queue, invoker } = start();
    queue.visibilityMs = 0;
    queue.send('a');
    await invoker.running(1);
    invoker.end({ statusCode: 429 });
    await until(() => source.inFlight === 0);
    expect([queue.deleted, invoker.batches]).toEqual([[], [['a']]]);
  });

  test('repeats only the deletions that failed', async () => {
    const { queue, invoker } = start();
    queue.deleteFailures.push(['b']);
    queue.send('a', 'b');
    await invoker.running(1);
    invoker.end();
    await until(() => queue.deleted.length === 2);
    expect(queue.deleted).toEqual(['a', 'b']);
  });

  test('reports trouble with its queue once, and goes on when it is over', async () => {
    const { queue, invoker } = start({ enabled: false });
    queue.receiveError = new Error('AccessDenied');
    source.resume();
    await until(() => queue.polls.length === 2);
    queue.receiveError = undefined;
    queue.send('a');
    await invoker.running(1);
    expect(troubles).toEqual([`Event source ${MAPPING.queueArn}: AccessDenied`]);
  });

  test('that is disabled takes nothing until it is resumed', async () => {
    const { queue, invoker } = start({ enabled: false });
    queue.send('a');
    await new Promise((done) => setImmediate(done));
    expect(queue.polls).toEqual([]);
    source.resume();
    await invoker.running(1);
  });
});

describe('a mapping', () => {
  const queueResource = resource('AWS::SQS::Queue', 'Queue', { arn: 'arn:queue', physicalId: 'http://q' });
  const functionResource = resource('AWS::Lambda::Function', 'Worker', { arn: 'arn:worker' });
  const read = (properties: Record<string, string | number | string[]>): SqsMapping =>
    readMapping(
      resource('AWS::Lambda::EventSourceMapping', 'Mapping', {
        properties: { EventSourceArn: 'arn:queue', FunctionName: 'Worker', ...properties },
      }),
      {
        find: (id) => [queueResource, functionResource].find(({ arn, physicalId }) => arn === id || physicalId === id),
      },
    );

  test('has the defaults of the service', () => {
    expect(read({})).toMatchObject({ batchSize: 10, windowMs: 0, enabled: true, reportsItemFailures: false });
  });

  test.each([
    [{ EventSourceArn: 'arn:stream' }, /arn:stream is not a queue/],
    [{ FunctionName: 'Other' }, /Other is not a function/],
    [{ BatchSize: 100 }, /needs a batching window/],
    [{ FunctionResponseTypes: ['Something'] }, /Test\/Mapping .*FunctionResponseTypes/],
  ])('%j is refused by name', (properties, message) => {
    expect(() => read(properties)).toThrow(message);
  });
});
