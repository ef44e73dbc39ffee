import type { FanOutProgress, Submission } from '../../lambdas/domain/model.ts';
import type { Claim } from '../../lambdas/domain/submissions/ports.ts';
import type { PortCall } from '../support/memory/index.ts';
import { nameOf, type Journal } from './journal.ts';

/** Slots that were reserved before a block may still be used; an invocation does not last longer. */
const GRACE_MS = 61_000;

interface Lease {
  owner: string;
  untilMs: number;
}

interface Renewal {
  nowMs: number;
  leaseMs: number;
}

interface ClaimArguments extends Renewal {
  submissionId: string;
  owner: string;
}

/** The longest block that one record's answer may cause, as in lambdas/domain/providers/outage.ts. */
const UNCONFIRMED_BLOCK_MS = 3_000;
/** A refused canary explains blocks for so long: what was decided by it is written within the invocation. */
const CONFIRMED_WITHIN_MS = 60_000;

/** What the functions owe each other: one owner at a time, checkpoints only behind what was sent, blocks kept by all. */
export class Fleet {
  readonly #journal: Journal;
  readonly #now: () => number;
  /** Clocks differ by up to this: a lease may seem over so much earlier. */
  readonly #skewMs: number;
  readonly #leases = new Map<string, Lease>();
  readonly #canaryThrottledAtMs = new Map<string, number>();
  readonly #blocks = new Map<string, { sinceMs: number; untilMs: number }>();

  constructor(journal: Journal, now: () => number, skewMs: number) {
    this.#journal = journal;
    this.#now = now;
    this.#skewMs = skewMs;
  }

  claimed({ method, args }: PortCall, claim: Claim): void {
    if (claim.outcome !== 'claimed') return;
    const { submissionId, owner, nowMs, leaseMs } = args[0] as ClaimArguments;
    const key = `${method} of ${submissionId}`;
    const other = this.#leases.get(key);
    if (other && other.owner !== owner && this.#now() < other.untilMs - 2 * this.#skewMs) {
      this.#journal.broken('one owner', `${key} by ${owner}, while ${other.owner} holds the lease`, [submissionId]);
    }
    // By the clock of its owner, and from the moment of the call: the write itself takes its time.
    this.#leases.set(key, { owner, untilMs: nowMs + leaseMs });
  }

  /** After a checkpoint or the end of an owner's work. */
  progressed({ method, args }: PortCall): void {
    const [submissionId, , , lease] = args as [string, string, unknown, 'release' | Renewal | undefined];
    const key = `${/Fan|Prepared/.test(method) ? 'claimFanOut' : 'claimFinalize'} of ${submissionId}`;
    const held = this.#leases.get(key);
    if (method.startsWith('checkpoint') && typeof lease === 'object') {
      if (held) held.untilMs = lease.nowMs + lease.leaseMs;
    } else this.#leases.delete(key);
  }

  /** A submission that is open again has no finalization, and nobody who owns it: its owner may write no more. */
  reopened(stored: Submission): void {
    if (stored.finalize === undefined) this.#leases.delete(`claimFinalize of ${stored.submissionId}`);
  }

  /** Everything before a checkpoint has been sent. */
  checkpointed({ method, args }: PortCall, wasSent: (record: string) => boolean): void {
    const [submissionId, , progress] = args as [string, string, Pick<FanOutProgress, 'records'> | number];
    const records = typeof progress === 'number' ? progress : progress.records;
    for (let recordNo = 1; recordNo <= records; recordNo++) {
      const record = nameOf(submissionId, recordNo);
      if (wasSent(record)) continue;
      this.#journal.broken('sent before checkpoint', `${method} of ${records} records, but ${record} was not sent`, [
        record,
      ]);
      return;
    }
  }

  /** The provider refused a canary for the rate: that may stop everybody. */
  canaryThrottled(provider: string): void {
    this.#canaryThrottledAtMs.set(provider, this.#now());
  }

  /** The whole fleet is to wait for a provider: for longer than a moment only because its canary was refused. */
  blocked(provider: string, untilMs: number): void {
    const isLong = untilMs > this.#now() + UNCONFIRMED_BLOCK_MS + 2 * this.#skewMs;
    const confirmedMs = this.#now() - (this.#canaryThrottledAtMs.get(provider) ?? -Infinity);
    if (isLong && confirmedMs > CONFIRMED_WITHIN_MS) {
      this.#journal.broken('one refusal stops nobody', `${provider} is blocked for all without a refused canary`, []);
    }
    const block = this.#blocks.get(provider);
    if (block && block.untilMs >= untilMs) return;
    // Whose clock is fast may have begun again just before the block ended.
    const runs = block !== undefined && block.untilMs - 2 * this.#skewMs > this.#now();
    this.#blocks.set(provider, { sinceMs: runs ? block.sinceMs : this.#now(), untilMs });
  }

  /** A call that arrives at a provider while the whole fleet is to wait for it. */
  called(provider: string, record: string): void {
    const block = this.#blocks.get(provider);
    if (!block || this.#now() < block.sinceMs + GRACE_MS || this.#now() > block.untilMs - 2 * this.#skewMs) return;
    this.#journal.broken('blocks are kept', `${provider} was called although it had asked the fleet to wait`, [record]);
  }
}
