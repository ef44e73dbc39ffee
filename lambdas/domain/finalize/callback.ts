import { encodeBody, MESSAGE_VERSION, type FinalizeMessage } from '../queues/messages.ts';
import { isOpen, type Submission } from '../model.ts';
import type { QueueSender } from '../queues/ports.ts';
import type { TransportResult } from '../providers/ports.ts';
import { sendOne } from '../submissions/slices.ts';
import type { FinalizeDeps } from './deps.ts';

/** Wait before the second delivery; each further one waits three times as long, up to {@link LONGEST_WAIT_MS}. */
const FIRST_WAIT_MS = 10_000;
const LONGEST_WAIT_MS = 900_000;
/** The answer is not looked at, only its status. */
const MAX_ANSWER_BYTES = 1_024;

/** Asks for the delivery of a submission's callback, where it has one. Repeated, the customer may be told twice. */
export async function requestCallback(
  deps: { finalizeQueue: QueueSender },
  { submissionId, tenantId, callbackUrl }: Pick<Submission, 'submissionId' | 'tenantId' | 'callbackUrl'>,
  { attempt, delayMs }: { attempt: number; delayMs: number } = { attempt: 1, delayMs: 0 },
): Promise<void> {
  if (callbackUrl === undefined) return;
  const message: FinalizeMessage = { v: MESSAGE_VERSION, kind: 'callback', submissionId, tenantId, attempt };
  await sendOne(deps.finalizeQueue, message, delayMs);
}

/**
 * Tells the customer's callback URL how the submission ended: a POST with JSON. Deliveries are at least once, and unsigned, since a tenant has no
 * secret for that: a receiver asks the API for what it needs to trust. Anything but a 2xx is tried again, up to
 * `settings.callbackAttempts` times.
 */
export async function deliverCallback(deps: FinalizeDeps, message: FinalizeMessage): Promise<void> {
  const submission = await deps.submissions.get(message.submissionId);
  // Open again: it is being replayed, and its next end has a callback of its own.
  if (submission?.callbackUrl === undefined || isOpen(submission.state)) return;
  const { submissionId, resultsVersion, callbackUrl } = submission;
  const startedMs = deps.clock.now();
  const result = await deps.callbacks.request({
    method: 'POST',
    url: callbackUrl,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'sluice',
      // The same for every delivery of the same end: what a receiver recognises repetitions by.
      'sluice-delivery': `${submissionId}/${resultsVersion}`,
    },
    body: encodeBody(callbackBody(submission)),
    timeoutMs: deps.settings.callbackTimeoutMs,
    maxBodyBytes: MAX_ANSWER_BYTES,
  });
  const attempt = message.attempt ?? 1;
  const about = { submissionId, tenantId: submission.tenantId, attempt, durationMs: deps.clock.now() - startedMs };
  if (isDelivered(result)) {
    deps.telemetry.emit({ name: 'callback_delivered', level: 'info', ...about });
    return;
  }
  const isLast = attempt >= deps.settings.callbackAttempts || isRefused(result);
  deps.telemetry.emit({
    name: 'callback_failed',
    level: isLast ? 'warn' : 'info',
    outcome: isLast ? 'given_up' : 'retried',
    detail: describe(result),
    ...about,
  });
  if (!isLast) await requestCallback(deps, submission, { attempt: attempt + 1, delayMs: waitAfter(attempt, deps) });
}

function callbackBody({ submissionId, state, reference, resultsVersion, finalCounts, rejection }: Submission) {
  const { failures: _failures, ...counts } = finalCounts ?? {};
  return { submissionId, state, counts: finalCounts ? counts : null, reference, resultsVersion, rejection };
}

const isDelivered = (result: TransportResult): boolean =>
  result.kind === 'response' && result.status >= 200 && result.status <= 299;

/** Not a public address, or not https: no repetition makes it one. */
const isRefused = (result: TransportResult): boolean => result.kind === 'failure' && result.cause === 'refused_target';

const describe = (result: TransportResult): string =>
  result.kind === 'response' ? `status ${result.status}` : result.cause;

/** Half of the wait is random, so that the callbacks of an outage do not return together. */
function waitAfter(attempt: number, { random }: FinalizeDeps): number {
  const wait = Math.min(FIRST_WAIT_MS * 3 ** (attempt - 1), LONGEST_WAIT_MS);
  return Math.round(wait / 2 + (wait / 2) * random());
}
