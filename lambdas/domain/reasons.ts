import { isCode, type UnknownCode } from './versions.ts';

/**
 * Every reason why a record is not succeeded: one closed catalogue, stored in rows, ledger, messages and results files.
 * `permanent` ends the record at once, `transient` costs one attempt, `deferred` costs none.
 */
export type ReasonClass = 'permanent' | 'transient' | 'deferred';

export interface Reason {
  class: ReasonClass;
  /** What the customer is told. */
  customer: string;
  /** What the operator is told. */
  operator: string;
  /** Whether a replay can end differently without the file being changed. */
  replayHelps: boolean;
  /** Caused by a provider being out: what automatic redrive replays once its breaker has closed. */
  outage: boolean;
}

const permanent = (customer: string, operator: string, replayHelps = false): Reason => ({
  class: 'permanent',
  customer,
  operator,
  replayHelps,
  outage: false,
});
const transient = (customer: string, operator: string, outage: boolean): Reason => ({
  class: 'transient',
  customer,
  operator,
  replayHelps: true,
  outage,
});
const deferred = (customer: string, operator: string): Reason => ({
  class: 'deferred',
  customer,
  operator,
  replayHelps: true,
  outage: false,
});

export const REASONS = {
  invalid_record: permanent(
    'The record does not match the record schema. Correct it and submit it again.',
    'The record failed validation against config/record.schema.json; the detail names the field.',
  ),
  malformed_row: permanent(
    'The row could not be read as a record. Correct it and submit it again.',
    'The reader could not parse this row; the detail has the defect code and the line.',
  ),
  record_too_large: permanent(
    'The record is larger than the limit. Shorten it and submit it again.',
    'The record exceeds limits.maxRecordBytes of the stage.',
  ),
  duplicate_record_id: permanent(
    'An earlier record of the file has the same identifier, and its profile rejects later ones. Remove one of them and submit it again.',
    'The profile of the submission says `duplicates: reject_later`; the detail names both lines.',
  ),
  provider_rejected: permanent(
    'An enrichment provider refused the values of this record. Correct them and submit it again.',
    'The provider answered that the request is invalid; a replay helps only after its rules changed.',
    true,
  ),
  provider_unavailable: transient(
    'An enrichment provider did not work. The record is tried again automatically.',
    'Connection failures or 5xx answers from the provider.',
    true,
  ),
  provider_timeout: transient(
    'An enrichment provider did not answer in time. The record is tried again automatically.',
    'The deadline over connect, headers and body passed.',
    true,
  ),
  provider_bad_response: transient(
    'An enrichment provider gave an unusable answer. The record is tried again automatically.',
    'The body was not JSON, too large, or not what the response schema in config/providers.ts allows.',
    true,
  ),
  attempts_exhausted: transient(
    'The record failed on every attempt. We have been told and will replay it.',
    'The attempts are used up; the detail names the last cause. Redrive it once the cause is gone.',
    true,
  ),
  worker_crashed: transient(
    'The record could not be processed because of a fault on our side. We have been told.',
    'The worker died every time this record ran alone. Look at the worker log before redriving it.',
    false,
  ),
  internal_error: transient(
    'The record could not be processed because of a fault on our side. We have been told.',
    'An unexpected error in our code; the log line with this submission and record number has the stack.',
    false,
  ),
  deadline_passed: permanent(
    'The record was not finished before the deadline of its submission.',
    'The submission passed its deadline; replay is possible within the retention window.',
    true,
  ),
  cancelled: permanent('The submission was cancelled before this record was finished.', 'Cancelled by the customer.'),
  provider_throttled: deferred(
    'The record waits for an enrichment provider that limits our calls.',
    'The provider answered 429; the whole fleet waits until its Retry-After.',
  ),
  provider_not_ready: deferred(
    'An enrichment provider is still preparing the data of this record. The record waits for it.',
    'The provider answered "not ready" or limited this record alone; given up after notReadySeconds of the provider. Redrive it.',
  ),
  provider_auth: deferred(
    'The record waits for an enrichment provider.',
    'The provider refuses our credential: rotate the secret. Records wait, none fails.',
  ),
  provider_removed: deferred(
    'The record waits for an enrichment provider.',
    'The provider is not in config/providers.ts any more: put it back, or cancel; the record waits until its deadline.',
  ),
  breaker_open: deferred(
    'The record waits for an enrichment provider that is not working.',
    'The circuit breaker of the provider is open; it probes by itself.',
  ),
  pacer_full: deferred(
    'The record waits for its turn at an enrichment provider.',
    'All call slots within the longest wait are taken.',
  ),
  dependency_unavailable: deferred(
    'The record waits because of a short fault on our side.',
    'A call to DynamoDB, SQS or Secrets Manager was throttled or failed.',
  ),
  out_of_time: deferred('The record waits for its turn.', 'The invocation ended before this record was started.'),
  message_lost: deferred(
    'The record is tried again automatically.',
    'Its message was lost (a purged or expired queue); the reconciler sent it again from the file.',
  ),
  redriven: deferred('The record is being replayed.', 'Redrive sent it again; its earlier failure is in the log.'),
} as const satisfies Record<string, Reason>;

/** A reason of the catalogue: what this version writes. */
export type KnownReason = keyof typeof REASONS;
/** A reason as stored: of the catalogue, or of a newer version's. */
export type ReasonCode = KnownReason | UnknownCode;
export const isKnownReason = (value: string): value is KnownReason => Object.hasOwn(REASONS, value);
export const isReasonCode = (value: unknown): value is ReasonCode => isCode(value);
/** In the order of the catalogue. */
export const REASON_CODES: readonly KnownReason[] = Object.keys(REASONS).filter(isKnownReason);

/** What goes for a code that a newer version wrote. Only a redrive by force replays it: whether that helps is not known here. */
const UNKNOWN_REASON: Reason = {
  class: 'transient',
  customer: 'The record was not finished for the reason that this code names.',
  operator: 'A newer version wrote this code: its catalogue of reasons tells what it means, see docs/upgrading.md.',
  replayHelps: false,
  outage: false,
};
export const reasonOf = (code: ReasonCode): Reason => (isKnownReason(code) ? REASONS[code] : UNKNOWN_REASON);
