import { SluiceError } from '../errors.ts';
import type { TimeBudget } from '../time.ts';

/** Links that let a customer's program write or read one object for a short time. */
export interface Presigner {
  /** For one PUT of one object that is not there yet. `headers` must be sent exactly so. */
  upload(request: {
    key: string;
    expiresInSeconds: number;
    /** Where given, no other size is taken. */
    sizeBytes?: number;
    nowMs: number;
  }): Promise<{ method: 'PUT'; url: string; headers: Readonly<Record<string, string>>; expiresAtMs: number }>;
  /** For reading one object; browsers save it as `fileName`. */
  download(request: {
    key: string;
    expiresInSeconds: number;
    fileName?: string;
    nowMs: number;
  }): Promise<{ url: string; expiresAtMs: number }>;
}

/** The same idempotency key was used with another request. */
export class KeyReusedError extends SluiceError {}

/** A request with the same idempotency key is under way, or died a moment ago. */
export class InProgressError extends SluiceError {}

/** Remembers what was answered to requests with an idempotency key. */
export interface IdempotencyStore {
  /**
   * Runs `answer` unless its result is remembered; what it throws is not remembered. The first check is whether the key goes
   * with this request: throws {@link KeyReusedError}, then {@link InProgressError}, and DependencyUnavailableError.
   */
  once(
    request: { tenantId: string; idempotencyKey: string; requestHash: string },
    budget: TimeBudget,
    answer: () => Promise<string>,
  ): Promise<string>;
}
