import { buildApp } from 'fauxqs';
import type { QueueDepth } from '../../contract.ts';
import { FairBacklog, InFlightByGroup } from './fair-backlog.ts';
import { type EmulatedQueue, loadInternals } from './fauxqs-internals.ts';
import { serveCommands } from './protocol.ts';

/** Objects larger than this are refused; everything lives in memory. */
const MAX_BODY_BYTES = 2 ** 30;

/** Carries a message's group past code that knows groups only on FIFO queues; not enumerable, so it has no size. */
const GROUP = Symbol('MessageGroupId');

const { SqsStore, SnsStore, S3Store } = await loadInternals();
const sqsStore = new SqsStore();
const snsStore = new SnsStore();
const s3Store = new S3Store();

const createMessage = SqsStore.createMessage.bind(SqsStore);
SqsStore.createMessage = (body, attributes, delaySeconds, ...rest) => {
  const message = createMessage(body, attributes, delaySeconds, ...rest);
  const group: unknown = attributes === undefined ? undefined : Reflect.get(attributes, GROUP);
  if (typeof group === 'string') message.messageGroupId = group;
  return message;
};

const app = buildApp({
  logger: false,
  stores: { sqsStore, snsStore, s3Store } as NonNullable<NonNullable<Parameters<typeof buildApp>[0]>['stores']>,
});

// The emulator's own parsers limit bodies to 11 MiB.
app.removeContentTypeParser(['application/x-amz-json-1.0', '*']);
app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES }, (_request, body, done) => {
  done(null, body);
});
app.addContentTypeParser('application/x-amz-json-1.0', { parseAs: 'string' }, (_request, body, done) => {
  const input: unknown = JSON.parse(body.toString());
  keepGroups(input);
  done(null, input);
});

/** Puts the group of each message that is sent where `createMessage` finds it. */
function keepGroups(input: unknown): void {
  if (typeof input !== 'object' || input === null) return;
  const entries: unknown = Reflect.get(input, 'Entries') ?? [input];
  if (!Array.isArray(entries)) return;
  for (const entry of entries as unknown[]) {
    if (typeof entry !== 'object' || entry === null) continue;
    const group: unknown = Reflect.get(entry, 'MessageGroupId');
    if (typeof group !== 'string') continue;
    const attributes: unknown = Reflect.get(entry, 'MessageAttributes') ?? {};
    if (typeof attributes !== 'object' || attributes === null) continue;
    Object.defineProperty(attributes, GROUP, { value: group, enumerable: false });
    Reflect.set(entry, 'MessageAttributes', attributes);
  }
}

/** When messages came into the queue that they are in. */
const arrivals = new WeakMap<object, number>();

function noteArrivals(queue: EmulatedQueue): void {
  const enqueue = queue.enqueue.bind(queue);
  queue.enqueue = (message) => {
    arrivals.set(message, Date.now());
    enqueue(message);
  };
}

/** Gives a queue fair ordering: see `FairBacklog`. Purging assigns an empty array, which empties the backlog. */
function makeFair(queue: EmulatedQueue): void {
  const inFlight = new InFlightByGroup();
  let backlog = new FairBacklog(inFlight);
  queue.inflightMessages = inFlight;
  Object.defineProperty(queue, 'messages', {
    get: () => backlog,
    set: () => {
      backlog = new FairBacklog(inFlight);
    },
  });
}

function queueDepth(name: string): QueueDepth | undefined {
  const queue = sqsStore.getQueueByName(name);
  if (queue === undefined) return undefined;
  queue.processTimers();
  const inFlight = [...queue.inflightMessages.values()].map(({ message }) => message);
  let oldest = Infinity;
  for (const messages of [queue.messages, queue.delayedMessages, inFlight]) {
    for (const message of messages) oldest = Math.min(oldest, arrivals.get(message) ?? Infinity);
  }
  return {
    visible: queue.messages.length,
    inFlight: inFlight.length,
    delayed: queue.delayedMessages.length,
    oldestArrivalTimestamp: oldest === Infinity ? undefined : oldest,
  };
}

// S3 lists keys by their bytes. The emulator sorts by locale but pages by code unit, and would skip keys between pages.
Reflect.set(String.prototype, 'localeCompare', function byCodeUnit(this: string, that: string): number {
  return this < that ? -1 : this > that ? 1 : 0;
});

await app.listen({ port: 0, host: '127.0.0.1' });
// The front keeps its connections open; one that is closed just as a request is sent would fail it.
app.server.keepAliveTimeout = 0;
const address = app.server.address();

serveCommands(typeof address === 'object' && address !== null ? address.port : 0, {
  createQueue: ({ name, url, arn, attributes }) => {
    const queue = sqsStore.createQueue(name, url, arn, attributes);
    makeFair(queue);
    noteArrivals(queue);
  },
  createTopic: ({ name, arn, attributes }) => {
    snsStore.topics.set(arn, { arn, name, attributes, tags: new Map(), subscriptionArns: [] });
  },
  subscribe: ({ topicArn, protocol, endpoint, attributes }) => {
    snsStore.subscribe(topicArn, protocol, endpoint, attributes);
  },
  createBucket: ({ name }) => s3Store.createBucket(name),
  queueDepth: ({ name }) => queueDepth(name),
});
