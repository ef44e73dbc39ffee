import type { TransportResult } from '../providers/ports.ts';
import type { DeliveryMessage } from '../queues/messages.ts';
import type { WebhookDeps } from './deps.ts';
import {
  CALLBACK_ENDPOINT,
  type Attempt,
  type DeliveryState,
  type Endpoint,
  type Secrets,
  type WebhookDelivery,
} from './model.ts';
import { sendDelivery } from './publish.ts';
import { retryAfterMs, waitAfter } from './schedule.ts';
import { signedHeaders } from './signature.ts';

/** Where a delivery goes and what it is signed with. */
interface Target {
  url: string;
  secrets: Secrets | undefined;
  /** Absent for a callback. */
  endpoint?: Endpoint;
}

const GONE = 410;

/**
 * Makes one attempt of a delivery. Its message is acknowledged when the outcome is stored and the next attempt, where there is one, is on
 * the queue. A copy of a message whose attempt is noted does nothing.
 */
export async function deliver(deps: WebhookDeps, message: DeliveryMessage): Promise<void> {
  const { tenantId, deliveryId, attempt, notBeforeMs = 0 } = message;
  const delivery = await deps.webhooks.getDelivery(tenantId, deliveryId);
  if (delivery?.state !== 'pending' || delivery.attempts >= attempt) return;
  const waitMs = notBeforeMs - deps.clock.now();
  // Longer than a queue delays a message: in hops.
  if (waitMs > 0) return sendDelivery(deps, delivery, { afterAttempt: attempt - 1, notBeforeMs, delayMs: waitMs });
  const target = await targetOf(deps, delivery);
  if (target === undefined) return endDisabled(deps, delivery);
  const { result, made } = await send(deps, delivery, target);
  await settle(deps, { delivery, target, attempt, result, made });
}

async function targetOf(
  { webhooks }: WebhookDeps,
  { tenantId, endpointId, url }: WebhookDelivery,
): Promise<Target | undefined> {
  const secrets = async (): Promise<Secrets | undefined> => webhooks.getSecrets(tenantId, endpointId);
  if (endpointId === CALLBACK_ENDPOINT) return url === undefined ? undefined : { url, secrets: await secrets() };
  const endpoint = await webhooks.getEndpoint(tenantId, endpointId);
  if (endpoint === undefined || endpoint.disabledBecause !== undefined) return undefined;
  return { url: endpoint.url, secrets: await secrets(), endpoint };
}

async function endDisabled({ webhooks, clock, telemetry }: WebhookDeps, delivery: WebhookDelivery): Promise<void> {
  await webhooks.endDelivery(delivery, 'disabled', clock.now());
  telemetry.emit({ name: 'webhook_ended', level: 'info', ...about(delivery), outcome: 'disabled' });
}

async function send(
  { transport, clock, settings }: WebhookDeps,
  delivery: WebhookDelivery,
  { url, secrets }: Target,
): Promise<{ result: TransportResult; made: Attempt }> {
  const atMs = clock.now();
  const result = await transport.request({
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'sluice',
      ...signedHeaders(delivery, secrets, atMs),
    },
    body: delivery.body,
    timeoutMs: settings.timeoutMs,
    maxBodyBytes: settings.excerptBytes,
  });
  const durationMs = clock.now() - atMs;
  if (result.kind === 'failure') return { result, made: { atMs, durationMs, failure: result.cause } };
  const excerpt = excerptOf(result.body);
  return { result, made: { atMs, durationMs, status: result.status, ...(excerpt !== '' && { excerpt }) } };
}

/** What can be shown of an answer. */
const excerptOf = (body: Uint8Array): string =>
  new TextDecoder()
    .decode(body)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\ufffd]+/gu, ' ')
    .trim();

interface Made {
  delivery: WebhookDelivery;
  target: Target;
  attempt: number;
  result: TransportResult;
  made: Attempt;
}

async function settle(deps: WebhookDeps, { delivery, target, attempt, result, made }: Made): Promise<void> {
  const { webhooks, clock, random, telemetry } = deps;
  const isGone = result.kind === 'response' && result.status === GONE;
  // First, so that deliveries which come next find it.
  if (isGone && target.endpoint) await webhooks.disableEndpoint(target.endpoint, 'gone', clock.now());
  const ended = endOf(result, target);
  const asked = result.kind === 'response' ? retryAfterMs(result.headers, clock.now()) : undefined;
  const waitMs = ended === undefined ? waitAfter(attempt - delivery.attemptsBefore, asked, random) : undefined;
  const state = ended ?? (waitMs === undefined ? 'given_up' : 'pending');
  const outcome = { state, attempt, lastAttempt: made };
  if (waitMs === undefined) {
    await webhooks.recordAttempt(delivery, outcome);
  } else {
    const notBeforeMs = clock.now() + waitMs;
    await sendDelivery(deps, delivery, { afterAttempt: attempt, notBeforeMs, delayMs: waitMs });
    await webhooks.recordAttempt(delivery, { ...outcome, nextAttemptAtMs: notBeforeMs });
  }
  telemetry.emit({
    ...(state === 'pending' ? { name: 'webhook_retried' } : { name: 'webhook_ended' }),
    level: state === 'given_up' ? 'warn' : 'info',
    ...about(delivery),
    attempt,
    outcome: state,
    detail: made.status === undefined ? (made.failure ?? '') : `status ${made.status}`,
    durationMs: made.durationMs,
  });
}

/** How this answer ends the delivery; undefined where another attempt may follow. */
function endOf(result: TransportResult, { endpoint }: Target): DeliveryState | undefined {
  // Not a public address, or not https: no repetition makes it one.
  if (result.kind === 'failure') return result.cause === 'refused_target' ? 'given_up' : undefined;
  if (result.status === GONE) return endpoint ? 'disabled' : 'given_up';
  return result.status >= 200 && result.status <= 299 ? 'delivered' : undefined;
}

const about = ({ tenantId, submissionId, attempts }: WebhookDelivery) => ({
  tenantId,
  ...(submissionId !== undefined && { submissionId }),
  attempt: attempts,
});
