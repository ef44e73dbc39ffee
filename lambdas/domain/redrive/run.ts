import type { TimeBudget } from '../time.ts';
import type { RedriveDeps } from './deps.ts';
import type { Pace } from './pace.ts';
import type { ReportBuilder } from './report.ts';
import type { RedriveRequest } from './request.ts';

/** One run of redrive. */
export interface Run {
  deps: RedriveDeps;
  request: RedriveRequest;
  budget: TimeBudget;
  report: ReportBuilder;
  pace: Pace;
  startedAtMs: number;
  /** Records or messages looked at. */
  examined: number;
  /** By id of a submission whose dead letters were replayed: the records that were sent. */
  drained: Map<string, ReadonlySet<number>>;
}

/** True when the run must stop and answer with a cursor. */
export const isOver = ({ budget, deps, examined, request }: Run): boolean =>
  budget.remainingMs() < deps.settings.reserveMs || examined >= request.limit;
