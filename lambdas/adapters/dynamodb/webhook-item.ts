import * as v from 'valibot';
import { DELIVERY_STATES, type Endpoint, type Secrets, type WebhookDelivery } from '../../domain/webhooks/model.ts';
import { codeSchema, openPicklist } from '../../domain/versions.ts';
import { parseItem, type Item, type Key } from './dynamo.ts';

/** Deliveries of a tenant by the time of their event; other items are not in it. */
export const DELIVERIES_INDEX = 'byCreation';

const key = (kind: string, tenantId: string, part: string): Key => ({ owner: `${kind}#${tenantId}`, part });
/** Each kind of item has a partition of its own, so that a role can be held to one kind. */
export const endpointKey = (tenantId: string, endpointId: string): Key => key('endpoints', tenantId, endpointId);
export const secretKey = (tenantId: string, endpointId: string): Key => key('secrets', tenantId, endpointId);
export const deliveryKey = (tenantId: string, deliveryId: string): Key => key('deliveries', tenantId, deliveryId);

const text = v.exactOptional(v.string());
const number = v.exactOptional(v.number());

const endpointSchema = v.pipe(
  v.object({
    part: v.string(),
    tenantId: v.string(),
    url: v.string(),
    events: v.array(v.string()),
    description: text,
    disabledBecause: v.exactOptional(codeSchema),
    removedAtMs: number,
    createdAtMs: v.number(),
    updatedAtMs: v.number(),
  }),
  v.transform(({ part, ...rest }) => ({ endpointId: part, ...rest })),
);

/** Undefined for one that was removed. */
export function parseEndpoint(item: Item): Endpoint | undefined {
  const { removedAtMs, ...endpoint } = parseItem(endpointSchema, item, 'webhook');
  return removedAtMs === undefined ? endpoint : undefined;
}

const secretsSchema = v.object({ current: text, previous: text, previousUntilMs: number });

/** Undefined where they were removed. */
export function parseSecrets(item: Item): Secrets | undefined {
  const { current, ...rest } = parseItem(secretsSchema, item, "webhook's secrets");
  return current === undefined ? undefined : { current, ...rest };
}

const attemptSchema = v.object({
  atMs: v.number(),
  durationMs: v.number(),
  status: number,
  failure: text,
  excerpt: text,
});
const deliverySchema = v.pipe(
  v.object({
    part: v.string(),
    tenantId: v.string(),
    endpointId: v.string(),
    eventId: v.string(),
    type: v.string(),
    submissionId: text,
    url: text,
    body: v.string(),
    state: openPicklist(DELIVERY_STATES),
    attempts: v.number(),
    attemptsBefore: v.number(),
    lastAttempt: v.exactOptional(attemptSchema),
    nextAttemptAtMs: number,
    createdAtMs: v.number(),
    updatedAtMs: v.number(),
    expiresAtSeconds: v.number(),
  }),
  v.transform(({ part, ...rest }) => ({ deliveryId: part, ...rest })),
);

export const parseDelivery = (item: Item): WebhookDelivery => parseItem(deliverySchema, item, "webhook's delivery");
