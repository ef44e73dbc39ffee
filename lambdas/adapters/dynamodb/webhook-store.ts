import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Clock } from '../../domain/time.ts';
import type { DeliveryStore, EndpointStore, SecretStore, WebhookStore } from '../../domain/webhooks/ports.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { DynamoTable, parseItem } from './dynamo.ts';
import { expr } from './expression.ts';
import {
  DELIVERIES_INDEX,
  deliveryKey,
  endpointKey,
  parseDelivery,
  parseEndpoint,
  parseSecrets,
  secretKey,
} from './webhook-item.ts';

/** Deliveries that one call looks at, at most: a filter that matches nothing answers with a cursor, not with a timeout. */
const MAX_EXAMINED = 1_000;
const PAGE = 100;
/** Removed endpoints are kept until nothing of them is on its way any more. */
const KEEP_REMOVED_SECONDS = 30 * 86_400;

const positionSchema = v.tuple([
  v.pipe(v.number(), v.safeInteger()),
  v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
]);
const entrySchema = v.object({ part: v.string(), createdAtMs: v.number() });

/** Endpoints, their secrets and their deliveries in the webhooks table. */
export function createWebhookStore(client: DynamoDBDocumentClient, tableName: string, clock: Clock): WebhookStore {
  const table = new DynamoTable(client, tableName, clock);
  return { ...endpointStore(table), ...secretStore(table), ...deliveryStore(table) };
}

const isStored = expr`attribute_exists(#part) AND attribute_not_exists(#removedAtMs)`;

const endpointStore = (table: DynamoTable): EndpointStore => ({
  async listEndpoints(tenantId) {
    const { owner } = endpointKey(tenantId, '');
    const items = await table.queryAll({ where: expr`#owner = ${owner}` });
    return items.flatMap((item) => parseEndpoint(item) ?? []);
  },
  async getEndpoint(tenantId, endpointId) {
    const item = await table.get(endpointKey(tenantId, endpointId));
    return item && parseEndpoint(item);
  },
  async putEndpoint({ endpointId, ...endpoint }) {
    const when = expr`attribute_not_exists(#removedAtMs)`;
    return (await table.put(endpointKey(endpoint.tenantId, endpointId), endpoint, when)).applied;
  },
  async disableEndpoint({ tenantId, endpointId, url }, because, nowMs) {
    await table.update(
      endpointKey(tenantId, endpointId),
      expr`SET #disabledBecause = ${because}, #updatedAtMs = ${nowMs}`,
      expr`${isStored} AND #url = ${url}`,
    );
  },
  async removeEndpoint(tenantId, endpointId, nowMs) {
    const expiresAtSeconds = Math.ceil(nowMs / 1_000) + KEEP_REMOVED_SECONDS;
    const change = expr`SET #removedAtMs = ${nowMs}, #expiresAtSeconds = ${expiresAtSeconds}`;
    return (await table.update(endpointKey(tenantId, endpointId), change, isStored)).applied;
  },
});

const secretStore = (table: DynamoTable): SecretStore => ({
  async getSecrets(tenantId, endpointId) {
    const item = await table.get(secretKey(tenantId, endpointId));
    return item && parseSecrets(item);
  },
  async rotateSecret(tenantId, endpointId, secret, previousUntilMs) {
    const key = secretKey(tenantId, endpointId);
    const isFirst = expr`attribute_not_exists(#current)`;
    if ((await table.update(key, expr`SET #current = ${secret}`, isFirst)).applied) return;
    const change = expr`SET #previous = #current, #previousUntilMs = ${previousUntilMs}, #current = ${secret}`;
    // Repeated after a lost reply, it would make the new secret its own predecessor.
    await table.update(key, change, expr`#current <> ${secret}`);
  },
  async removeSecrets(tenantId, endpointId) {
    await table.update(secretKey(tenantId, endpointId), expr`REMOVE #current, #previous, #previousUntilMs`, isStored);
  },
});

const deliveryStore = (table: DynamoTable): DeliveryStore => ({
  async createDelivery({ deliveryId, ...delivery }) {
    const created = await table.put(
      deliveryKey(delivery.tenantId, deliveryId),
      delivery,
      expr`attribute_not_exists(#part)`,
    );
    if (created.applied) return { deliveryId, ...delivery };
    const standing = await created.standing();
    return standing === undefined ? { deliveryId, ...delivery } : parseDelivery(standing);
  },
  async getDelivery(tenantId, deliveryId) {
    const item = await table.get(deliveryKey(tenantId, deliveryId));
    return item && parseDelivery(item);
  },
  async recordAttempt({ tenantId, deliveryId }, { state, attempt, lastAttempt, nextAttemptAtMs }) {
    const set = expr`SET #state = ${state}, #attempts = ${attempt}, #lastAttempt = ${lastAttempt}, #updatedAtMs = ${lastAttempt.atMs}`;
    const change =
      nextAttemptAtMs === undefined
        ? expr`${set} REMOVE #nextAttemptAtMs`
        : expr`${set}, #nextAttemptAtMs = ${nextAttemptAtMs}`;
    await table.update(deliveryKey(tenantId, deliveryId), change, expr`#attempts < ${attempt}`);
  },
  async endDelivery({ tenantId, deliveryId }, state, nowMs) {
    const change = expr`SET #state = ${state}, #updatedAtMs = ${nowMs} REMOVE #nextAttemptAtMs`;
    await table.update(deliveryKey(tenantId, deliveryId), change, expr`#state = ${'pending'}`);
  },
  async restartDelivery(tenantId, deliveryId, nowMs) {
    const change = expr`SET #state = ${'pending'}, #attemptsBefore = #attempts, #updatedAtMs = ${nowMs}, #nextAttemptAtMs = ${nowMs}`;
    const restarted = await table.update(deliveryKey(tenantId, deliveryId), change, expr`attribute_exists(#part)`);
    return restarted.applied ? parseDelivery(restarted.item) : undefined;
  },
  async listDeliveries({ tenantId, endpointId, submissionId, state, limit, cursor }) {
    const scope = ['deliveries', tenantId, endpointId, submissionId, state].join(' ');
    const { owner = '' } = deliveryKey(tenantId, '');
    let position = cursor === undefined ? undefined : decodeCursor(scope, positionSchema, cursor);
    const items = [];
    for (let examined = 0; examined < MAX_EXAMINED; examined += PAGE) {
      const after = position && { owner, part: position[1], createdAtMs: position[0] };
      const where = expr`#owner = ${owner}`;
      const page = await table.queryPage({
        index: DELIVERIES_INDEX,
        where,
        descending: true,
        limit: PAGE,
        ...(after && { after }),
      });
      const entries = page.items.map((item) => parseItem(entrySchema, item, 'entry of the index byCreation'));
      const stored = await table.getMany(entries.map(({ part }) => deliveryKey(tenantId, part)));
      const byId = new Map(stored.map((item) => [item['part'], parseDelivery(item)]));
      for (const [index, { part, createdAtMs }] of entries.entries()) {
        position = [createdAtMs, part];
        const delivery = byId.get(part);
        if (delivery === undefined) continue;
        if (endpointId !== undefined && delivery.endpointId !== endpointId) continue;
        if (submissionId !== undefined && delivery.submissionId !== submissionId) continue;
        if (state !== undefined && delivery.state !== state) continue;
        items.push(delivery);
        const isLast = index === entries.length - 1 && page.next === undefined;
        if (items.length === limit && !isLast) return { items, nextCursor: encodeCursor(scope, position) };
      }
      if (page.next === undefined) return { items };
    }
    return position === undefined ? { items } : { items, nextCursor: encodeCursor(scope, position) };
  },
});
