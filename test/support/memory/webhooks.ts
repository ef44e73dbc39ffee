import { InvalidCursorError } from '../../../lambdas/domain/errors.ts';
import type { Endpoint, Secrets, WebhookDelivery } from '../../../lambdas/domain/webhooks/model.ts';
import type {
  DeliveryStore,
  EndpointStore,
  SecretStore,
  WebhookStore,
} from '../../../lambdas/domain/webhooks/ports.ts';

/** {@link WebhookStore} in memory, and every delivery in it. */
export interface MemoryWebhooks extends WebhookStore {
  deliveries(): WebhookDelivery[];
}

export function createMemoryWebhooks(): MemoryWebhooks {
  const stored = new Map<string, WebhookDelivery>();
  return {
    ...endpoints(),
    ...secrets(),
    ...deliveries(stored),
    deliveries: () => structuredClone([...stored.values()]),
  };
}

const keyOf = (...parts: string[]): string => parts.join('/');

function endpoints(): EndpointStore {
  const stored = new Map<string, Endpoint>();
  const removed = new Set<string>();
  return {
    listEndpoints: async (tenantId) => [...stored.values()].filter((endpoint) => endpoint.tenantId === tenantId),
    getEndpoint: async (tenantId, endpointId) => stored.get(keyOf(tenantId, endpointId)),
    async putEndpoint(endpoint) {
      const key = keyOf(endpoint.tenantId, endpoint.endpointId);
      if (removed.has(key)) return false;
      stored.set(key, endpoint);
      return true;
    },
    async disableEndpoint({ tenantId, endpointId, url }, disabledBecause, updatedAtMs) {
      const key = keyOf(tenantId, endpointId);
      const standing = stored.get(key);
      if (standing?.url === url) stored.set(key, { ...standing, disabledBecause, updatedAtMs });
    },
    async removeEndpoint(tenantId, endpointId) {
      const key = keyOf(tenantId, endpointId);
      removed.add(key);
      return stored.delete(key);
    },
  };
}

function secrets(): SecretStore {
  const stored = new Map<string, Secrets>();
  return {
    getSecrets: async (tenantId, endpointId) => stored.get(keyOf(tenantId, endpointId)),
    async rotateSecret(tenantId, endpointId, current, previousUntilMs) {
      const key = keyOf(tenantId, endpointId);
      const before = stored.get(key);
      if (before?.current === current) return;
      stored.set(key, before ? { current, previous: before.current, previousUntilMs } : { current });
    },
    removeSecrets: async (tenantId, endpointId) => void stored.delete(keyOf(tenantId, endpointId)),
  };
}

function deliveries(stored: Map<string, WebhookDelivery>): DeliveryStore {
  const change = (
    { tenantId, deliveryId }: Pick<WebhookDelivery, 'tenantId' | 'deliveryId'>,
    when: (standing: WebhookDelivery) => boolean,
    { nextAttemptAtMs, ...changed }: Partial<WebhookDelivery>,
  ): WebhookDelivery | undefined => {
    const standing = stored.get(keyOf(tenantId, deliveryId));
    if (standing === undefined || !when(standing)) return undefined;
    const { nextAttemptAtMs: _, ...kept } = standing;
    const written = { ...kept, ...changed, ...(nextAttemptAtMs !== undefined && { nextAttemptAtMs }) };
    stored.set(keyOf(tenantId, deliveryId), written);
    return written;
  };
  return {
    async createDelivery(delivery) {
      const key = keyOf(delivery.tenantId, delivery.deliveryId);
      const standing = stored.get(key) ?? delivery;
      stored.set(key, standing);
      return standing;
    },
    getDelivery: async (tenantId, deliveryId) => stored.get(keyOf(tenantId, deliveryId)),
    async recordAttempt(delivery, { attempt, ...outcome }) {
      const changed = { ...outcome, attempts: attempt, updatedAtMs: outcome.lastAttempt.atMs };
      change(delivery, ({ attempts }) => attempts < attempt, changed);
    },
    async endDelivery(delivery, state, updatedAtMs) {
      change(delivery, (standing) => standing.state === 'pending', { state, updatedAtMs });
    },
    async restartDelivery(tenantId, deliveryId, nowMs) {
      const attemptsBefore = stored.get(keyOf(tenantId, deliveryId))?.attempts ?? 0;
      const changed = { state: 'pending' as const, attemptsBefore, updatedAtMs: nowMs, nextAttemptAtMs: nowMs };
      return change({ tenantId, deliveryId }, () => true, changed);
    },
    async listDeliveries({ tenantId, endpointId, submissionId, state, limit, cursor = '0' }) {
      const from = Number(cursor);
      if (!Number.isSafeInteger(from)) throw new InvalidCursorError('The cursor is not one that this list gave.');
      const wanted = [...stored.values()]
        .filter((delivery) => delivery.tenantId === tenantId)
        .filter((delivery) => endpointId === undefined || delivery.endpointId === endpointId)
        .filter((delivery) => submissionId === undefined || delivery.submissionId === submissionId)
        .filter((delivery) => state === undefined || delivery.state === state)
        .toSorted((a, b) => b.createdAtMs - a.createdAtMs);
      const items = wanted.slice(from, from + limit);
      return from + limit < wanted.length ? { items, nextCursor: String(from + limit) } : { items };
    },
  };
}
