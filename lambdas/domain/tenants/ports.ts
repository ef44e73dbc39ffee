import type { Lane } from '../model.ts';

/** Open work per tenant, and of the whole system: what admission and estimates go by. */
export interface AdmissionStore {
  /** Open submissions of the tenant with their estimated or counted records. */
  openWork(tenantId: string): Promise<OpenWork[]>;
  /** Sets (idempotently) what a submission holds open. */
  setOpenWork(tenantId: string, work: OpenWork): Promise<void>;
  clearOpenWork(tenantId: string, submissionId: string): Promise<void>;
  /** Tenants that had open submissions in the reconciler's last run. */
  tenantsWithWork(): Promise<string[]>;
  saveTenantsWithWork(tenants: readonly string[]): Promise<void>;
  /** Adds a tenant to those: the reconciler's next run recounts what it has open. Nothing changes where it is among them, or before the first run. */
  recountSoon(tenantId: string): Promise<void>;
  /** The newest snapshot of the whole system's backlog, made by the reconciler. */
  backlog(): Promise<Backlog | undefined>;
  saveBacklog(backlog: Backlog): Promise<void>;
  /** What the reconciler's last run knew of the dead-letter queues; undefined before the first. */
  deadLetters(): Promise<DeadLetterLog | undefined>;
  saveDeadLetters(log: DeadLetterLog): Promise<void>;
}

export const DEAD_LETTER_QUEUES = ['small', 'bulk', 'prepare', 'fanOut', 'finalize', 'webhooks'] as const;
export type DeadLetterQueue = (typeof DEAD_LETTER_QUEUES)[number];

/** Since when the dead-letter queues hold messages, and what the automatic redrive has seen of them. */
export interface DeadLetterLog {
  /** Of queues that hold messages: since when one of their messages was there at every look, and when the last one was seen. */
  waiting: Partial<Record<DeadLetterQueue, { sinceMs: number; seenMs: number }>>;
  /** The last pass of the automatic redrive that came to the end of the lanes' queues and replayed nothing: after which outage, and how many messages it left. */
  pass?: { troubledAtMs: number; left: number };
}

export interface OpenWork {
  submissionId: string;
  records: number;
  lane?: Lane;
}

export interface Backlog {
  asOfMs: number;
  /** Records without an outcome, by lane; those of submissions without a lane yet count as bulk. */
  openRecords: Record<Lane, number>;
  openSubmissions: number;
  /** When a provider was last seen blocked, or with an open breaker whose probe was not due; 0 when never. */
  troubledAtMs: number;
  /** Records per second that the slowest provider is granted at the moment; absent in what older versions wrote. */
  pacePerSecond?: number;
}
