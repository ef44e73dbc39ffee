import { randomUUID } from 'node:crypto';
import type { Claim, SubmissionStore } from '../../domain/submissions/ports.ts';
import { expr, isIn } from './expression.ts';
import { GIVEN_UP_MS, type StoredSubmission } from './submission-item.ts';
import { isFree, leaseEnd, mustOwn, present, type SubmissionTable } from './submission-table.ts';

type Finalize = Pick<
  SubmissionStore,
  'closeChunks' | 'beginFinalizing' | 'claimFinalize' | 'checkpointFinalize' | 'finish' | 'finishWithoutResults'
>;

const LEASE = expr`#finalize`;

function refusal(stored: StoredSubmission | undefined, nowMs: number): Claim {
  if (stored === undefined) return { outcome: 'missing' };
  const { submission } = stored;
  if (submission.state !== 'finalizing') return { outcome: 'over', submission };
  return { outcome: 'busy', untilMs: submission.finalize?.leaseUntilMs ?? nowMs };
}

/** How a submission ends: chunks close, one caller starts finalization, a leased finalizer finishes it. */
export function submissionFinalize(table: SubmissionTable): Finalize {
  return {
    async closeChunks(submissionId, chunks, nowMs) {
      const times = expr`SET #updatedAtMs = ${nowMs}, #progressAtMs = ${nowMs}`;
      if (chunks.length === 0) return present({ applied: false, stored: await table.find(submissionId) }, submissionId);
      return present(
        await table.change(submissionId, expr`${times} ADD #closedChunks ${new Set(chunks)}`),
        submissionId,
      );
    },

    async beginFinalizing(submissionId, chunks, nowMs) {
      // Only the SDK's own repetition carries the same token: a write that was applied and not answered is recognised by it.
      const token = randomUUID();
      const allClosed =
        chunks === 0 ? expr`attribute_not_exists(#closedChunks)` : expr`size(#closedChunks) = ${chunks}`;
      const { applied, stored } = await table.change(
        submissionId,
        expr`SET #state = ${'finalizing'}, #finalize = ${{ nextPart: 1, partAtMs: nowMs }}, #finalizingBy = ${token},
          #updatedAtMs = ${nowMs}, #progressAtMs = ${nowMs}`,
        expr`${isIn('state', ['processing', 'cancelling'])} AND #fanOut.#done = ${true} AND ${allClosed}`,
      );
      return applied || stored?.finalizingBy === token;
    },

    async claimFinalize({ submissionId, owner, nowMs, leaseMs }) {
      const changed = await table.change(
        submissionId,
        expr`SET #finalize.#leaseOwner = ${owner}, #finalize.#leaseUntilMs = ${nowMs + leaseMs}, #updatedAtMs = ${nowMs}`,
        expr`#state = ${'finalizing'} AND ${isFree(LEASE, owner, nowMs)}`,
      );
      return changed.applied
        ? { outcome: 'claimed', submission: changed.stored.submission }
        : refusal(changed.stored, nowMs);
    },

    async checkpointFinalize(submissionId, owner, { nextPart, partAtMs }, lease) {
      const part = partAtMs === undefined ? expr`` : expr`, #finalize.#partAtMs = ${partAtMs}`;
      const movedAtMs = lease === 'release' ? table.now() : lease.nowMs;
      const changed = await table.change(
        submissionId,
        expr`SET #finalize.#nextPart = ${nextPart}, #finalize.#leaseUntilMs = ${leaseEnd(lease)},
          #updatedAtMs = ${movedAtMs}, #progressAtMs = ${movedAtMs}${part}`,
        expr`#state = ${'finalizing'} AND #finalize.#leaseOwner = ${owner} AND #finalize.#nextPart <= ${nextPart}`,
      );
      return mustOwn(changed, 'finalize', owner, submissionId);
    },

    async finish(submissionId, owner, { state, resultsVersion, counts, nowMs }) {
      const changed = await table.change(
        submissionId,
        expr`SET #state = ${state}, #resultsVersion = ${resultsVersion}, #finalCounts = ${counts},
          #finalize.#leaseUntilMs = ${GIVEN_UP_MS}, #updatedAtMs = ${nowMs}, #progressAtMs = ${nowMs}
          REMOVE #nextCheckAtMs, #openShard, #closedChunks`,
        expr`#state = ${'finalizing'} AND #finalize.#leaseOwner = ${owner}`,
      );
      return mustOwn(changed, 'finalize', owner, submissionId);
    },

    async finishWithoutResults(submissionId, owner, rejection, nowMs) {
      const changed = await table.change(
        submissionId,
        expr`SET #state = ${'rejected'}, #rejection = ${rejection}, #finalize.#leaseUntilMs = ${GIVEN_UP_MS},
          #updatedAtMs = ${nowMs}, #progressAtMs = ${nowMs} REMOVE #nextCheckAtMs, #openShard`,
        expr`#state = ${'finalizing'} AND #finalize.#leaseOwner = ${owner}`,
      );
      return mustOwn(changed, 'finalize', owner, submissionId);
    },
  };
}
