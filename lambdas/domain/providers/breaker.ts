import type { ProviderState } from './ports.ts';
import type { Random } from '../time.ts';

/** So many outage-class failures in a row raise the suspicion that the provider is out. */
export const FAILURES_TO_SUSPECT = 3;

const FIRST_OPEN_MS = 5_000;
const LONGEST_OPEN_MS = 120_000;

/** How long a breaker that has been opened `openings` times in a row stays open: doubling, give or take a tenth. */
export const openForMs = (openings: number, random: Random): number =>
  Math.round(Math.min(LONGEST_OPEN_MS, FIRST_OPEN_MS * 2 ** openings) * (0.9 + random() / 5));

/** Whether failures of calls that were made in `epoch` are explained by an outage that somebody has found meanwhile. */
export const isKnownOutage = (state: ProviderState, epoch: number): boolean =>
  state.breaker === 'open' || state.epoch > epoch;

/** Outage-class failures of one batch as they come in. */
export interface FailureStreak {
  succeeded(): void;
  /** @param isLastAttempt - Whether the record has no other attempt left. */
  failed(isLastAttempt: boolean): void;
  /** Failures since the last success. */
  consecutiveFailures(): number;
  /** True when one of those ends its record. */
  endsRecord(): boolean;
  sawSuccess(): boolean;
}

export function createFailureStreak(): FailureStreak {
  let row = 0;
  let success = false;
  let ends = false;
  return {
    succeeded() {
      row = 0;
      ends = false;
      success = true;
    },
    failed(isLastAttempt) {
      row += 1;
      ends ||= isLastAttempt;
    },
    endsRecord: () => ends,
    consecutiveFailures: () => row,
    sawSuccess: () => success,
  };
}
