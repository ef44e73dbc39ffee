import { isPassingFailure } from '../errors.ts';
import { SETTLE_RESERVE_MS } from '../limits.ts';
import type { ProviderAnswer } from '../model.ts';
import { reserveSlots, sleepUntil } from './pacer.ts';
import type { CredentialSource, HttpTransport, ProviderStore } from './ports.ts';
import type { EventFields, Telemetry } from '../telemetry.ts';
import type { Clock, Random, TimeBudget } from '../time.ts';
import { classify, type CallOutcome, type TransientReason } from './classify.ts';
import type { Provider } from './provider.ts';

export interface EnrichDeps {
  providers: ProviderStore;
  transport: HttpTransport;
  credentials: CredentialSource;
  telemetry: Telemetry;
  clock: Clock;
  random: Random;
  /** Name of this worker among all of them, as the owner of a probe. */
  owner: string;
}

export type DeferralReason =
  'provider_throttled' | 'provider_auth' | 'breaker_open' | 'pacer_full' | 'dependency_unavailable' | 'out_of_time';

/** What asking one provider about one record came to. */
export type ProviderResult =
  | { kind: 'answer'; answer: ProviderAnswer }
  | { kind: 'permanent'; reason: 'provider_rejected'; detail: string }
  /** Costs an attempt; where the provider said so, not to be repeated before `untilMs`. */
  | { kind: 'transient'; reason: TransientReason | 'internal_error'; detail: string; untilMs?: number }
  /** Costs no attempt. */
  | { kind: 'deferred'; reason: DeferralReason; untilMs: number };

/** The record that a call is about, for its log line; of a canary nothing. */
export type CallSubject = Pick<EventFields, 'submissionId' | 'tenantId' | 'recordNo' | 'attempt' | 'lane'>;

/** One batch's calls of one provider: what one call finds out stops those that have not started. */
export interface Run {
  deps: EnrichDeps;
  provider: Provider;
  budget: TimeBudget;
  /** When the provider's item was last looked at. */
  seenAtMs: number;
  halt?: { reason: DeferralReason; untilMs: number };
}

/** How long the fleet waits for an operator after a credential was refused and the secret holds no other. */
const AUTH_BLOCK_MS = 60_000;
/** The wait after a 429 without a usable Retry-After is random between this and twice this. */
const DEFAULT_BLOCK_MS = 5_000;
/** How long a record waits for AWS, or for its turn in another invocation. */
const SHORT_WAIT_MS = 2_000;

export const deferred = (run: Pick<Run, 'deps'>, reason: DeferralReason, untilMs?: number): ProviderResult => ({
  kind: 'deferred',
  reason,
  untilMs: untilMs ?? run.deps.clock.now() + SHORT_WAIT_MS,
});

/** Time within which a call has to start, so that its slowest answer can still be written. */
export const startWithinMs = ({ provider, budget }: Pick<Run, 'provider' | 'budget'>): number =>
  budget.remainingMs() - provider.config.timeoutMs - SETTLE_RESERVE_MS;

/** Calls the provider once, when it may have another call open. */
export const callProvider = async (run: Run, url: string, about: CallSubject = {}): Promise<ProviderResult> =>
  run.provider.semaphore(async () => callNow(run, url, about));

/** Why a call is not to start any more, if so: the batch has found the provider closed, or time has run out. */
export function stoppedBy(run: Run): ProviderResult | undefined {
  const { deps, halt } = run;
  if (halt !== undefined && halt.untilMs > deps.clock.now()) return deferred(run, halt.reason, halt.untilMs);
  return startWithinMs(run) < 0 ? deferred(run, 'out_of_time') : undefined;
}

/** Calls the provider once, while holding its semaphore. A refused credential is read again, and with a new one the call is repeated at once. */
export async function callNow(run: Run, url: string, about: CallSubject): Promise<ProviderResult> {
  const { deps, provider } = run;
  const { name } = provider.config;
  const credential = await deps.credentials.get(name);
  const outcome = await request(run, url, credential, about);
  if (outcome.kind !== 'auth') return observe(run, outcome);
  if (!(await deps.credentials.refresh(name, credential))) return refuseCredential(run, outcome.detail);
  const { slotsMs } = await reserveSlots(deps, { provider: provider.config, slots: 1, withinMs: startWithinMs(run) });
  const [slotMs] = slotsMs;
  if (slotMs === undefined) return deferred(run, 'pacer_full');
  await sleepUntil(deps.clock, slotMs);
  const repeated = await request(run, url, await deps.credentials.get(name), about);
  return repeated.kind === 'auth' ? refuseCredential(run, repeated.detail) : observe(run, repeated);
}

/** The result of an error on our side: AWS that does not answer costs nothing, a defect costs the record an attempt. */
export function failedInternally(run: Run, error: unknown, about: CallSubject = {}): ProviderResult {
  const passes = isPassingFailure(error);
  // Told also where it may pass: a permission that is missing looks the same, and does not.
  const level = passes ? 'warn' : 'error';
  const provider = run.provider.config.name;
  run.deps.telemetry.emit({ name: 'unexpected_error', level, ...about, provider, error });
  if (passes) return deferred(run, 'dependency_unavailable');
  return { kind: 'transient', reason: 'internal_error', detail: 'An unexpected error on our side.' };
}

async function request(
  { deps, provider }: Run,
  url: string,
  credential: string,
  about: CallSubject,
): Promise<CallOutcome> {
  const { name, auth, timeoutMs, maxBodyBytes, p99Ms } = provider.config;
  const startedAtMs = deps.clock.now();
  const result = await deps.transport.request({
    method: 'GET',
    url,
    headers: { accept: 'application/json', [auth.header]: `${auth.prefix}${credential}` },
    timeoutMs,
    maxBodyBytes,
  });
  const outcome = classify(provider.rules, result, deps.clock.now());
  const durationMs = deps.clock.now() - startedAtMs;
  // Slow calls are worth a line; the others are counted.
  const level = durationMs > 2 * p99Ms ? 'info' : 'debug';
  const what = { provider: name, outcome: outcomeName(outcome), durationMs };
  deps.telemetry.emit({ name: 'provider_call', level, ...about, ...what });
  return outcome;
}

function outcomeName(outcome: CallOutcome): string {
  if (outcome.kind === 'answer') return outcome.answer.kind;
  return outcome.kind === 'transient' ? outcome.reason : outcome.kind;
}

type Accepted = Exclude<CallOutcome, { kind: 'auth' }>;

/** The result of an outcome, after telling the fleet what the provider asked for. */
async function observe(run: Run, outcome: Accepted): Promise<ProviderResult> {
  if (outcome.kind === 'answer' || outcome.kind === 'permanent') return outcome;
  const { clock, random } = run.deps;
  const nowMs = clock.now();
  if (outcome.kind === 'throttled') {
    const untilMs = nowMs + (outcome.retryAfterMs ?? Math.round(DEFAULT_BLOCK_MS * (1 + random())));
    await block(run, untilMs, 'provider_throttled');
    return deferred(run, 'provider_throttled', untilMs);
  }
  const { kind, reason, detail } = outcome;
  if (outcome.retryAfterMs === undefined) return { kind, reason, detail };
  const untilMs = nowMs + outcome.retryAfterMs;
  await block(run, untilMs, 'provider_throttled');
  return { kind, reason, detail, untilMs };
}

async function refuseCredential(run: Run, detail: string): Promise<ProviderResult> {
  const untilMs = run.deps.clock.now() + AUTH_BLOCK_MS;
  const known = run.halt?.reason === 'provider_auth';
  await block(run, untilMs, 'provider_auth');
  if (!known) {
    const { name } = run.provider.config;
    run.deps.telemetry.emit({ name: 'credential_refused', level: 'error', provider: name, detail });
  }
  return deferred(run, 'provider_auth', untilMs);
}

/** Stops this batch's calls, and the fleet's until then. A block that cannot be written is found out again by the next call. */
async function block(run: Run, untilMs: number, reason: 'provider_throttled' | 'provider_auth'): Promise<void> {
  const { deps, provider, halt } = run;
  if (halt !== undefined && halt.untilMs >= untilMs) return;
  run.halt = { reason, untilMs };
  const { name } = provider.config;
  deps.telemetry.emit({
    name: 'provider_blocked',
    level: 'warn',
    provider: name,
    reason,
    durationMs: untilMs - deps.clock.now(),
  });
  try {
    await deps.providers.block(name, untilMs, reason);
  } catch (error) {
    if (!isPassingFailure(error)) throw error;
    deps.telemetry.emit({ name: 'unexpected_error', level: 'warn', provider: name, error });
  }
}
