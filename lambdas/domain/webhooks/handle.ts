import type { WebhookMessage } from '../queues/messages.ts';
import { deliver } from './deliver.ts';
import type { WebhookDeps } from './deps.ts';
import { publishEvent } from './publish.ts';

/** Works one message of the webhooks' queue. */
export const handleWebhookMessage = async (deps: WebhookDeps, message: WebhookMessage): Promise<void> =>
  message.kind === 'event' ? publishEvent(deps, message) : deliver(deps, message);
