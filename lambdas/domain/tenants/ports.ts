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
  /** The newest snapshot of the whole system's backlog, made by the reconciler. */
  backlog(): Promise<Backlog | undefined>;
  saveBacklog(backlog: Backlog): Promise<void>;
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
}
