import type { Page } from '../submissions/ports.ts';
import type { Attempt, DeliveryState, DisabledBecause, Endpoint, Secrets, WebhookDelivery } from './model.ts';

/** What an attempt made of a delivery. */
export interface AttemptOutcome {
  state: DeliveryState;
  /** Number of the attempt. */
  attempt: number;
  lastAttempt: Attempt;
  nextAttemptAtMs?: number;
}

/** Endpoints of tenants, without their secrets. */
export interface EndpointStore {
  listEndpoints(tenantId: string): Promise<Endpoint[]>;
  /** Undefined for one that was removed. */
  getEndpoint(tenantId: string, endpointId: string): Promise<Endpoint | undefined>;
  /** Writes a new endpoint, or all of one that exists; false where it was removed. */
  putEndpoint(endpoint: Endpoint): Promise<boolean>;
  /** Disables it while its URL is still this one. */
  disableEndpoint(endpoint: Endpoint, because: DisabledBecause, nowMs: number): Promise<void>;
  removeEndpoint(tenantId: string, endpointId: string, nowMs: number): Promise<boolean>;
}

/** Secrets of endpoints, which only the function that makes them and the one that signs with them may read. */
export interface SecretStore {
  getSecrets(tenantId: string, endpointId: string): Promise<Secrets | undefined>;
  /** Makes `secret` the current one; the one before it signs too until `previousUntilMs`. */
  rotateSecret(tenantId: string, endpointId: string, secret: string, previousUntilMs: number): Promise<void>;
  removeSecrets(tenantId: string, endpointId: string): Promise<void>;
}

export interface DeliveryStore {
  /** Creates it unless it exists; returns what is stored either way. */
  createDelivery(delivery: WebhookDelivery): Promise<WebhookDelivery>;
  getDelivery(tenantId: string, deliveryId: string): Promise<WebhookDelivery | undefined>;
  /** Notes an attempt, unless a later one is noted. */
  recordAttempt(delivery: WebhookDelivery, outcome: AttemptOutcome): Promise<void>;
  /** Ends a delivery that waits, without an attempt. */
  endDelivery(delivery: WebhookDelivery, state: DeliveryState, nowMs: number): Promise<void>;
  /** Lets a delivery start anew: its schedule begins at the first wait. Undefined where it does not exist. */
  restartDelivery(tenantId: string, deliveryId: string, nowMs: number): Promise<WebhookDelivery | undefined>;
  /** Newest first. A page with a filter may be short and still have a `nextCursor`. Throws InvalidCursorError. */
  listDeliveries(query: DeliveryQuery): Promise<Page<WebhookDelivery>>;
}

export interface DeliveryQuery {
  tenantId: string;
  endpointId?: string;
  submissionId?: string;
  state?: DeliveryState;
  limit: number;
  cursor?: string;
}

export type WebhookStore = EndpointStore & SecretStore & DeliveryStore;
