import { DependencyUnavailableError } from '../../domain/errors.ts';
import { isOpen, OPEN_STATES } from '../../domain/model.ts';
import type { Claim, SubmissionStore } from '../../domain/submissions/ports.ts';
import { expr, isIn } from './expression.ts';
import { GIVEN_UP_MS, type StoredSubmission } from './submission-item.ts';
import { isFree, leaseEnd, MAX_ROUNDS, mustOwn, type SubmissionTable } from './submission-table.ts';

type FanOut = Pick<
  SubmissionStore,
  'claimFanOut' | 'decideLane' | 'checkpointFanOut' | 'setPrepared' | 'completeFanOut' | 'reject'
>;

const LEASE = expr`#fanOut`;

/** One update cannot leave the state as it is in one case and change it in another, so there is one form for each. */
const CLAIM_FORMS = [
  { set: expr`#state = ${'processing'}, `, when: isIn('state', ['accepted', 'processing']) },
  { set: expr``, when: expr`#state = ${'cancelling'}` },
];

function refusal(stored: StoredSubmission | undefined, owner: string, nowMs: number): Claim | undefined {
  if (stored === undefined) return { outcome: 'missing' };
  const { submission } = stored;
  const { done, leaseOwner, leaseUntilMs = GIVEN_UP_MS } = submission.fanOut;
  if (done || !isOpen(submission.state) || submission.state === 'finalizing') return { outcome: 'over', submission };
  const held = leaseOwner !== undefined && leaseOwner !== owner && leaseUntilMs > nowMs;
  return held ? { outcome: 'busy', untilMs: leaseUntilMs } : undefined;
}

/** What fan-out does to the head item. */
export function submissionFanOut(table: SubmissionTable): FanOut {
  return {
    async claimFanOut({ submissionId, owner, nowMs, leaseMs }) {
      const lease = expr`#fanOut.#leaseOwner = ${owner}, #fanOut.#leaseUntilMs = ${nowMs + leaseMs}`;
      const free = expr`#fanOut.#done = ${false} AND ${isFree(LEASE, owner, nowMs)}`;
      for (let round = 0; round < MAX_ROUNDS; round++) {
        for (const form of CLAIM_FORMS) {
          const set = expr`SET ${form.set}${lease}, #updatedAtMs = ${nowMs}`;
          const changed = await table.change(submissionId, set, expr`${form.when} AND ${free}`);
          if (changed.applied) return { outcome: 'claimed', submission: changed.stored.submission };
          const refused = refusal(changed.stored, owner, nowMs);
          if (refused !== undefined) return refused;
        }
      }
      throw new DependencyUnavailableError(
        `The fan-out lease on ${submissionId} could not be claimed: too many races.`,
      );
    },

    async decideLane(submissionId, owner, lane) {
      const set = expr`SET #lane = if_not_exists(#lane, ${lane})`;
      const changed = await table.change(submissionId, set, expr`#fanOut.#leaseOwner = ${owner}`);
      const { lane: standing } = mustOwn(changed, 'fanOut', owner, submissionId);
      return standing ?? lane;
    },

    async checkpointFanOut(submissionId, owner, progress, lease) {
      const { byteOffset, records, line, dialect } = progress;
      const movedAtMs = lease === 'release' ? table.now() : lease.nowMs;
      const position = expr`#fanOut.#byteOffset = ${byteOffset}, #fanOut.#records = ${records}, #fanOut.#line = ${line}`;
      const columns = dialect === undefined ? expr`` : expr`, #fanOut.#dialect = ${dialect}`;
      const changed = await table.change(
        submissionId,
        expr`SET ${position}${columns}, #fanOut.#leaseUntilMs = ${leaseEnd(lease)},
          #updatedAtMs = ${movedAtMs}, #progressAtMs = ${movedAtMs}`,
        // A late repetition of an earlier checkpoint must not take the position back.
        expr`#fanOut.#leaseOwner = ${owner} AND #fanOut.#done = ${false} AND #fanOut.#byteOffset <= ${byteOffset}`,
      );
      return mustOwn(changed, 'fanOut', owner, submissionId);
    },

    async setPrepared(submissionId, owner, prepared, nowMs) {
      const changed = await table.change(
        submissionId,
        expr`SET #prepared = ${prepared}, #fanOut.#leaseUntilMs = ${GIVEN_UP_MS},
          #updatedAtMs = ${nowMs}, #progressAtMs = ${nowMs}`,
        expr`#fanOut.#leaseOwner = ${owner} AND attribute_not_exists(#lane)`,
      );
      return mustOwn(changed, 'fanOut', owner, submissionId);
    },

    async completeFanOut(submissionId, owner, records, nowMs) {
      const changed = await table.change(
        submissionId,
        expr`SET #fanOut.#done = ${true}, #fanOut.#records = ${records}, #fanOut.#leaseUntilMs = ${GIVEN_UP_MS},
          #updatedAtMs = ${nowMs}, #progressAtMs = ${nowMs}`,
        expr`#fanOut.#leaseOwner = ${owner} AND #fanOut.#done = ${false}`,
      );
      return mustOwn(changed, 'fanOut', owner, submissionId);
    },

    async reject(submissionId, owner, rejection, nowMs) {
      const changed = await table.change(
        submissionId,
        expr`SET #state = ${'rejected'}, #rejection = ${rejection}, #fanOut.#leaseUntilMs = ${GIVEN_UP_MS},
          #updatedAtMs = ${nowMs}, #progressAtMs = ${nowMs} REMOVE #nextCheckAtMs, #openShard`,
        // The lane is written before the first message is sent.
        expr`#fanOut.#leaseOwner = ${owner} AND #fanOut.#done = ${false} AND #fanOut.#records = ${0}
          AND attribute_not_exists(#lane) AND ${isIn('state', OPEN_STATES)}`,
      );
      return mustOwn(changed, 'fanOut', owner, submissionId);
    },
  };
}
