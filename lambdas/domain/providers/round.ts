import { createFailureStreak, FAILURES_TO_SUSPECT, type FailureStreak } from './breaker.ts';
import { reserveSlots } from './pacer.ts';
import type { ProviderState } from './ports.ts';
import { latestStartMs } from './config.ts';
import { callNow, deferred, failedInternally, startWithinMs, stoppedBy } from './call.ts';
import type { CallSubject, ProviderResult, Run } from './call.ts';
import { judge, note, type Verdict } from './outage.ts';
import { createTurns, type Turns } from './turns.ts';

/** One record that a provider is to be asked about. */
export interface Question {
  url: string;
  /** Whose log lines the calls are. */
  about?: CallSubject;
  /** Whether another failure would end the record: that is not believed before the provider is known to work. */
  isLastAttempt: boolean;
}

/** What a batch asks one provider. */
export interface Inquiry {
  questions: readonly Question[];
  /** Results so far, by index of the question. */
  results: Map<number, ProviderResult>;
  /** Reservations of which calls came too late for their slots. */
  misses: number;
}

/** Calls that are made on one reservation, and on those of calls that had to wait for others of them to end. */
interface Round {
  run: Run;
  inquiry: Inquiry;
  row: FailureStreak;
  turns: Turns;
  /** Calls that have their slots already. */
  slots: number;
  latestMs: number;
  /** Records that are to be asked about on another reservation. */
  again: Set<number>;
  hasMissed: boolean;
}

/**
 * Starts one call for each of the records, which wait longest: at the slots, and where more are called than there are slots, each at
 * one of its own once an earlier call has ended. Returns how many had no slot, or came too late for it: they are without a result.
 */
export async function callAtSlots(
  run: Run,
  inquiry: Inquiry,
  state: ProviderState,
  slotsMs: readonly number[],
  called: readonly number[],
): Promise<number> {
  tellWait(run, slotsMs);
  const row = createFailureStreak();
  const latestMs = latestStartMs(run.provider.config, inquiry.misses);
  const turns = createTurns(run, slotsMs, latestMs);
  const again = new Set<number>();
  const round: Round = { run, inquiry, row, turns, slots: slotsMs.length, latestMs, again, hasMissed: false };
  // Inside the semaphore: a call that waited for others there must not start at a slot that has long passed.
  await Promise.all(
    called.map(async (index, turn) => run.provider.semaphore(async () => callInTurn(round, index, turn))),
  );
  if (round.hasMissed) inquiry.misses += 1;
  const verdict = await judge(run, state, row);
  for (const index of called.filter((each) => !again.has(each))) {
    const result = inquiry.results.get(index);
    // What an outage did is not the record's failure: it costs no attempt.
    const isOutage = result?.kind === 'transient' && result.reason !== 'internal_error' && verdict.outage;
    if (result === undefined || isOutage) inquiry.results.set(index, excuse(run, verdict));
  }
  return again.size;
}

async function callInTurn(round: Round, index: number, turn: number): Promise<void> {
  const { run, inquiry, row, again } = round;
  // Something is wrong, and the calls of this batch that have not started need not find it out once more.
  const isSuspect = (): boolean => row.consecutiveFailures() >= FAILURES_TO_SUSPECT;
  if (isSuspect()) return;
  let result = stoppedBy(run);
  if (result === undefined) {
    if (!(await turnOf(round, turn))) {
      again.add(index);
      return;
    }
    if (isSuspect()) return;
    const question = inquiry.questions[index];
    result = stoppedBy(run) ?? (await callInTime(run, question?.url ?? '', question?.about));
    note(row, result, question?.isLastAttempt === true);
  }
  inquiry.results.set(index, result);
}

/** Waits for the slot of a call, or for one of its own. False when it got none, or came too late for it. */
async function turnOf(round: Round, turn: number): Promise<boolean> {
  const { run, slots, turns, latestMs } = round;
  let isInTime: boolean;
  if (turn < slots) isInTime = await turns(turn);
  else {
    run.seenAtMs = run.deps.clock.now();
    const slotsMs = await ownSlot(run);
    if (slotsMs.length === 0) return false;
    isInTime = await createTurns(run, slotsMs, latestMs)(0);
  }
  round.hasMissed ||= !isInTime;
  return isInTime;
}

async function ownSlot(run: Run): Promise<readonly number[]> {
  try {
    const request = { provider: run.provider.config, slots: 1, withinMs: startWithinMs(run) };
    const { slotsMs } = await reserveSlots(run.deps, request);
    if (slotsMs.length > 0) tellWait(run, slotsMs);
    return slotsMs;
  } catch (error) {
    // The reservation that is tried next for those without a slot tells what it means for them.
    failedInternally(run, error);
    return [];
  }
}

function tellWait({ deps, provider }: Run, slotsMs: readonly number[]): void {
  deps.telemetry.emit({
    name: 'pacer_wait',
    level: 'debug',
    provider: provider.config.name,
    durationMs: Math.max(0, (slotsMs[0] ?? 0) - deps.clock.now()),
    count: slotsMs.length,
  });
}

const excuse = (run: Run, verdict: Verdict): ProviderResult =>
  verdict.outage ? deferred(run, verdict.reason, verdict.untilMs) : deferred(run, 'breaker_open');

async function callInTime(run: Run, url: string, about: CallSubject = {}): Promise<ProviderResult> {
  try {
    return await callNow(run, url, about);
  } catch (error) {
    return failedInternally(run, error, about);
  }
}
