import { InvalidCursorError, LeaseLostError, SluiceError } from '../../../lambdas/domain/errors.ts';
import { isOpen, type Submission } from '../../../lambdas/domain/model.ts';
import type { Page } from '../../../lambdas/domain/submissions/ports.ts';
import type { Clock } from '../../../lambdas/domain/time.ts';

/** The items by id, with what every method of the store needs: expiry, copies and leases. */
export interface SubmissionTable {
  /** The stored item itself, to be changed; undefined when there is none or it has expired. */
  find(submissionId: string): Submission | undefined;
  /** The same; throws when there is none. */
  require(submissionId: string): Submission;
  put(submission: Submission): void;
  /** A copy as callers see it. */
  visible(submission: Submission): Submission;
  all(): Submission[];
}

/** A lease that its owner gave up: the owner stays known, so that a repeated release is recognised. */
const GIVEN_UP_MS = 0;

interface Lease {
  leaseOwner?: string;
  leaseUntilMs?: number;
}

function hideGivenUp(holder: Lease | undefined): void {
  if (holder?.leaseUntilMs !== GIVEN_UP_MS) return;
  delete holder.leaseOwner;
  delete holder.leaseUntilMs;
}

export function createSubmissionTable(clock: Clock): SubmissionTable {
  const items = new Map<string, Submission>();
  const find = (submissionId: string): Submission | undefined => {
    const stored = items.get(submissionId);
    return stored !== undefined && stored.expiresAtSeconds * 1000 > clock.now() ? stored : undefined;
  };
  return {
    find,
    require(submissionId) {
      const stored = find(submissionId);
      if (stored === undefined) throw new SluiceError(`The submission ${submissionId} is missing or has expired.`);
      return stored;
    },
    put(submission) {
      items.set(submission.submissionId, structuredClone(submission));
    },
    visible(submission) {
      const copy = structuredClone(submission);
      hideGivenUp(copy.fanOut);
      hideGivenUp(copy.finalize);
      return copy;
    },
    all: () => [...items.keys()].flatMap((submissionId) => find(submissionId) ?? []),
  };
}

/** True when `owner` may take the lease. */
export const isFree = (holder: Lease | undefined, owner: string, nowMs: number): boolean =>
  holder?.leaseOwner === undefined || holder.leaseOwner === owner || (holder.leaseUntilMs ?? GIVEN_UP_MS) <= nowMs;

/** Renews the lease or gives it up. */
export function renew(holder: Lease, lease: { nowMs: number; leaseMs: number } | 'release'): void {
  holder.leaseUntilMs = lease === 'release' ? GIVEN_UP_MS : lease.nowMs + lease.leaseMs;
}

export function mustOwn(holder: Lease | undefined, owner: string, submissionId: string): void {
  if (holder?.leaseOwner === owner) return;
  throw new LeaseLostError(
    `${owner} does not hold the lease on ${submissionId}; ${holder?.leaseOwner ?? 'nobody'} does.`,
  );
}

/** Closed submissions are in no index of open ones. */
export function dropCheckWhenClosed(submission: Submission): void {
  if (!isOpen(submission.state)) delete submission.nextCheckAtMs;
}

/** Cuts a page out of a sorted list; the cursor names the last item and what the list is of. */
export function pageOf(
  sorted: readonly Submission[],
  scope: string,
  { limit, cursor }: { limit: number; cursor?: string },
): Page<Submission> {
  let from = 0;
  if (cursor !== undefined) {
    const [cursorScope, submissionId] = cursor.split(' ');
    from = sorted.findIndex((submission) => submission.submissionId === submissionId) + 1;
    if (cursorScope !== scope || from === 0) throw new InvalidCursorError('The cursor is not one that this list gave.');
  }
  const items = sorted.slice(from, from + limit);
  const last = items.at(-1);
  return from + limit < sorted.length && last !== undefined
    ? { items, nextCursor: `${scope} ${last.submissionId}` }
    : { items };
}
