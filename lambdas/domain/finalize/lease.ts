import type { Submission } from '../model.ts';
import type { SubmissionStore } from '../submissions/ports.ts';
import type { Clock } from '../time.ts';

/** The lease under which one invocation writes results, and the progress that is stored with it. */
export class FinalizeLease {
  readonly owner: string;
  readonly #store: SubmissionStore;
  readonly #clock: Clock;
  readonly #leaseMs: number;
  readonly #submissionId: string;
  #nextPart: number;
  #renewedMs: number;

  constructor(
    { submissions, clock, settings }: { submissions: SubmissionStore; clock: Clock; settings: { leaseMs: number } },
    { submissionId, finalize }: Submission,
    owner: string,
  ) {
    this.owner = owner;
    this.#store = submissions;
    this.#clock = clock;
    this.#leaseMs = settings.leaseMs;
    this.#submissionId = submissionId;
    this.#nextPart = finalize?.nextPart ?? 1;
    this.#renewedMs = clock.now();
  }

  /** 1-based number of the first part that is not complete. */
  get nextPart(): number {
    return this.#nextPart;
  }

  /** Renews the lease when a third of it has gone by. Throws LeaseLostError. */
  async keep(): Promise<void> {
    if (this.#clock.now() - this.#renewedMs >= this.#leaseMs / 3) await this.confirm();
  }

  /** Renews the lease. Throws LeaseLostError: then nothing more may be written. */
  async confirm(): Promise<void> {
    const nowMs = this.#clock.now();
    await this.#renew(nowMs);
  }

  /** Notes that `part` is complete. Throws LeaseLostError. */
  async complete(part: number): Promise<void> {
    this.#nextPart = Math.max(this.#nextPart, part + 1);
    const nowMs = this.#clock.now();
    await this.#renew(nowMs, { partAtMs: nowMs });
  }

  /** Gives the lease up, so that the next slice need not wait for its end. Throws LeaseLostError. */
  async release(): Promise<void> {
    await this.#checkpoint('release');
  }

  async #renew(nowMs: number, part: { partAtMs?: number } = {}): Promise<void> {
    await this.#checkpoint({ nowMs, leaseMs: this.#leaseMs }, part);
    this.#renewedMs = nowMs;
  }

  async #checkpoint(
    lease: { nowMs: number; leaseMs: number } | 'release',
    part: { partAtMs?: number } = {},
  ): Promise<void> {
    const nextPart = this.#nextPart;
    await this.#store.checkpointFinalize(this.#submissionId, this.owner, { nextPart, ...part }, lease);
  }
}
