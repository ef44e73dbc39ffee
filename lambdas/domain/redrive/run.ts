import type { ProviderStore } from '../providers/ports.ts';
import type { LedgerStore } from '../ledger/ports.ts';
import type { Lane, RecordRow } from '../model.ts';
import { PACE_SHARE, type ProviderConfig } from '../providers/config.ts';
import type { RecordMessage } from '../queues/messages.ts';
import type { Delivery, QueueReceiver, QueueSender } from '../queues/ports.ts';
import type { ReasonCode } from '../reasons.ts';
import type { RecordStore } from '../records/ports.ts';
import type { RedriveRequest } from './request.ts';
import type { ObjectStore } from '../source/ports.ts';
import type { SubmissionStore } from '../submissions/ports.ts';
import type { Telemetry } from '../telemetry.ts';
import type { Clock, TimeBudget } from '../time.ts';

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
  /** By id of a submission of which records were replayed: the numbers of those that were sent. */
  drained: Map<string, ReadonlySet<number>>;
}

/** True when the run must stop and answer with a cursor. */
export const isOver = ({ budget, deps, examined, request }: Run): boolean =>
  budget.remainingMs() < deps.settings.reserveMs || examined >= request.limit;

/** Spreads what is replayed over time, so that a replay never pushes new work aside. */
export class Pace {
  readonly ratePerSecond: number;
  #sent = 0;

  constructor(ratePerSecond: number) {
    this.ratePerSecond = ratePerSecond;
  }

  /** Milliseconds that the next message is to be delayed. */
  next(): number {
    return Math.floor((this.#sent++ * 1000) / this.ratePerSecond);
  }
}

/** What a redrive found and did. In a dry run `replayed` is what would be. */
export interface RedriveReport {
  dryRun: boolean;
  /** Records (or messages) replayed. */
  replayed: number;
  byReason: Partial<Record<ReasonCode | 'unreadable_message', number>>;
  submissions: number;
  /** Submissions of which the results are given up. */
  givenUp?: number;
  /** Calls that the replay needs: answers that were paid for are kept. */
  providerCalls: Record<string, number>;
  /** How long the calls take at the paced rate, or the sending at the rate that was asked for. */
  seconds: number;
  /** Messages that nobody could read after their last replay: moved into objects under `set-apart/` of the bucket. */
  setApart: number;
  /** Left alone, by why. */
  skipped: Partial<Record<Skip, number>>;
  /** Reopened, but not sent now: the reconciler sends them when their silence has lasted long enough. */
  unsent: number;
  /** Messages taken out of dead-letter queues: their records were replayed, or have their outcome. */
  deadLettersDeleted: number;
  /** A drain that reached its limit or the end of its time: another run goes on with what this one has not seen. */
  stoppedEarly: boolean;
  /** The first dead letters that a dry run has looked at, without what the customer sent. */
  deadLetters: DeadLetterInfo[];
  /** Set when the redrive stopped before its end: send the same request with it as `cursor`. */
  nextCursor?: string;
}

/** What may be shown of a dead letter. */
export interface DeadLetterInfo {
  lane: Lane;
  messageId: string;
  /** Absent where the message cannot be read. */
  submissionId?: string;
  recordNo?: number;
  /** Why a worker gave it up; absent where SQS moved the message after its worker died. */
  reason?: string;
  sentAtMs: number;
}

/** Dead letters that an answer describes. */
const MAX_DEAD_LETTERS_SHOWN = 20;

export type Skip =
  /** Replayed as often as the request allows; after MAX_REDRIVES times it is parked for good. */
  | 'exhausted'
  /** A replay cannot help, see the catalogue of reasons; `force` overrides it. */
  | 'not_helpful'
  /** The submission expires too soon. */
  | 'expiring'
  /** The file is gone or changed. */
  | 'source_gone'
  /** The submission is being finalized or stopped: try again in a minute. */
  | 'busy'
  /** The message's record has its outcome, or is of a newer generation. */
  | 'settled';

export class ReportBuilder {
  readonly report: RedriveReport;
  readonly #apis: RedriveDeps['apis'];
  readonly #ratePerSecond: number;

  /** @param apis - With the rates that are granted at the moment. */
  constructor(apis: RedriveDeps['apis'], dryRun: boolean, ratePerSecond: number) {
    this.#apis = apis;
    this.#ratePerSecond = ratePerSecond;
    const providerCalls = Object.fromEntries(apis.map(({ name }) => [name, 0]));
    this.report = {
      dryRun,
      replayed: 0,
      byReason: {},
      submissions: 0,
      providerCalls,
      seconds: 0,
      setApart: 0,
      skipped: {},
      unsent: 0,
      deadLettersDeleted: 0,
      stoppedEarly: false,
      deadLetters: [],
    };
  }

  replayed(reason: ReasonCode | 'unreadable_message', row?: Pick<RecordRow, 'answers'>): void {
    const { report } = this;
    report.replayed += 1;
    report.byReason[reason] = (report.byReason[reason] ?? 0) + 1;
    if (row === undefined) return;
    for (const { name } of this.#apis) {
      if (row.answers[name] === undefined) report.providerCalls[name] = (report.providerCalls[name] ?? 0) + 1;
    }
  }

  looked(lane: Lane, { messageId, attributes: { reason }, sentAtMs }: Delivery, message?: RecordMessage): void {
    const { dryRun, deadLetters } = this.report;
    if (!dryRun || deadLetters.length >= MAX_DEAD_LETTERS_SHOWN) return;
    const ids = message && { submissionId: message.submissionId, recordNo: message.recordNo };
    // An attribute may come from anybody who sends to the queue: only what is a code is shown.
    const isCode = reason !== undefined && /^[a-z_]{1,40}$/.test(reason);
    deadLetters.push({ lane, messageId, ...ids, ...(isCode && { reason }), sentAtMs });
  }

  skipped(why: Skip, count = 1): void {
    if (count > 0) this.report.skipped[why] = (this.report.skipped[why] ?? 0) + count;
  }

  finish(nextCursor?: string): RedriveReport {
    const calling = this.#apis.map(
      ({ name, ratePerSecond }) => (this.report.providerCalls[name] ?? 0) / (ratePerSecond * PACE_SHARE),
    );
    const seconds = Math.ceil(Math.max(this.report.replayed / this.#ratePerSecond, ...calling));
    return { ...this.report, seconds, ...(nextCursor !== undefined && { nextCursor }) };
  }
}

export interface RedriveDeps {
  submissions: SubmissionStore;
  ledger: LedgerStore;
  records: RecordStore;
  objects: ObjectStore;
  lanes: Readonly<Record<Lane, QueueSender>>;
  deadLetters: Readonly<Record<Lane, QueueReceiver>>;
  telemetry: Telemetry;
  clock: Clock;
  apis: readonly Pick<ProviderConfig, 'name' | 'ratePerSecond'>[];
  providers: Pick<ProviderStore, 'get'>;
  settings: RedriveSettings;
}

export interface RedriveSettings {
  /** A reopened submission gets at least this long. */
  deadlineMs: number;
  /** Nothing is reopened that expires sooner than this. */
  expiryMarginMs: number;
  /** Stop when less than this is left of the invocation. */
  reserveMs: number;
  /** How long messages of a dead-letter queue are hidden while they are looked at. */
  visibilityMs: number;
}

const HOUR_MS = 3_600_000;

/** What does not differ between stages. */
export const REDRIVE_DEFAULTS = {
  expiryMarginMs: 6 * HOUR_MS,
  reserveMs: 30_000,
  visibilityMs: 120_000,
} satisfies Partial<RedriveSettings>;
