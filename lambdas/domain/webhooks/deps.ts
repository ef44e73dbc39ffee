import type { HttpTransport } from '../providers/ports.ts';
import type { QueueSender } from '../queues/ports.ts';
import type { Telemetry } from '../telemetry.ts';
import type { Clock, Random } from '../time.ts';
import type { WebhookStore } from './ports.ts';

export interface WebhookSettings {
  /** One deadline over connect, headers and body of an attempt. */
  timeoutMs: number;
  /** Of an answer's body that are read, to be shown to the customer. */
  excerptBytes: number;
}

export const WEBHOOK_DEFAULTS: WebhookSettings = { timeoutMs: 10_000, excerptBytes: 500 };

export interface WebhookDeps {
  webhooks: WebhookStore;
  webhookQueue: QueueSender;
  transport: HttpTransport;
  telemetry: Telemetry;
  clock: Clock;
  random: Random;
  settings: WebhookSettings;
}
