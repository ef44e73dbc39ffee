import type { GroupedMessage } from './fair-backlog.ts';

/**
 * The parts of fauxqs behind its public entry that the local cloud builds on: its stores are public classes, but only
 * `buildApp` is exported. Their shape is checked when they are loaded, so another version fails at start and by name.
 */
export interface EmulatedMessage extends GroupedMessage {
  readonly sentTimestamp: number;
}

export interface EmulatedQueue {
  messages: Iterable<EmulatedMessage> & { readonly length: number };
  inflightMessages: Map<string, { message: GroupedMessage }>;
  delayedMessages: readonly EmulatedMessage[];
  processTimers(): void;
  /** Takes a message that is sent, or moved here from another queue; not one that becomes visible again. */
  enqueue(message: EmulatedMessage): void;
  getAttribute(name: string): string | undefined;
}

export interface SqsStore {
  createQueue(name: string, url: string, arn: string, attributes: Record<string, string>): EmulatedQueue;
  getQueueByName(name: string): EmulatedQueue | undefined;
}

export interface SqsStoreClass {
  new (): SqsStore;
  createMessage(body: string, attributes?: object, delaySeconds?: number, groupId?: string): EmulatedMessage;
}

export interface SnsStore {
  readonly topics: Map<string, unknown>;
  subscribe(topicArn: string, protocol: string, endpoint: string, attributes?: Record<string, string>): unknown;
}

export interface S3Store {
  createBucket(name: string): void;
}

export interface FauxqsInternals {
  readonly SqsStore: SqsStoreClass;
  readonly SnsStore: new () => SnsStore;
  readonly S3Store: new () => S3Store;
}

/** @throws Error when fauxqs is built differently from what is expected here */
export async function loadInternals(): Promise<FauxqsInternals> {
  const entry = import.meta.resolve('fauxqs');
  const [sqs, sns, s3] = await Promise.all([
    member(entry, './sqs/sqsStore.js', 'SqsStore'),
    member(entry, './sns/snsStore.js', 'SnsStore'),
    member(entry, './s3/s3Store.js', 'S3Store'),
  ]);
  expectMembers(sqs, ['createMessage'], ['createQueue', 'getQueueByName']);
  expectMembers(sns, [], ['subscribe']);
  expectMembers(s3, [], ['createBucket']);
  return { SqsStore: sqs as SqsStoreClass, SnsStore: sns as new () => SnsStore, S3Store: s3 as new () => S3Store };
}

type Constructor = new () => object;

async function member(entry: string, file: string, name: string): Promise<Constructor> {
  const module: unknown = await import(new URL(file, entry).href);
  const found: unknown = typeof module === 'object' && module !== null ? Reflect.get(module, name) : undefined;
  if (typeof found === 'function') return found as Constructor;
  throw new Error(`This version of fauxqs has no ${name} in ${file}; install the version in package.json.`);
}

function expectMembers(type: Constructor, ofClass: string[], ofInstance: string[]): void {
  const missing = [
    ...ofClass.filter((name) => typeof Reflect.get(type, name) !== 'function'),
    ...ofInstance.filter((name) => typeof Reflect.get(type.prototype, name) !== 'function'),
  ];
  if (missing.length === 0) return;
  throw new Error(`This version of fauxqs has no ${type.name}.${missing[0]}; install the version in package.json.`);
}
