import * as v from 'valibot';
import { readEnvironment, type EnvironmentSource } from '../runtime/environment.ts';
import { common, shared } from '../runtime/variables.ts';

/** Variables of the function that tells customers' endpoints of events. */
export const webhooksEnvironment = v.object({
  ...common,
  WEBHOOKS_TABLE: shared.WEBHOOKS_TABLE,
  WEBHOOKS_QUEUE_URL: shared.WEBHOOKS_QUEUE_URL,
  /** `public`: to the URLs of endpoints, which must be public. A base URL on this machine, which only the local cloud sets: all to it. */
  DELIVER_TO: v.union([
    v.literal('public'),
    v.pipe(v.string(), v.regex(/^http:\/\/127\.0\.0\.1:\d+$/, 'public, or http://127.0.0.1:PORT, is required')),
  ]),
});

export type WebhooksEnvironment = v.InferOutput<typeof webhooksEnvironment>;

/** Reads and checks the variables. Throws InvalidDataError naming each wrong one. */
export const readWebhooksEnvironment = (source: EnvironmentSource = process.env): WebhooksEnvironment =>
  readEnvironment('webhooks', webhooksEnvironment, source);
