import type { Lane } from '../model.ts';
import type { LedgerStore } from '../ledger/ports.ts';
import type { ObjectStore } from '../source/ports.ts';
import type { QueueReceiver, QueueSender } from '../queues/ports.ts';
import type { RecordStore } from '../records/ports.ts';
import type { SubmissionStore } from '../submissions/ports.ts';
import type { Telemetry } from '../telemetry.ts';
import type { ProviderConfig } from '../providers/config.ts';
import type { SourceLimits } from '../source/source.ts';
import type { Clock } from '../time.ts';

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
  limits: SourceLimits;
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

/** Replays of one record (or of one unreadable message) after which it is parked for good: what fails so often is poison. */
export const MAX_REDRIVES = 3;
