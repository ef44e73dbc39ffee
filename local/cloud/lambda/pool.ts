import { Environment, type Ending } from './environment.ts';
import { LineSplitter, type LogStore } from './logs.ts';
import type { FunctionSpec } from './spec.ts';

/** Environments that were idle for so long are ended, as the service does after some minutes. */
const IDLE_MS = 300_000;
const WATCH_INTERVAL_MS = 100;

export interface PoolOptions {
  readonly spec: FunctionSpec;
  readonly runtimeFile: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly logs: LogStore;
  /**
   * Environments that this machine runs of the function at most. The service would start more; here what is above
   * waits in line, before its timeout begins.
   */
  readonly maxEnvironments: number;
}

/** One invocation that was run to its end. */
export interface Run {
  readonly ending: Ending;
  readonly durationMs: number;
  /** Undefined when the environment was already there. */
  readonly initMs: number | undefined;
  /** What the module threw while it was imported: the function cannot start. */
  readonly initError: string | undefined;
  readonly peakBytes: number;
  readonly logStream: string;
  readonly lines: readonly string[];
}

interface Member {
  readonly environment: Environment;
  readonly splitter: LineSplitter;
  requestId: string | undefined;
  lines: string[];
  idleSinceMs: number;
}

/** The execution environments of one function. */
export class EnvironmentPool {
  /** Set when the function's role may not write its log: then nothing of it is kept, as in the account. */
  muted = false;
  readonly #options: PoolOptions;
  readonly #members = new Set<Member>();
  readonly #line: (() => void)[] = [];
  readonly #watch: NodeJS.Timeout;
  #taken = 0;
  #closed = false;
  #retired = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#watch = setInterval(() => this.#look(), WATCH_INTERVAL_MS);
    this.#watch.unref();
  }

  get environments(): number {
    return this.#members.size;
  }

  /** Runs one invocation: in an idle environment, in a new one, or, when there are as many as may be, in its turn. */
  async run(requestId: string, payload: string): Promise<Run> {
    await this.#takePlace();
    try {
      const { member, initMs, failed } = await this.#obtain(requestId);
      if (failed === undefined) return await this.#invoke(member, initMs, requestId, payload);
      member.environment.kill();
      const initError = failed.kind === 'failed' ? failed.error.errorMessage : undefined;
      return { ...this.#end(member, failed, 0, initMs), initError };
    } finally {
      // A place that somebody waits for is handed over, not given back.
      const next = this.#line.shift();
      if (next === undefined) this.#taken--;
      else next();
    }
  }

  /** Another version takes its place: what runs or waits is done here, and environments end as soon as they are idle. */
  retire(): void {
    this.#retired = true;
  }

  /** Kills every environment, busy or not. Answers how many there were, and how many of them were working. */
  kill(): { killed: number; busy: number } {
    const members = [...this.#members].filter(({ environment }) => environment.isUsable);
    const busy = members.filter(({ environment }) => environment.isBusy).length;
    for (const { environment } of members) environment.kill();
    return { killed: members.length, busy };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watch);
    await Promise.all([...this.#members].map(({ environment }) => environment.close()));
  }

  async #takePlace(): Promise<void> {
    if (this.#taken < this.#options.maxEnvironments) this.#taken++;
    else await new Promise<void>((turn) => this.#line.push(turn));
  }

  async #obtain(requestId: string): Promise<{ member: Member; initMs: number | undefined; failed?: Ending }> {
    const idle = this.#idle();
    if (idle !== undefined) {
      idle.requestId = requestId;
      return { member: idle, initMs: undefined };
    }
    const member = this.#start();
    const ending = await member.environment.ready;
    const { initMs } = member.environment;
    return ending.kind === 'succeeded' ? { member, initMs } : { member, initMs, failed: ending };
  }

  /** The idle environment that worked last, so that those which are not needed grow old. */
  #idle(): Member | undefined {
    let found: Member | undefined;
    for (const member of this.#members) {
      if (!member.environment.isUsable) this.#members.delete(member);
      else if (member.requestId === undefined && member.idleSinceMs >= (found?.idleSinceMs ?? 0)) found = member;
    }
    return found;
  }

  #start(): Member {
    const splitter = new LineSplitter();
    const { spec, runtimeFile, variables } = this.#options;
    const onOutput = (text: string): void => this.#write(member, splitter.push(text));
    const environment = new Environment({ spec, runtimeFile, variables, onOutput });
    const member: Member = { environment, splitter, requestId: '', lines: [], idleSinceMs: 0 };
    this.#members.add(member);
    if (this.#closed) environment.kill();
    return member;
  }

  async #invoke(member: Member, initMs: number | undefined, requestId: string, payload: string): Promise<Run> {
    member.requestId = requestId;
    this.#write(member, [`START RequestId: ${requestId} Version: $LATEST`]);
    const startedAt = performance.now();
    const ending = await member.environment.invoke(requestId, payload);
    return this.#end(member, ending, performance.now() - startedAt, initMs);
  }

  #end(member: Member, ending: Ending, durationMs: number, initMs: number | undefined): Run {
    const { environment, splitter } = member;
    const requestId = member.requestId ?? '';
    this.#write(member, splitter.flush());
    const explanation = explain(ending, requestId, this.#options.spec.timeoutMs);
    if (explanation !== undefined) this.#write(member, [explanation]);
    const run = { ending, durationMs, initMs, peakBytes: environment.peakBytes, logStream: environment.logStream };
    this.#write(member, [`END RequestId: ${requestId}`, reportLine(requestId, run, this.#options.spec)]);
    const { lines } = member;
    Object.assign(member, { requestId: undefined, lines: [], idleSinceMs: performance.now() });
    if (!environment.isUsable) this.#members.delete(member);
    return { ...run, initError: undefined, lines };
  }

  #write(member: Member, lines: readonly string[]): void {
    const { logs, spec } = this.#options;
    const { logStream } = member.environment;
    for (const text of lines) {
      member.lines.push(text);
      if (this.muted) continue;
      logs.append({
        atMs: Date.now(),
        source: spec.name,
        logStream,
        requestId: member.requestId || undefined,
        text,
      });
    }
  }

  #look(): void {
    const nowMs = performance.now();
    for (const member of this.#members) {
      const idle = member.requestId === undefined;
      if (idle && (this.#retired || nowMs - member.idleSinceMs > IDLE_MS)) {
        this.#members.delete(member);
        member.environment.kill();
      } else if (!idle) member.environment.watchMemory();
    }
  }
}

/** The line that the service itself adds when an invocation did not end well; undefined when it says nothing. */
function explain(ending: Ending, requestId: string, timeoutMs: number): string | undefined {
  if (ending.kind === 'timed_out') {
    const seconds = (timeoutMs / 1000).toFixed(2);
    return `${new Date().toISOString()} ${requestId} Task timed out after ${seconds} seconds`;
  }
  return ending.kind === 'exited'
    ? `RequestId: ${requestId} Error: Runtime exited with error: ${ending.reason}`
    : undefined;
}

/** Milliseconds that are billed: initialization included, rounded up (https://aws.amazon.com/lambda/pricing/). */
export const billedMs = (run: Pick<Run, 'durationMs' | 'initMs'>): number =>
  Math.ceil(run.durationMs + (run.initMs ?? 0));

function reportLine(requestId: string, run: Omit<Run, 'lines' | 'initError'>, spec: FunctionSpec): string {
  const parts = [
    `REPORT RequestId: ${requestId}`,
    `Duration: ${run.durationMs.toFixed(2)} ms`,
    `Billed Duration: ${billedMs(run)} ms`,
    `Memory Size: ${spec.memoryMb} MB`,
    `Max Memory Used: ${Math.ceil(run.peakBytes / 1024 / 1024)} MB`,
  ];
  if (run.initMs !== undefined) parts.push(`Init Duration: ${run.initMs.toFixed(2)} ms`);
  return parts.join('\t');
}
