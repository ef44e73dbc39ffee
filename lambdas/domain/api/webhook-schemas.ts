import * as v from 'valibot';
import { DELIVERY_STATES, SUBMISSION_EVENTS } from '../webhooks/model.ts';
import {
  count,
  cursorParameter,
  described,
  limitParameter,
  nextCursor,
  plainText,
  publicUrlSchema,
  timestamp,
  type WithUnknown,
} from './schemas.ts';

/* The bodies of requests and answers about webhooks. */

/** A tenant's endpoints. */
export const MAX_WEBHOOKS = 20;
const MAX_OVERLAP_HOURS = 168;

const eventsSchema = described(
  v.pipe(
    v.array(v.picklist(SUBMISSION_EVENTS, `one of ${SUBMISSION_EVENTS.join(', ')} is required`), 'a list is required'),
    v.maxLength(SUBMISSION_EVENTS.length, 'each event once'),
  ),
  'Types of the events that it is sent. Without any: all, those that may be added later among them.',
);
const members = {
  url: described(publicUrlSchema, 'Where events are sent: https on a public host.'),
  events: v.exactOptional(eventsSchema),
  description: v.exactOptional(plainText(200)),
};

export const webhookRequestSchema = v.strictObject(members);
export const webhookChangeSchema = v.strictObject({
  ...members,
  enabled: described(v.optional(v.boolean('true or false is required'), true), 'False: nothing is sent.'),
});
export const rotationSchema = v.strictObject({
  overlapHours: described(
    v.optional(
      v.pipe(
        v.number('a number is required'),
        v.integer('a whole number is required'),
        v.minValue(0, 'at least 0 is required'),
        v.maxValue(MAX_OVERLAP_HOURS, `at most ${MAX_OVERLAP_HOURS} is required`),
      ),
      24,
    ),
    'Hours for which the secret before signs as well.',
  ),
});

const webhookMembers = {
  id: v.string(),
  url: v.string(),
  events: described(v.array(v.string()), 'None: all.'),
  description: v.exactOptional(v.string()),
  enabled: v.boolean(),
  disabledBecause: v.exactOptional(
    described(
      v.string(),
      '`gone`: its server answered 410. `by_request`: the customer disabled it. New ones may be added.',
    ),
  ),
  createdAt: timestamp,
  updatedAt: timestamp,
};
const secret = described(v.string(), 'Shown once. Deliveries are signed with it.');

export const webhookSchema = v.object(webhookMembers);
export const newWebhookSchema = v.object({ ...webhookMembers, secret });
export const webhookListSchema = v.object({ items: v.array(webhookSchema) });
export const secretSchema = v.object({
  secret,
  previousUntil: described(timestamp, 'Until then deliveries carry a signature with the secret before as well.'),
});

export const deliverySchema = v.object({
  id: v.string(),
  webhookId: described(v.string(), '`callback` for the `callbackUrl` of a submission.'),
  eventId: described(v.string(), 'The `webhook-id` that is sent: the same for all attempts.'),
  type: v.string(),
  submissionId: v.exactOptional(v.string()),
  state: described(
    v.picklist(DELIVERY_STATES),
    '`given_up`: after the last attempt. `disabled`: the webhook was disabled or deleted before it was delivered.',
  ),
  attempts: count,
  lastAttempt: v.exactOptional(
    v.object({
      at: timestamp,
      durationMs: count,
      status: v.exactOptional(described(count, 'Status of the answer.')),
      failure: v.exactOptional(described(v.string(), 'Why there was no answer: `timeout`, `dns`, `tls`, …')),
      excerpt: v.exactOptional(described(v.string(), 'Beginning of an answer that was no success.')),
    }),
  ),
  nextAttemptAt: v.exactOptional(timestamp),
  createdAt: timestamp,
  updatedAt: timestamp,
});
export const deliveryPageSchema = v.object({ items: v.array(deliverySchema), nextCursor });

export const deliveryListParametersSchema = v.strictObject({
  webhookId: v.exactOptional(v.pipe(v.string(), v.maxLength(100, 'no webhook id is that long'))),
  submissionId: v.exactOptional(v.pipe(v.string(), v.maxLength(100, 'no submission id is that long'))),
  state: v.exactOptional(v.picklist(DELIVERY_STATES, `one of ${DELIVERY_STATES.join(', ')} is required`)),
  limit: limitParameter(20, 100),
  cursor: cursorParameter,
});

/** What an endpoint is sent. */
export const eventSchema = v.object({
  type: v.string(),
  timestamp,
  data: v.object({
    submissionId: v.exactOptional(v.string()),
    state: v.exactOptional(v.string()),
    counts: v.exactOptional(
      v.nullable(
        v.object({
          total: v.nullable(count),
          pending: count,
          succeeded: count,
          failed: count,
          cancelled: count,
        }),
      ),
    ),
    reference: v.exactOptional(v.string()),
    resultsVersion: v.exactOptional(count),
    rejection: v.exactOptional(v.object({ code: v.string(), detail: v.string() })),
  }),
});

export type WebhookView = v.InferOutput<typeof webhookSchema>;
export type DeliveryView = WithUnknown<v.InferOutput<typeof deliverySchema>, 'state'>;
