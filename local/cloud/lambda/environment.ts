import { fork, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';
import type { ChildMessage, RuntimeError } from './child/protocol.ts';
import { residentBytesOf } from './resident-memory.ts';
import type { FunctionSpec } from './spec.ts';

/** The service stops an initialization after 10 s; a busy laptop that starts a dozen processes at once needs longer. */
const INIT_TIMEOUT_MS = 60_000;
/** V8 gets nine tenths of the memory for its heap, as in the managed runtime; the rest is for buffers and code. */
const HEAP_SHARE = 0.9;
const MEBIBYTE = 1024 * 1024;

export interface EnvironmentOptions {
  readonly spec: FunctionSpec;
  /** The bundled child program. */
  readonly runtimeFile: string;
  /** Everything the process sees as its environment, credentials included. */
  readonly variables: Readonly<Record<string, string>>;
  /** Called with every piece of output as it comes. */
  readonly onOutput: (text: string) => void;
}

/** How an initialization or an invocation ended. */
export type Ending =
  | { kind: 'succeeded'; payload: string }
  | { kind: 'failed'; error: RuntimeError }
  /** The process is gone: by its own fault, by a limit, or because somebody killed it. */
  | { kind: 'exited'; reason: string }
  | { kind: 'timed_out' };

interface Waiting {
  resolve(ending: Ending): void;
  timer: NodeJS.Timeout;
}

/** One execution environment: a process that runs one invocation at a time until it dies or is no longer needed. */
export class Environment {
  readonly logStream: string;
  readonly ready: Promise<Ending>;
  /** From the fork to the end of the import. */
  initMs = 0;
  /** Most resident memory seen. */
  peakBytes = 0;
  invocations = 0;
  readonly #options: EnvironmentOptions;
  readonly #child: ChildProcess;
  #waiting: Waiting | undefined;
  #held: { ending: Ending; writtenBytes: number } | undefined;
  #receivedBytes = 0;
  #killReason: string | undefined;
  #exited = false;

  constructor(options: EnvironmentOptions) {
    this.#options = options;
    const { spec, variables } = options;
    const day = new Date().toISOString().slice(0, 10).replaceAll('-', '/');
    this.logStream = `${day}/[$LATEST]${randomUUID().replaceAll('-', '')}`;
    const startedAt = performance.now();
    this.#child = fork(options.runtimeFile, [], {
      env: { ...variables, AWS_LAMBDA_LOG_STREAM_NAME: this.logStream },
      execArgv: [`--max-old-space-size=${Math.floor(spec.memoryMb * HEAP_SHARE)}`],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#listen();
    this.ready = this.#wait(INIT_TIMEOUT_MS).then((ending) => {
      this.initMs = performance.now() - startedAt;
      return ending;
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isBusy(): boolean {
    return this.#waiting !== undefined;
  }

  /** False as soon as the process is gone or about to go. */
  get isUsable(): boolean {
    return !this.#exited && this.#killReason === undefined;
  }

  /** Runs one invocation. Only after `ready`, and only one at a time. */
  invoke(requestId: string, payload: string): Promise<Ending> {
    this.invocations++;
    const { timeoutMs, arn } = this.#options.spec;
    const ended = this.#wait(timeoutMs);
    this.#child.send({ type: 'invoke', requestId, payload, deadlineMs: Date.now() + timeoutMs, functionArn: arn });
    return ended;
  }

  /** Looks at the memory, and stops the process when it has more than the function may have. */
  watchMemory(): void {
    if (this.#exited || this.pid === undefined) return;
    const bytes = residentBytesOf(this.pid);
    this.peakBytes = Math.max(this.peakBytes, bytes);
    if (bytes > this.#options.spec.memoryMb * MEBIBYTE) this.kill();
  }

  /** Ends the process at once; what it was doing ends as `exited`. */
  kill(reason = 'signal: killed'): void {
    this.#killReason ??= reason;
    this.#child.kill('SIGKILL');
  }

  /** Ends the process and waits until it is gone. */
  async close(): Promise<void> {
    if (this.#exited) return;
    const gone = new Promise<void>((done) => this.#child.once('exit', () => done()));
    this.kill();
    await gone;
  }

  #wait(timeoutMs: number): Promise<Ending> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#killReason = 'timeout';
        this.#child.kill('SIGKILL');
      }, timeoutMs);
      this.#waiting = { resolve, timer };
    });
  }

  #listen(): void {
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      const decoder = new StringDecoder('utf8');
      stream?.on('data', (chunk: Buffer) => {
        // What V8 writes to standard error when it aborts was counted by nobody.
        if (stream === this.#child.stdout) this.#receivedBytes += chunk.length;
        this.#options.onOutput(decoder.write(chunk));
        this.#settleHeld();
      });
    }
    this.#child.on('message', (message: ChildMessage) => this.#told(message));
    this.#child.on('error', (error) => this.#gone(error.message));
    // `close` comes after the last output, `exit` may come before it.
    this.#child.on('exit', () => (this.#exited = true));
    this.#child.on('close', (code, signal) => this.#gone(signal === null ? `exit status ${code}` : wordFor(signal)));
  }

  #told(message: ChildMessage): void {
    if ('residentBytes' in message) this.peakBytes = Math.max(this.peakBytes, message.residentBytes);
    this.#held = { ending: endingOf(message), writtenBytes: message.writtenBytes };
    if (message.type === 'failed' && message.fatal) this.#killReason ??= 'exit status 129';
    this.#settleHeld();
  }

  /** The answer travels faster than the output: it counts only once everything that was written before it is here. */
  #settleHeld(): void {
    if (this.#held === undefined || this.#receivedBytes < this.#held.writtenBytes) return;
    const { ending } = this.#held;
    this.#held = undefined;
    this.#settle(ending);
  }

  #gone(reason: string): void {
    this.#exited = true;
    if (this.#held !== undefined) return this.#settle(this.#held.ending);
    if (this.#killReason === 'timeout') this.#settle({ kind: 'timed_out' });
    else this.#settle({ kind: 'exited', reason: this.#killReason ?? reason });
  }

  #settle(ending: Ending): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#waiting = undefined;
    clearTimeout(waiting.timer);
    waiting.resolve(ending);
  }
}

function endingOf(message: ChildMessage): Ending {
  if ('error' in message) return { kind: 'failed', error: message.error };
  return { kind: 'succeeded', payload: message.type === 'succeeded' ? message.payload : '' };
}

const SIGNAL_WORDS: Partial<Record<NodeJS.Signals, string>> = { SIGKILL: 'killed', SIGABRT: 'aborted' };

const wordFor = (signal: NodeJS.Signals): string => `signal: ${SIGNAL_WORDS[signal] ?? signal}`;
