import type { ClosedState, Counts } from '../model.ts';
import type { UnknownCode } from '../versions.ts';

/** What an endpoint can be told of, by the state that a submission ended in. */
export const EVENT_OF_STATE = {
  complete: 'submission.completed',
  partially_failed: 'submission.partially_failed',
  failed: 'submission.failed',
  rejected: 'submission.rejected',
  cancelled: 'submission.cancelled',
  expired: 'submission.expired',
} as const satisfies Record<ClosedState, string>;
export const SUBMISSION_EVENTS = Object.values(EVENT_OF_STATE);
/** Sent on request only, whatever the endpoint's events are. */
export const TEST_EVENT = 'webhook.test';

/** `data` of the event of a submission that ended. */
export interface SubmissionEnd {
  submissionId: string;
  state: ClosedState | UnknownCode;
  counts: Counts | null;
  reference?: string;
  resultsVersion: number;
  rejection?: { code: string; detail: string };
}

/** The endpoint of a submission's `callbackUrl`: it has no item, only a secret of the tenant. */
export const CALLBACK_ENDPOINT = 'callback';

/** Why nothing is sent to an endpoint: its server answered 410, or the customer said so. */
export type DisabledBecause = 'gone' | 'by_request';

export interface Endpoint {
  endpointId: string;
  tenantId: string;
  url: string;
  /** Types of the events that it is sent; none = all, those of later versions among them. */
  events: readonly string[];
  description?: string;
  disabledBecause?: DisabledBecause | UnknownCode;
  createdAtMs: number;
  updatedAtMs: number;
}

/** Secrets that deliveries are signed with. The one before is used beside the current one until its time is over. */
export interface Secrets {
  current: string;
  previous?: string;
  previousUntilMs?: number;
}

export const DELIVERY_STATES = ['pending', 'delivered', 'given_up', 'disabled'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** The newest attempt of a delivery. */
export interface Attempt {
  atMs: number;
  durationMs: number;
  /** Status of the answer; absent where there was none. */
  status?: number;
  /** Why there was no answer. */
  failure?: string;
  /** Beginning of the answer's body. */
  excerpt?: string;
}

/** One event on its way to one endpoint. */
export interface WebhookDelivery {
  deliveryId: string;
  tenantId: string;
  endpointId: string;
  /** The `webhook-id`: the same for every attempt and every endpoint. */
  eventId: string;
  type: string;
  submissionId?: string;
  /** The URL of a callback; an endpoint's URL is its own at the time of an attempt. */
  url?: string;
  /** The body, byte for byte. */
  body: string;
  state: DeliveryState | UnknownCode;
  /** Attempts so far. */
  attempts: number;
  /** Attempts before it was last sent again: the schedule starts anew behind them. */
  attemptsBefore: number;
  lastAttempt?: Attempt;
  /** When the next attempt is due. Absent once it has ended. */
  nextAttemptAtMs?: number;
  createdAtMs: number;
  updatedAtMs: number;
  expiresAtSeconds: number;
}
