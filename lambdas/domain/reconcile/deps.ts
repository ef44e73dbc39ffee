import type { LedgerStore } from '../ledger/ports.ts';
import type { SettleDeps } from '../ledger/settlement.ts';
import type { Lane } from '../model.ts';
import type { ProviderConfig } from '../providers/config.ts';
import type { ProviderStore } from '../providers/ports.ts';
import type { QueueDepth, QueueSender } from '../queues/ports.ts';
import type { RedriveDeps } from '../redrive/run.ts';
import type { ObjectStore } from '../source/ports.ts';
import type { AdmissionStore, DeadLetterQueue } from '../tenants/ports.ts';

export interface ReconcileDeps extends SettleDeps {
  ledger: LedgerStore;
  objects: ObjectStore;
  admission: AdmissionStore;
  providers: ProviderStore;
  fanOutQueue: QueueSender;
  lanes: Readonly<Record<Lane, QueueSender>>;
  deadLetterQueues: Readonly<Record<DeadLetterQueue, QueueDepth>>;
  /** The providers with the rates of the stage: how long a backlog may take before silence means loss. */
  apis: readonly Pick<ProviderConfig, 'name' | 'ratePerSecond'>[];
  settings: ReconcileSettings;
  /** Replays what an outage dead-lettered once the outage is over; absent where that is left to operators. */
  automaticRedrive?: RedriveDeps;
}

export interface ReconcileSettings {
  /** Submissions looked after in one run; the others are still due in the next one. */
  submissionsPerRun: number;
  /** Records of one submission whose rows are looked at in one run while it moves. */
  recordsPerSubmission: number;
  /** The same once it is silent, and all of them may have to be sent again. */
  recordsWhenSilent: number;
  /** Submissions looked after at the same time. */
  parallel: number;
  /** Stop when less than this is left of the invocation. */
  reserveMs: number;
  /** Age at which an outbox mark counts as forgotten: the API sends the message right after the mark. */
  outboxAgeMs: number;
  /** Silence after which a slice of fan-out or finalization whose lease has ended counts as stalled. */
  stalledMs: number;
  /** Time without a written part after which results count as stalled: twice what one invocation of the finalizer may take. */
  resultsStalledMs: number;
  /** The least silence after which a record's message counts as lost. */
  lostMs: number;
  /** The least time between two repetitions of one record's message. */
  resendEveryMs: number;
  /** Repetitions after which a record that is begun alone and not heard of is given up as `worker_crashed`, and any other is sent ever more seldom. */
  maxResends: number;
  /** Calm after which an outage counts as over, and dead letters are replayed; and for how long they are looked for. */
  calmMs: number;
  redriveWithinMs: number;
  /** Dead letters looked at, or replayed, after which one run begins with no other submission. */
  redrivesPerRun: number;
  /** How long a lane hides a delivered message: what was started alone and is silent for longer has died. */
  visibilityMs: number;
}

const MINUTE_MS = 60_000;

/** What does not differ between stages. */
export const RECONCILE_DEFAULTS = {
  submissionsPerRun: 200,
  recordsPerSubmission: 5_000,
  recordsWhenSilent: 25_000,
  parallel: 4,
  reserveMs: 12_000,
  outboxAgeMs: MINUTE_MS / 2,
  stalledMs: 2 * MINUTE_MS,
  resultsStalledMs: 10 * MINUTE_MS,
  lostMs: 10 * MINUTE_MS,
  resendEveryMs: 60 * MINUTE_MS,
  maxResends: 5,
  calmMs: 2 * MINUTE_MS,
  redriveWithinMs: 30 * MINUTE_MS,
  redrivesPerRun: 500,
} satisfies Partial<ReconcileSettings>;

/** What one run found about the whole system. */
export interface LossThresholds {
  /** Silence after which a message counts as lost: at least `lostMs`, and twice what the backlog takes at the paced rate. */
  lostAfterMs: number;
  /** When a provider was last seen in trouble; 0 when never. */
  troubledAtMs: number;
  /** Providers whose breaker is open, or that asked for a pause: who waits on one of them is not lost. */
  troubledProviders: ReadonlySet<string>;
}
