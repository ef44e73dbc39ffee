import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import type { Cloud, FunctionInvoker, InvokeRequest, InvokeResult } from '../contract.ts';
import { LocalCloudError } from '../errors.ts';
import { answerOf, MAX_ASYNCHRONOUS_BYTES, MAX_SYNCHRONOUS_BYTES, refusal } from './answer.ts';
import { AsyncInvocations, DEFAULT_ASYNC_POLICY, type AsyncPolicy } from './async-invocations.ts';
import { mayWriteLog } from './log-permission.ts';
import { LogStore } from './logs.ts';
import { billedMs, EnvironmentPool, type Run } from './pool.ts';
import { bundleRuntime } from './runtime-bundle.ts';
import { readFunctionSpec, type FunctionSpec } from './spec.ts';
import { numeric, readProperties } from '../properties.ts';
import { runtimeVariables } from './variables.ts';

/** What the service itself would publish about one invocation. */
export interface InvocationReport {
  readonly functionName: string;
  readonly atMs: number;
  readonly outcome: 'succeeded' | 'failed' | 'throttled';
  readonly durationMs: number;
  readonly billedMs: number;
  readonly initMs: number | undefined;
  /** Why the function could not start; undefined when it did. */
  readonly initError?: string | undefined;
  readonly memoryMb: number;
  readonly peakBytes: number;
}

export interface FunctionsOptions {
  readonly cloud: Pick<Cloud, 'accountId' | 'authorize' | 'awsEndpoint' | 'byType' | 'credentialsFor' | 'region'>;
  /** Where the bundled runtime and the compile cache are kept. */
  readonly cacheDirectory: string;
  /** Values that replace those of the template, for variables that the template declares. */
  readonly overrides?: Readonly<Record<string, string>>;
  /** Environments that this machine runs of one function at most. Default 8. */
  readonly maxEnvironments?: number;
  readonly logs?: LogStore;
  /** Divides the waits between the tries of asynchronous invocations. Default 1. */
  readonly asyncSpeed?: number | undefined;
}

interface LocalFunction {
  spec: FunctionSpec;
  pool: EnvironmentPool;
  readonly asyncPolicy: AsyncPolicy;
  inFlight: number;
  /** Asked once, before the first environment starts. */
  mayLog: Promise<boolean> | undefined;
}

/** Every function of the templates, run from its bundle in forked processes. */
export class LocalFunctions implements FunctionInvoker {
  readonly logs: LogStore;
  readonly #functions: ReadonlyMap<string, LocalFunction>;
  readonly #cloud: FunctionsOptions['cloud'];
  readonly #maxEnvironments: number;
  readonly #poolOf: (spec: FunctionSpec) => EnvironmentPool;
  /** Of versions that were replaced. */
  readonly #retired: EnvironmentPool[] = [];
  readonly #observers = new Set<(report: InvocationReport) => void>();
  readonly #async: AsyncInvocations;

  private constructor(
    functions: ReadonlyMap<string, LocalFunction>,
    logs: LogStore,
    options: FunctionsOptions,
    poolOf: (spec: FunctionSpec) => EnvironmentPool,
  ) {
    this.#functions = functions;
    this.#poolOf = poolOf;
    this.logs = logs;
    this.#cloud = options.cloud;
    this.#maxEnvironments = maxEnvironments(options);
    this.#async = new AsyncInvocations({
      invoke: (functionName, payload) => this.#invokeNow(this.#find(functionName), payload, 'None'),
      policyOf: (functionName) => this.#find(functionName).asyncPolicy,
      onDropped: (functionName, _payload, why) =>
        logs.append({
          atMs: Date.now(),
          source: functionName,
          logStream: 'local',
          requestId: undefined,
          text: `An asynchronous event was dropped: ${why}.`,
        }),
      speed: options.asyncSpeed ?? 1,
    });
  }

  /** @throws LocalCloudError naming a function that cannot run here, and why */
  static async create(options: FunctionsOptions): Promise<LocalFunctions> {
    const runtimeFile = await bundleRuntime(options.cacheDirectory);
    const logs = options.logs ?? new LogStore();
    const poolOf = (spec: FunctionSpec): EnvironmentPool =>
      new EnvironmentPool({
        spec,
        runtimeFile,
        variables: runtimeVariables(spec, { ...options, overrides: {} }),
        logs,
        maxEnvironments: maxEnvironments(options),
      });
    const functions = new Map<string, LocalFunction>();
    for (const resource of options.cloud.byType('AWS::Lambda::Function')) {
      const spec = replaceVariables(readFunctionSpec(resource), options.overrides);
      const asyncPolicy = asyncPolicyOf(spec, options.cloud);
      functions.set(spec.name, { spec, pool: poolOf(spec), asyncPolicy, inFlight: 0, mayLog: undefined });
    }
    return new LocalFunctions(functions, logs, options, poolOf);
  }

  get specs(): FunctionSpec[] {
    return [...this.#functions.values()].map(({ spec }) => spec);
  }

  /** Asynchronous events that are neither done nor given up. */
  get pendingEvents(): number {
    return this.#async.pending;
  }

  /** Invocations of a function that can run at the same time here. */
  capacityOf(functionName: string): number {
    const { spec } = this.#find(functionName);
    return Math.min(this.#maxEnvironments, spec.reservedConcurrency ?? Infinity);
  }

  /** Processes that are alive, by function. */
  environments(): Record<string, number> {
    return Object.fromEntries([...this.#functions].map(([name, { pool }]) => [name, pool.environments]));
  }

  async invoke(request: InvokeRequest): Promise<InvokeResult> {
    const target = this.#find(request.functionName);
    const bytes = Buffer.byteLength(request.payload);
    const limit = request.invocationType === 'Event' ? MAX_ASYNCHRONOUS_BYTES : MAX_SYNCHRONOUS_BYTES;
    if (bytes > limit) {
      const message = `${bytes} byte payload is too large for the ${request.invocationType} invocation type (limit ${limit} bytes)`;
      return refusal(413, 'RequestTooLargeException', message);
    }
    if (request.invocationType === 'DryRun') return { statusCode: 204, payload: '' };
    if (request.invocationType === 'Event') {
      this.#async.accept(target.spec.name, request.payload);
      return { statusCode: 202, payload: '' };
    }
    return this.#invokeNow(target, request.payload, request.logType);
  }

  /**
   * Deploys another version of a function: code, variables, or both. Invocations under way end with the version that they began with.
   *
   * @throws LocalCloudError when the templates declare no such function
   */
  deploy(functionName: string, version: Partial<Pick<FunctionSpec, 'codeDirectory' | 'environment'>>): void {
    const target = this.#find(functionName);
    target.pool.retire();
    this.#retired.push(target.pool);
    target.spec = { ...target.spec, ...version };
    target.pool = this.#poolOf(target.spec);
  }

  /** Kills every environment of the functions that match, in the middle of what they do. */
  kill(matches: (spec: FunctionSpec) => boolean): { killed: number; busy: number } {
    const results = [...this.#functions.values()].filter(({ spec }) => matches(spec)).map(({ pool }) => pool.kill());
    return {
      killed: results.reduce((sum, { killed }) => sum + killed, 0),
      busy: results.reduce((sum, { busy }) => sum + busy, 0),
    };
  }

  /** Call the returned function to stop observing. */
  onInvocation(observer: (report: InvocationReport) => void): () => void {
    this.#observers.add(observer);
    return () => void this.#observers.delete(observer);
  }

  async stop(): Promise<void> {
    this.#async.close();
    await Promise.all(
      [...this.#functions.values(), ...this.#retired.map((pool) => ({ pool }))].map(({ pool }) => pool.close()),
    );
    await this.logs.close();
  }

  async #invokeNow(target: LocalFunction, payload: string, logType: InvokeRequest['logType']): Promise<InvokeResult> {
    const { spec, pool } = target;
    if (target.inFlight >= (spec.reservedConcurrency ?? Infinity)) {
      this.#report(spec, undefined, 'throttled');
      return refusal(429, 'TooManyRequestsException', 'Rate Exceeded.');
    }
    target.inFlight++;
    try {
      target.mayLog ??= mayWriteLog(this.#cloud, spec);
      pool.muted = !(await target.mayLog);
      const requestId = randomUUID();
      const run = await pool.run(requestId, payload);
      const answer = answerOf(run, spec, requestId, logType);
      this.#report(spec, run, answer.functionError === undefined ? 'succeeded' : 'failed');
      return answer;
    } finally {
      target.inFlight--;
    }
  }

  #report(spec: FunctionSpec, run: Run | undefined, outcome: InvocationReport['outcome']): void {
    const report: InvocationReport = {
      functionName: spec.name,
      atMs: Date.now(),
      outcome,
      durationMs: run?.durationMs ?? 0,
      billedMs: run === undefined ? 0 : billedMs(run),
      initMs: run?.initMs,
      initError: run?.initError,
      memoryMb: spec.memoryMb,
      peakBytes: run?.peakBytes ?? 0,
    };
    for (const observer of this.#observers) observer(report);
  }

  #find(nameOrArn: string): LocalFunction {
    const name = /:function:([^:]+)/.exec(nameOrArn)?.[1] ?? nameOrArn;
    const found = this.#functions.get(name);
    if (found !== undefined) return found;
    const known = [...this.#functions.keys()].join(', ');
    throw new LocalCloudError(`There is no function ${name} in the templates; there are: ${known}.`);
  }
}

/** Only variables that the template declares are replaced. */
function replaceVariables(spec: FunctionSpec, overrides: Readonly<Record<string, string>> = {}): FunctionSpec {
  const replaced = Object.entries(overrides).filter(([name]) => name in spec.environment);
  return { ...spec, environment: { ...spec.environment, ...Object.fromEntries(replaced) } };
}

const maxEnvironments = (options: FunctionsOptions): number => options.maxEnvironments ?? 8;

const invokeConfigSchema = v.object({
  FunctionName: v.string(),
  MaximumRetryAttempts: v.optional(numeric, DEFAULT_ASYNC_POLICY.maxRetries),
  MaximumEventAgeInSeconds: v.optional(numeric, DEFAULT_ASYNC_POLICY.maxAgeMs / 1000),
  DestinationConfig: v.optional(v.undefined('destinations of asynchronous invocations are not supported here')),
});

function asyncPolicyOf(spec: FunctionSpec, cloud: FunctionsOptions['cloud']): AsyncPolicy {
  for (const resource of cloud.byType('AWS::Lambda::EventInvokeConfig')) {
    const { FunctionName, MaximumRetryAttempts, MaximumEventAgeInSeconds } = readProperties(
      invokeConfigSchema,
      resource,
    );
    if (FunctionName !== spec.name && FunctionName !== spec.arn) continue;
    return { maxRetries: MaximumRetryAttempts, maxAgeMs: MaximumEventAgeInSeconds * 1000 };
  }
  return DEFAULT_ASYNC_POLICY;
}
