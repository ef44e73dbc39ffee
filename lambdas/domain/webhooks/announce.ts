import { isOpen, type ClosedState, type Counts, type Submission } from '../model.ts';
import { MESSAGE_VERSION, type WebhookMessage } from '../queues/messages.ts';
import type { QueueSender } from '../queues/ports.ts';
import { sendOne } from '../submissions/slices.ts';
import { EVENT_OF_STATE, type SubmissionEnd } from './model.ts';

/**
 * Announces the end of a submission. Whoever ended it repeats this when its message is delivered again, so every end is announced at least
 * once, each time under the same id: one per generation, since a generation ends once.
 */
export async function announceEnd({ webhookQueue }: { webhookQueue: QueueSender }, ended: Submission): Promise<void> {
  const { submissionId, tenantId, state, callbackUrl, generation, expiresAtSeconds, updatedAtMs } = ended;
  if (isOpen(state)) return;
  const message: WebhookMessage = {
    v: MESSAGE_VERSION,
    kind: 'event',
    submissionId,
    tenantId,
    eventId: eventIdOf(submissionId, generation),
    event: {
      type: EVENT_OF_STATE[state],
      timestamp: new Date(updatedAtMs).toISOString(),
      data: { ...endOf(ended, state) },
    },
    ...(callbackUrl !== undefined && { callbackUrl }),
    expiresAtSeconds,
  };
  await sendOne(webhookQueue, message);
}

export const eventIdOf = (submissionId: string, generation: number): string =>
  `evt_${submissionId.replace(/^sub_/, '')}_${generation}`;

function endOf(ended: Submission, state: ClosedState): SubmissionEnd {
  const { submissionId, storedState, finalCounts, reference, resultsVersion, rejection } = ended;
  return {
    submissionId,
    state: storedState ?? state,
    counts: finalCounts === undefined ? null : countsOf(finalCounts),
    ...(reference !== undefined && { reference }),
    resultsVersion,
    ...(rejection && { rejection }),
  };
}

/** Without the failures by reason: the submission has those. */
const countsOf = ({ total, pending, succeeded, failed, cancelled }: Counts): Counts => ({
  total,
  pending,
  succeeded,
  failed,
  cancelled,
});
