import type { Unanswered } from './call.ts';
import type { CallOutcome } from './classify.ts';

/**
 * What the outcome of a call says about the provider as a whole. `no_data` is an answer that ends the record without data (`not_found`,
 * `permanent`) or puts it off (`not_ready`): of the canary it says that something is wrong.
 */
export type Sign = 'found' | 'no_data' | 'failing' | 'throttled' | 'auth' | 'unknown';

export function signOf(outcome: CallOutcome | Unanswered): Sign {
  switch (outcome.kind) {
    case 'answer':
      return outcome.answer.kind === 'found' ? 'found' : 'no_data';
    case 'permanent':
    case 'not_ready':
      return 'no_data';
    case 'deferred':
      return outcome.reason === 'provider_auth' ? 'auth' : 'unknown';
    case 'transient':
      if (outcome.reason === 'internal_error') return 'unknown';
      return 'limitsFleet' in outcome ? 'throttled' : 'failing';
    default:
      return outcome.kind;
  }
}

/** One call that was started, and what it came to. */
export interface StartedCall {
  index: number;
  isLastAttempt: boolean;
  outcome?: CallOutcome | Unanswered;
}

const FAILURES_TO_STOP = 3;

/** What the calls of one round say about the provider. */
export class CallEvidence {
  /** In the order in which they started. */
  readonly #calls: StartedCall[] = [];
  /** Outage-class failures since the last answer, in the order in which they ended. */
  failuresInARow = 0;
  /** One of those ends its record. */
  endsRecord = false;
  sawAnswer = false;
  /** The provider refused calls for their rate, or asked everybody to wait. */
  isThrottled = false;
  isCredentialRefused = false;
  /** A record that was refused for the rate was answered when asked again: it was the rate and not the record. */
  isPaceTooHigh = false;

  started(index: number, isLastAttempt: boolean): StartedCall {
    const call: StartedCall = { index, isLastAttempt };
    this.#calls.push(call);
    return call;
  }

  ended(call: StartedCall, outcome: CallOutcome | Unanswered): void {
    call.outcome = outcome;
    const sign = signOf(outcome);
    if (sign === 'failing') {
      this.failuresInARow += 1;
      this.endsRecord ||= call.isLastAttempt;
    } else if (sign === 'found' || sign === 'no_data') {
      this.failuresInARow = 0;
      this.endsRecord = false;
      this.sawAnswer = true;
    }
    this.isThrottled ||= sign === 'throttled';
    this.isCredentialRefused ||= outcome.kind === 'auth';
  }

  get isRefused(): boolean {
    return this.isThrottled || this.isCredentialRefused;
  }

  /** Something is wrong, and the calls that have not started need not find it out once more. */
  get isSuspect(): boolean {
    return this.failuresInARow >= FAILURES_TO_STOP || this.isRefused;
  }

  /** An answer would end a record without data, and no call that started later got data. */
  get isUnverified(): boolean {
    return this.#calls.some((call) => isFinal(call) && !this.isVerified(call));
  }

  /** The provider gave data to a call that started later: it was working. */
  isVerified(call: StartedCall): boolean {
    return this.#calls
      .slice(this.#calls.indexOf(call) + 1)
      .some(({ outcome }) => outcome !== undefined && signOf(outcome) === 'found');
  }

  get calls(): readonly StartedCall[] {
    return this.#calls;
  }
}

/** An answer that ends its record without data. */
export const isFinal = ({ outcome }: StartedCall): boolean =>
  outcome?.kind === 'permanent' || (outcome?.kind === 'answer' && outcome.answer.kind !== 'found');
