import type { RecordKey } from '../model.ts';
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
  /** Records whose replay was sent, see `keyOf`. */
  sent: Set<string>;
}

export const keyOf = ({ submissionId, recordNo }: RecordKey): string => `${submissionId}#${recordNo}`;

/** True when the run must stop and answer with a cursor. */
export const isOver = ({ budget, deps, examined, request }: Run): boolean =>
  budget.remainingMs() < deps.settings.reserveMs || examined >= request.limit;
