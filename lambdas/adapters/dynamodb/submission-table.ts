import { LeaseLostError, SluiceError } from '../../domain/errors.ts';
import type { Submission } from '../../domain/model.ts';
import type { DynamoTable } from './dynamo.ts';
import { expr, type Expression } from './expression.ts';
import { GIVEN_UP_MS, headKey, parseHead, type StoredSubmission } from './submission-item.ts';

/** Rounds of "write, look why it was refused, write in another form" before a caller is told to come back. */
export const MAX_ROUNDS = 5;

/** What became of a conditional change: the head after it, or the unexpired head that refused it. */
export type Changed =
  { applied: true; stored: StoredSubmission } | { applied: false; stored: StoredSubmission | undefined };

/** The head items of the submissions table. */
export class SubmissionTable {
  readonly table: DynamoTable;

  constructor(table: DynamoTable) {
    this.table = table;
  }

  now(): number {
    return this.table.clock.now();
  }

  isExpired({ submission }: StoredSubmission): boolean {
    return submission.expiresAtSeconds * 1000 <= this.now();
  }

  async find(submissionId: string): Promise<StoredSubmission | undefined> {
    const item = await this.table.get(headKey(submissionId));
    const stored = item && parseHead(item);
    return stored === undefined || this.isExpired(stored) ? undefined : stored;
  }

  /** Changes the head when it is there, unexpired, and `when` holds. */
  async change(submissionId: string, change: Expression, when?: Expression): Promise<Changed> {
    const alive = this.table.unexpired();
    const written = await this.table.update(headKey(submissionId), change, when ? expr`${alive} AND (${when})` : alive);
    if (written.applied) return { applied: true, stored: parseHead(written.item) };
    const standing = await written.standing();
    const stored = standing && parseHead(standing);
    return { applied: false, stored: stored === undefined || this.isExpired(stored) ? undefined : stored };
  }
}

export const missing = (submissionId: string): SluiceError =>
  new SluiceError(`The submission ${submissionId} is missing or has expired.`);

/** The head of a change that was applied or did not need to be; throws when there is no head. */
export function present({ stored }: Changed, submissionId: string): Submission {
  if (stored === undefined) throw missing(submissionId);
  return stored.submission;
}

export type LeaseName = 'fanOut' | 'finalize';

const nameOwner = (stored: StoredSubmission, lease: LeaseName): string | undefined =>
  lease === 'fanOut' ? stored.fanOutOwner : stored.finalizeOwner;

/** Throws LeaseLostError when a change was refused because `owner` does not hold the lease. */
export function mustOwn({ stored }: Changed, lease: LeaseName, owner: string, submissionId: string): Submission {
  if (stored === undefined) throw missing(submissionId);
  const holder = nameOwner(stored, lease);
  if (holder === owner) return stored.submission;
  throw new LeaseLostError(`${owner} does not hold the ${lease} lease on ${submissionId}; ${holder ?? 'nobody'} does.`);
}

/** Condition: `owner` may take the lease. */
export const isFree = (lease: Expression, owner: string, nowMs: number): Expression =>
  expr`(attribute_not_exists(${lease}.#leaseOwner) OR ${lease}.#leaseOwner = ${owner} OR ${lease}.#leaseUntilMs <= ${nowMs})`;

/** New end of the lease. */
export const leaseEnd = (lease: { nowMs: number; leaseMs: number } | 'release'): number =>
  lease === 'release' ? GIVEN_UP_MS : lease.nowMs + lease.leaseMs;
