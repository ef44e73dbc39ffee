/** Pacer and breaker of one provider as stored: one item, shared by the fleet. Times in epoch milliseconds. */
export interface ProviderState {
  /** When the next call may start. 0 when never used. */
  nextAtMs: number;
  /** No call starts before this time: the provider said so (Retry-After) or refuses our credential. */
  blockedUntilMs: number;
  blockedReason?: 'provider_throttled' | 'provider_auth';
  breaker: 'closed' | 'open';
  /** Raised by every opening; a success from an earlier epoch closes nothing. */
  epoch: number;
  /** While open: when a probe may be made. */
  openUntilMs: number;
  /** Outage-class failures in a row while closed. */
  failures: number;
  /** Openings in a row without a closing: the wait grows with it. */
  openings: number;
  probeOwner?: string;
  probeLeaseUntilMs?: number;
}

/** The providers table. Each method is one conditional update and returns the state after it (or, where the condition failed, as it stands). */
export interface ProviderStore {
  get(provider: string): Promise<ProviderState>;
  /**
   * Reserves `slots` consecutive slots. Granted only when the breaker is closed, `blockedUntilMs` has passed, and `nextAtMs` lies in the
   * past (first slot = now) or at most `maxWaitMs` ahead (first slot = `nextAtMs`). Otherwise nothing changes.
   */
  reserve(request: {
    provider: string;
    slots: number;
    intervalMs: number;
    nowMs: number;
    maxWaitMs: number;
  }): Promise<{ granted: true; firstSlotMs: number; state: ProviderState } | { granted: false; state: ProviderState }>;
  /** Raises `blockedUntilMs`; never lowers it. */
  block(provider: string, untilMs: number, reason: 'provider_throttled' | 'provider_auth'): Promise<ProviderState>;
  /** Adds outage-class failures seen in `epoch`; nothing changes when the epoch moved on or the breaker is open. */
  addFailures(provider: string, epoch: number, failures: number): Promise<ProviderState>;
  /** Resets the row of failures after a success in `epoch`, breaker closed. */
  clearFailures(provider: string, epoch: number): Promise<ProviderState>;
  /** closed to open (epoch + 1, openings + 1), only in `epoch`; or, by the probe's owner, a longer opening of the same kind. */
  open(provider: string, change: { epoch: number; openUntilMs: number; probeOwner?: string }): Promise<ProviderState>;
  /** Claims the one probe of `epoch`, when `openUntilMs` has passed and no other probe's lease runs. */
  claimProbe(
    provider: string,
    claim: { epoch: number; owner: string; nowMs: number; leaseMs: number },
  ): Promise<{ claimed: boolean; state: ProviderState }>;
  /** open to closed, only by the owner of the probe of `epoch`. */
  close(provider: string, epoch: number, owner: string, nowMs: number): Promise<ProviderState>;
}

/** A raw answer over HTTP, or the reason why there is none. */
export type TransportResult =
  | {
      kind: 'response';
      status: number;
      headers: Readonly<Record<string, string>>;
      body: Uint8Array;
      truncated: boolean;
    }
  | { kind: 'failure'; cause: TransportFailure; detail: string };

export type TransportFailure = 'timeout' | 'connect' | 'reset' | 'dns' | 'tls' | 'aborted' | 'refused_target';

export interface HttpTransport {
  /** One request with one deadline over connect, headers and body. Follows no redirect. Never throws for what the network does. */
  request(request: {
    method: 'GET' | 'POST';
    url: string;
    headers: Readonly<Record<string, string>>;
    body?: string;
    timeoutMs: number;
    maxBodyBytes: number;
  }): Promise<TransportResult>;
}

/** Credentials of the providers, by provider name. */
export interface CredentialSource {
  /** Cached; throws DependencyUnavailableError only when there is no last good value. */
  get(provider: string): Promise<string>;
  /** Reads the secret again, once for all who ask at the same time; true when the provider's value differs from `refused`. */
  refresh(provider: string, refused: string): Promise<boolean>;
}
