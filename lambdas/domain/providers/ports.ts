import type { ProviderAnswer } from '../model.ts';

/** Names a kept answer. Without a tenant it serves all of them. */
export interface AnswerKey {
  provider: string;
  tenantId?: string;
  /** SHA-256 of the lookup, base64url. */
  hash: string;
}

export interface KeptAnswer {
  answer: ProviderAnswer;
  askedAtMs: number;
}

/** Answers that were paid for, kept for the next record that asks the same. What is missing is asked for again. */
export interface AnswerCache {
  /** An answer that has not expired. May miss one that was put a moment ago. */
  get(key: AnswerKey): Promise<KeptAnswer | undefined>;
  /** Never replaces an answer by an older one. */
  put(key: AnswerKey, kept: KeptAnswer, expiresAtSeconds: number): Promise<void>;
}

/** Pacer and breaker of one provider as stored: one item, shared by the fleet. Times in epoch milliseconds. */
export interface ProviderState {
  /** When the next call may start. 0 when never used. */
  nextAtMs: number;
  /** No call starts before this time: the provider said so. */
  blockedUntilMs: number;
  /** `provider_auth` was written by version 0.1 only. */
  blockedReason?: 'provider_throttled' | 'provider_auth';
  /** Refusals for the rate, each confirmed by the canary, since the last answer. */
  throttles: number;
  /** When a refusal for the rate was last reported; 0 = never. */
  throttledAtMs: number;
  /** When the fleet last lowered its own pace; 0 = never. It is the version of the pace: a reservation names the one it was computed from. */
  paceAtMs: number;
  /** Share of the configured pace that was granted from `paceAtMs` on. */
  paceShare?: number;
  /** Share of the configured pace at which calls were refused. */
  paceLimitShare?: number;
  breaker: 'closed' | 'open';
  /** Raised by every opening; a success from an earlier epoch closes nothing. */
  epoch: number;
  /** While open: why, where it is not an outage. */
  openReason?: 'provider_auth';
  /** While open: when a probe may be made. */
  openUntilMs: number;
  /** Outage-class failures in a row while closed. */
  failures: number;
  /** Openings in a row without a closing: the wait grows with it. */
  openings: number;
  probeOwner?: string;
  probeLeaseUntilMs?: number;
  /** Until then an answer without data to the canary says nothing: a record got data while the canary got none. */
  canaryDistrustedUntilMs?: number;
}

export interface ThrottleReport {
  seenAtMs: number;
  nowMs: number;
  /** Refusals since the last answer, this one included. */
  throttles: number;
  /** Absent: calls go on. */
  blockedUntilMs?: number;
  /** Absent: the pace stays. */
  pace?: { share: number; limitShare: number };
}

/** The providers table. Each method is one conditional update and returns the state after it (or, where the condition failed, as it stands). */
export interface ProviderStore {
  get(provider: string): Promise<ProviderState>;
  /**
   * Reserves `slots` consecutive slots. Granted only when the breaker is closed, `blockedUntilMs` has passed, and `nextAtMs` lies in the
   * past (first slot = now) or at most `maxWaitMs` ahead (first slot = `nextAtMs`), and the pace is still that of `paceAtMs`. Otherwise
   * nothing changes.
   */
  reserve(request: {
    provider: string;
    slots: number;
    intervalMs: number;
    nowMs: number;
    maxWaitMs: number;
    /** The pace that `intervalMs` was computed from; absent: the configured one. */
    paceAtMs?: number;
  }): Promise<{ granted: true; firstSlotMs: number; state: ProviderState } | { granted: false; state: ProviderState }>;
  /** Raises `blockedUntilMs`; never lowers it. */
  block(provider: string, untilMs: number): Promise<ProviderState>;
  /** Reports a refusal for the rate, only while nobody else has reported one since `seenAtMs` (`throttledAtMs` as it was read). */
  throttle(provider: string, report: ThrottleReport): Promise<ProviderState>;
  /** Adds outage-class failures seen in `epoch`; nothing changes when the epoch moved on or the breaker is open. */
  addFailures(provider: string, epoch: number, failures: number): Promise<ProviderState>;
  /** Resets failures and throttles after an answer in `epoch`, breaker closed. */
  clearFailures(provider: string, epoch: number): Promise<ProviderState>;
  /** closed to open (epoch + 1, openings + 1), only in `epoch`; or, by the probe's owner, a longer opening of the same kind. */
  open(
    provider: string,
    change: { epoch: number; openUntilMs: number; probeOwner?: string; reason?: 'provider_auth' },
  ): Promise<ProviderState>;
  /** Claims the one probe of `epoch`, when `openUntilMs` has passed and no other probe's lease runs. */
  claimProbe(
    provider: string,
    claim: { epoch: number; owner: string; nowMs: number; leaseMs: number },
  ): Promise<{ claimed: boolean; state: ProviderState }>;
  /** open to closed, only by the owner of the probe of `epoch`; with `canaryDistrustedUntilMs` where the probe proved the canary wrong. */
  close(
    provider: string,
    change: { epoch: number; probeOwner: string; nowMs: number; canaryDistrustedUntilMs?: number },
  ): Promise<ProviderState>;
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

/** The fleet's access tokens, sealed, by provider name. */
export interface TokenStore {
  /** The token as it was written; undefined for none. */
  read(provider: string): Promise<string | undefined>;
  /** Takes the right to get a new token until `untilMs`; false while somebody else has it. */
  claim(provider: string, lease: { owner: string; nowMs: number; untilMs: number }): Promise<boolean>;
  /** Stores a token and gives the lease up, where it is still this owner's. */
  write(provider: string, owner: string, sealed: string): Promise<void>;
}

/** Credentials of the providers, by provider name. */
export interface CredentialSource {
  /** Cached; throws DependencyUnavailableError only when there is no last good value. */
  get(provider: string): Promise<string>;
  /** Reads the secret again, once for all who ask at the same time; true when the provider's value differs from `refused`. */
  refresh(provider: string, refused: string): Promise<boolean>;
}
