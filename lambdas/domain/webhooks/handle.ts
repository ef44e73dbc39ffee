import { isPassingFailure } from '../errors.ts';
import type { WebhookMessage } from '../queues/messages.ts';
import { retryDelay, sendOne, SLICE_DEFAULTS } from '../submissions/slices.ts';
import { deliver } from './deliver.ts';
import type { WebhookDeps } from './deps.ts';
import { publishEvent } from './publish.ts';

/** Works one message of the webhooks' queue. What a dependency keeps from being done waits as a new message, however long that lasts. */
export async function handleWebhookMessage(deps: WebhookDeps, message: WebhookMessage): Promise<void> {
  try {
    await (message.kind === 'event' ? publishEvent(deps, message) : deliver(deps, message));
  } catch (error) {
    if (!isPassingFailure(error)) throw error;
    const { tenantId, submissionId } = message;
    const about = { tenantId, ...(submissionId !== undefined && { submissionId }) };
    deps.telemetry.emit({ name: 'unexpected_error', level: 'warn', ...about, error });
    await sendOne(deps.webhookQueue, message, retryDelay(error, { random: deps.random, settings: SLICE_DEFAULTS }));
  }
}
