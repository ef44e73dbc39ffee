import type { RecordMessage } from '../queues/messages.ts';
import type { RecordRow } from '../model.ts';
import type { DomainEvent, EventFields } from '../telemetry.ts';
import type { ReasonCode } from '../reasons.ts';
import type { WorkerDeps } from './deps.ts';
import { receivesOf, type Item } from './deliveries.ts';

type TellDeps = Pick<WorkerDeps, 'telemetry' | 'clock' | 'lane'>;

/** What every line about a record carries. */
export function aboutMessage({ lane }: Pick<WorkerDeps, 'lane'>, message: RecordMessage) {
  const { submissionId, tenantId, recordNo, attempt, generation } = message;
  return { submissionId, tenantId, recordNo, attempt, generation, lane } as const satisfies EventFields;
}

const about = (deps: TellDeps, { message }: Item): EventFields => aboutMessage(deps, message);

const LEVELS: Partial<Record<RecordRow['state'], DomainEvent['level']>> = { failed: 'warn', dead_lettered: 'error' };

/** A record has its outcome. */
export function logFinished(deps: TellDeps, item: Item, row: RecordRow): void {
  const { state, reason, detail, attempts } = row;
  deps.telemetry.emit({
    name: 'record_finished',
    level: LEVELS[state] ?? 'info',
    ...about(deps, item),
    attempt: attempts,
    outcome: state,
    ...(reason === undefined ? {} : { reason }),
    ...(detail === undefined ? {} : { detail }),
    ageMs: deps.clock.now() - row.firstEnqueuedAtMs,
  });
}

/** An attempt failed; another one is due after `waitMs`. */
export function logFailed(
  deps: TellDeps,
  item: Item,
  { reason, detail, attempts, waitingOn }: RecordRow,
  waitMs: number,
): void {
  deps.telemetry.emit({
    name: 'record_attempt_failed',
    level: 'warn',
    ...about(deps, item),
    attempt: attempts,
    ...(waitingOn === undefined ? {} : { provider: waitingOn }),
    ...(reason === undefined ? {} : { reason }),
    ...(detail === undefined ? {} : { detail }),
    durationMs: waitMs,
  });
}

/** A record waits without having failed. Counted, not told one by one: in an outage there are tens of thousands. */
export function logDeferred(deps: TellDeps, item: Item, reason: ReasonCode, waitMs: number): void {
  deps.telemetry.emit({ name: 'record_deferred', level: 'debug', ...about(deps, item), reason, durationMs: waitMs });
}

/** A message was acknowledged without being worked. */
export function logDiscarded(deps: TellDeps, item: Item, because: string): void {
  deps.telemetry.emit({ name: 'record_discarded', level: 'debug', ...about(deps, item), outcome: because });
}

/** A record is about to run alone, because a worker ended while it was in its batch. */
export function logSuspect(deps: TellDeps, item: Item): void {
  deps.telemetry.emit({ name: 'isolated_run_started', level: 'warn', ...about(deps, item), count: receivesOf(item) });
}
