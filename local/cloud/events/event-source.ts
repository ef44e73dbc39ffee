import { setTimeout as sleep } from 'node:timers/promises';
import type { FunctionInvoker, InvokeResult } from '../contract.ts';
import { eventOf, finishedMessages, splitByBytes } from './batch.ts';
import type { SqsMapping } from './mapping.ts';
import type { Message, SourceQueue } from './queue.ts';

const LONG_POLL_SECONDS = 20;
const RECEIVE_MAX = 10;
const DELETE_TRIES = 3;
const FIRST_BACKOFF_MS = 200;
const MAX_BACKOFF_MS = 10_000;

export interface EventSourceOptions {
  readonly mapping: SqsMapping;
  readonly queue: SourceQueue;
  readonly invoker: FunctionInvoker;
  readonly region: string;
  /** Invocations at the same time: the mapping's limit, or what this machine can run where that is less. */
  readonly concurrency: number;
  /** ARN that the invocations are made by. */
  readonly principal: string;
  /** Told about what went wrong with the queue itself. */
  readonly onTrouble: (message: string) => void;
}

/**
 * Polls one queue and invokes one function with batches, as Lambda's event source mappings do. It receives only while there
 * is a free place to run the batch, so that waiting messages wait in the queue and keep their visibility.
 */
export class EventSource {
  readonly mapping: SqsMapping;
  readonly #options: EventSourceOptions;
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #paused: boolean;
  #wake: () => void = () => undefined;
  #loop: Promise<void> = Promise.resolve();
  #failuresInARow = 0;
  #visibilityMs: number | undefined;

  constructor(options: EventSourceOptions) {
    this.#options = options;
    this.mapping = options.mapping;
    this.#paused = !options.mapping.enabled;
  }

  /** Batches that are being worked on. */
  get inFlight(): number {
    return this.#running.size;
  }

  start(): void {
    this.#loop = this.#poll();
  }

  /** Stops taking messages, after the poll that is under way. What is being worked on goes on. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#wake();
  }

  /** Ends polling, and waits for what is being worked on. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#options.queue.close();
    this.#wake();
    await this.#loop;
    await Promise.all(this.#running);
  }

  async #poll(): Promise<void> {
    while (await this.#mayReceive()) {
      try {
        // The service reads the queue's attributes before it polls, with the function's own permissions.
        this.#visibilityMs ??= await this.#options.queue.visibilityTimeoutMs();
        const messages = await this.#collect();
        this.#failuresInARow = 0;
        for (const batch of splitByBytes(messages)) {
          // Batches that had to be cut may be more than there are places; they are here now, so they run.
          const run: Promise<void> = this.#process(batch).finally(() => {
            this.#running.delete(run);
            this.#wake();
          });
          this.#running.add(run);
        }
      } catch (error) {
        await this.#backOff(error);
      }
    }
  }

  /** Waits for a free place; false when the event source was stopped. */
  async #mayReceive(): Promise<boolean> {
    while (!this.#stop.signal.aborted && (this.#paused || this.#running.size >= this.#options.concurrency)) {
      await new Promise<void>((wake) => (this.#wake = wake));
    }
    return !this.#stop.signal.aborted;
  }

  /**
   * Receives until the batch is full or its window is over. Polls wait whole seconds, so a window may be up to one longer.
   */
  async #collect(): Promise<readonly Message[]> {
    const { queue, mapping } = this.#options;
    const first = Math.min(RECEIVE_MAX, mapping.batchSize);
    const messages = [...(await queue.receive(first, LONG_POLL_SECONDS))];
    const untilMs = performance.now() + mapping.windowMs;
    while (messages.length > 0 && messages.length < mapping.batchSize && !this.#stop.signal.aborted) {
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0) break;
      const waitSeconds = Math.min(LONG_POLL_SECONDS, Math.ceil(leftMs / 1000));
      const max = Math.min(RECEIVE_MAX, mapping.batchSize - messages.length);
      messages.push(...(await queue.receive(max, waitSeconds)));
    }
    return messages;
  }

  async #process(batch: readonly Message[]): Promise<void> {
    const { mapping, region } = this.#options;
    try {
      const result = await this.#invoke(eventOf(batch, mapping, region));
      if (result === undefined) return;
      const receipts = finishedMessages(batch, result, mapping).flatMap(({ ReceiptHandle }) => ReceiptHandle ?? []);
      for (let start = 0; start < receipts.length; start += RECEIVE_MAX) {
        await this.#delete(receipts.slice(start, start + RECEIVE_MAX));
      }
    } catch (error) {
      this.#report(error);
    }
  }

  /** Repeats while the function is throttled, for as long as the messages stay hidden; undefined when that was too long. */
  async #invoke(payload: string): Promise<InvokeResult | undefined> {
    const { invoker, mapping, principal } = this.#options;
    const { functionName } = mapping;
    const giveUpAtMs = performance.now() + (this.#visibilityMs ?? 0);
    for (let backoffMs = FIRST_BACKOFF_MS; ; backoffMs = Math.min(MAX_BACKOFF_MS, backoffMs * 2)) {
      const result = await invoker.invoke({
        functionName,
        payload,
        invocationType: 'RequestResponse',
        principal,
        logType: 'None',
      });
      if (result.statusCode !== 429) return result;
      if (performance.now() + backoffMs > giveUpAtMs || !(await this.#wait(backoffMs))) return undefined;
    }
  }

  async #delete(receipts: readonly string[]): Promise<void> {
    let left = receipts;
    for (let tries = 1; left.length > 0; tries++) {
      try {
        left = await this.#options.queue.delete(left);
        if (left.length === 0) return;
        if (tries >= DELETE_TRIES) return this.#report(`${left.length} messages could not be deleted`);
      } catch (error) {
        if (tries >= DELETE_TRIES) throw error;
      }
      if (!(await this.#wait(FIRST_BACKOFF_MS * 2 ** tries))) return;
    }
  }

  async #backOff(error: unknown): Promise<void> {
    if (this.#stop.signal.aborted) return;
    if (this.#failuresInARow === 0) this.#report(error);
    await this.#wait(Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** this.#failuresInARow++));
  }

  /** False when the event source was stopped meanwhile. */
  async #wait(ms: number): Promise<boolean> {
    await sleep(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    return !this.#stop.signal.aborted;
  }

  #report(problem: unknown): void {
    if (this.#stop.signal.aborted) return;
    const { onTrouble, mapping } = this.#options;
    onTrouble(`Event source ${mapping.queueArn}: ${problem instanceof Error ? problem.message : String(problem)}`);
  }
}
