import { DependencyUnavailableError } from '../../domain/errors.ts';
import { chunkCount, isOpen, OPEN_STATES, type Submission } from '../../domain/model.ts';
import type { SubmissionStore } from '../../domain/submissions/ports.ts';
import { expr, isIn, type Expression } from './expression.ts';
import { openShardOf } from './submission-item.ts';
import { MAX_ROUNDS, missing, type SubmissionTable } from './submission-table.ts';

type Control = Pick<SubmissionStore, 'requestStop' | 'giveUpResults' | 'reopen'>;
type Reopening = Parameters<SubmissionStore['reopen']>[1];

/** A reopened submission is looked at this much later, so that a replay that dies at once is noticed. */
const CHECK_AFTER_REOPEN_MS = 60_000;

const STOP_FORMS: Record<'cancelled' | 'expired', { set: Expression; when: Expression }[]> = {
  cancelled: [
    { set: expr`, #state = ${'cancelling'}`, when: isIn('state', ['accepted', 'processing', 'cancelling']) },
    { set: expr``, when: expr`#state = ${'finalizing'}` },
  ],
  expired: [{ set: expr``, when: isIn('state', OPEN_STATES) }],
};

/** The head of a closed submission does not list its chunks, since all are closed: those that stay so are listed again. */
function othersThan(chunks: readonly number[], { fanOut }: Submission): Expression {
  const opened = new Set(chunks);
  const closed = Array.from({ length: chunkCount(fanOut.records) }, (_, chunk) => chunk).filter(
    (chunk) => !opened.has(chunk),
  );
  return closed.length === 0 ? expr`` : expr`, #closedChunks = ${new Set(closed)}`;
}

function reopening(read: Submission, { chunks, generation, nowMs, deadlineAtMs }: Reopening): Expression {
  const { submissionId } = read;
  const set = expr`SET #state = ${'processing'}, #generation = ${generation},
    #deadlineAtMs = ${Math.max(read.deadlineAtMs, deadlineAtMs)}, #openShard = ${openShardOf(submissionId)},
    #nextCheckAtMs = ${nowMs + CHECK_AFTER_REOPEN_MS}, #updatedAtMs = ${nowMs}, #progressAtMs = ${nowMs}`;
  // The order that ended it is over; one that came while it was open still stands, also for what is replayed.
  const isNewStart = generation > read.generation && !isOpen(read.state);
  // What it has ended stays ended: messages of those records may still be on their way.
  const ended = isNewStart && read.stop !== undefined ? expr`, #stoppedGeneration = ${read.generation}` : expr``;
  const remove = isNewStart ? expr`REMOVE #finalize, #stop` : expr`REMOVE #finalize`;
  if (!isOpen(read.state)) return expr`${set}${ended}${othersThan(chunks, read)} ${remove}`;
  const open = chunks.length === 0 ? expr`` : expr`DELETE #closedChunks ${new Set(chunks)}`;
  return expr`${set}${ended} ${remove} ${open}`;
}

/** Stopping a submission, and taking a finished one up again. */
export function submissionControl(table: SubmissionTable): Control {
  return {
    async requestStop(submissionId, stop) {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        for (const form of STOP_FORMS[stop.kind]) {
          const changed = await table.change(
            submissionId,
            expr`SET #stop = ${stop}, #updatedAtMs = ${stop.atMs}${form.set}`,
            expr`attribute_not_exists(#stop) AND ${form.when}`,
          );
          const submission = changed.stored?.submission;
          if (changed.applied || submission === undefined) return submission;
          if (submission.stop !== undefined || !isOpen(submission.state)) return submission;
        }
      }
      throw new DependencyUnavailableError(`The stop order of ${submissionId} could not be written: too many races.`);
    },

    async giveUpResults(submissionId, generation) {
      const { applied } = await table.change(
        submissionId,
        expr`SET #givenUpGeneration = ${generation}`,
        expr`#state = ${'finalizing'} AND #generation = ${generation}`,
      );
      return applied;
    },

    async reopen(submissionId, change) {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const read = (await table.find(submissionId))?.submission;
        if (read === undefined) throw missing(submissionId);
        if (read.state === 'rejected' || change.generation < read.generation) return read;
        const changed = await table.change(
          submissionId,
          reopening(read, change),
          expr`#state = ${read.state} AND #generation = ${read.generation} AND #deadlineAtMs = ${read.deadlineAtMs}`,
        );
        if (changed.applied) return changed.stored.submission;
      }
      throw new DependencyUnavailableError(`The submission ${submissionId} could not be reopened: too many races.`);
    },
  };
}
