import { CredentialMissingError, isPassingFailure } from '../errors.ts';
import { SETTLE_RESERVE_MS } from '../limits.ts';
import type { ProviderAnswer } from '../model.ts';
import type { CredentialSource, HttpTransport, ProviderStore } from './ports.ts';
import { reserveSlots, sleepUntil } from './slots.ts';
import type { SchemaCheck } from '../records/validation.ts';
import type { EventFields, Telemetry } from '../telemetry.ts';
import type { Clock, Random, TimeBudget } from '../time.ts';
import { classify, type CallOutcome, type TransientReason } from './classify.ts';
import { authorize } from './authorize.ts';
import type { Provider } from './provider.ts';
import type { ProviderRequest } from './request.ts';
import { readWaitHint, unreadableWait } from './wait-hint.ts';

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

/** A wait that costs the record no attempt. */
export interface Deferral {
  kind: 'deferred';
  reason: DeferralReason;
  untilMs: number;
}

/** What looking one record up at one provider came to. */
export type ProviderResult =
  | { kind: 'answer'; answer: ProviderAnswer }
  | { kind: 'permanent'; reason: 'provider_rejected'; detail: string }
  /** Costs an attempt; where the provider said so, not to be repeated before `untilMs`. */
  | { kind: 'transient'; reason: TransientReason | 'internal_error'; detail: string; untilMs?: number }
  /** This record alone waits, without an attempt, for `budgetMs` at most; where the provider said so, until `untilMs`. */
  | { kind: 'not_ready'; reason: 'provider_not_ready'; detail: string; budgetMs: number; untilMs?: number }
  | Deferral;

/** The record that a call is about, for its log line; of a canary nothing. */
export type CallSubject = Pick<EventFields, 'submissionId' | 'tenantId' | 'recordNo' | 'attempt' | 'lane'>;

/** What one call asks. */
export interface Call extends ProviderRequest {
  /** Whose log lines it is; absent for the canary. */
  about?: CallSubject;
  /** Checks the answer by the schema that the record's submission was accepted with; absent: by this process's own. */
  checkBody?: SchemaCheck | undefined;
}

/** One batch's calls of one provider. */
export interface Run {
  deps: EnrichDeps;
  provider: Provider;
  budget: TimeBudget;
  /** When the provider's item was last looked at. */
  seenAtMs: number;
  /** Stops the calls that have not started. */
  halt?: { reason: DeferralReason; untilMs: number };
}

/** How long a record waits for AWS, or for a slot in another invocation. */
const SHORT_WAIT_MS = 2_000;
/** How long it waits for a credential that the secret does not hold. */
const CREDENTIAL_WAIT_MS = 10_000;

export const deferred = (run: Pick<Run, 'deps'>, reason: DeferralReason, untilMs?: number): Deferral => ({
  kind: 'deferred',
  reason,
  untilMs: untilMs ?? run.deps.clock.now() + SHORT_WAIT_MS,
});

/** Time within which a call has to start, so that its slowest answer can still be written. */
export const startWithinMs = ({ provider, budget }: Pick<Run, 'provider' | 'budget'>): number =>
  budget.remainingMs() - provider.config.timeoutMs - SETTLE_RESERVE_MS;

/** Why a call is not to start any more, if so: the batch has found the provider closed, or time has run out. */
export function stoppedBy(run: Run): Deferral | undefined {
  const { deps, halt } = run;
  if (halt !== undefined && halt.untilMs > deps.clock.now()) return deferred(run, halt.reason, halt.untilMs);
  return startWithinMs(run) < 0 ? deferred(run, 'out_of_time') : undefined;
}

/**
 * Calls the provider once, from inside its semaphore and at a slot. A refused credential is read again, and with a new one the call is
 * repeated at once, on a slot of its own. An error on our side is a result, see {@link failedInternally}.
 *
 * @param awaitSlot - Waits until the repeated call may start; false when it may not.
 */
export async function callProvider(
  run: Run,
  call: Call,
  awaitSlot: () => Promise<boolean> = async () => awaitOwnSlot(run),
): Promise<CallOutcome | Unanswered> {
  const { deps, provider } = run;
  const { name } = provider.config;
  try {
    const credential = await deps.credentials.get(name);
    const outcome = await request(run, call, credential);
    if (outcome.kind !== 'auth' || !(await hasOtherCredential(run, credential))) return outcome;
    if (!(await awaitSlot())) return deferred(run, 'pacer_full');
    return await request(run, call, await deps.credentials.get(name));
  } catch (error) {
    return failedInternally(run, error, call.about);
  }
}

async function awaitOwnSlot(run: Run): Promise<boolean> {
  const { deps, provider } = run;
  const { slotsMs } = await reserveSlots(deps, { provider, slots: 1, withinMs: startWithinMs(run) });
  const [slotMs] = slotsMs;
  if (slotMs === undefined) return false;
  await sleepUntil(deps.clock, slotMs);
  return true;
}

/** Where the secret cannot be read now, the refused credential is the only one there is. */
async function hasOtherCredential(run: Run, refused: string): Promise<boolean> {
  const { deps, provider } = run;
  const { name } = provider.config;
  try {
    return await deps.credentials.refresh(name, refused);
  } catch (error) {
    if (!isPassingFailure(error)) throw error;
    deps.telemetry.emit({ name: 'unexpected_error', level: 'warn', provider: name, error });
    return false;
  }
}

/** What a call comes to that got no answer because of us. */
export type Unanswered = Deferral | { kind: 'transient'; reason: 'internal_error'; detail: string };

/** The result of an error on our side: AWS that does not answer costs nothing, a defect costs the record an attempt. */
export function failedInternally(run: Run, error: unknown, about: CallSubject = {}): Unanswered {
  const provider = run.provider.config.name;
  if (error instanceof CredentialMissingError) {
    logRefusedCredential(run, error.message);
    return deferred(run, 'provider_auth', run.deps.clock.now() + CREDENTIAL_WAIT_MS);
  }
  const passes = isPassingFailure(error);
  // Logged also where it may pass: a permission that is missing looks the same, and does not.
  const level = passes ? 'warn' : 'error';
  run.deps.telemetry.emit({ name: 'unexpected_error', level, ...about, provider, error });
  if (passes) return deferred(run, 'dependency_unavailable');
  return { kind: 'transient', reason: 'internal_error', detail: 'An unexpected error on our side.' };
}

export function logRefusedCredential({ deps, provider }: Run, detail: string): void {
  deps.telemetry.emit({ name: 'credential_refused', level: 'error', provider: provider.config.name, detail });
}

async function request(
  { deps, provider }: Run,
  { about, checkBody = provider.rules.checkBody, ...asked }: Call,
  credential: string,
): Promise<CallOutcome> {
  const { name, auth, method = 'GET', timeoutMs, maxBodyBytes, p99Ms } = provider.config;
  const { url, headers, body } = authorize(asked, auth, credential);
  const startedAtMs = deps.clock.now();
  const result = await deps.transport.request({
    method,
    url,
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body }),
    timeoutMs,
    maxBodyBytes,
  });
  const nowMs = deps.clock.now();
  const outcome = classify({ ...provider.rules, checkBody }, result, nowMs);
  const durationMs = nowMs - startedAtMs;
  const isWait = result.kind === 'response' && outcome.kind !== 'answer' && outcome.kind !== 'permanent';
  const detail = isWait
    ? (readWaitHint(result.headers, nowMs)?.note ?? unreadableWait(result.headers, nowMs))
    : undefined;
  // Slow calls and odd requests to wait are worth a line; the others are counted.
  const level = durationMs > 2 * p99Ms || detail !== undefined ? 'info' : 'debug';
  const what = {
    provider: name,
    outcome: outcomeName(outcome),
    durationMs,
    ...(detail === undefined ? {} : { detail }),
  };
  deps.telemetry.emit({ name: 'provider_call', level, ...about, ...what });
  return outcome;
}

function outcomeName(outcome: CallOutcome): string {
  if (outcome.kind === 'answer') return outcome.answer.kind;
  return outcome.kind === 'transient' ? outcome.reason : outcome.kind;
}
