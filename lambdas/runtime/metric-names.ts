/*
 * Every metric that the functions emit, in one place: alarms and dashboards name them from here. All have the dimensions
 * `service` (the function) and `stage`, and by their kind `lane` or `provider`. Outcomes and states are part of the names and no
 * dimension: that costs the same number of series, and one line of log less per outcome and invocation.
 */

/** Namespace of all of them. */
export const METRIC_NAMESPACE = 'Sluice';

export type MetricUnit = 'Count' | 'Milliseconds';

/** The functions that count something, by their names in logs and metrics. */
export type Emitter =
  | 'authorizer'
  | 'fan-out'
  | 'finalizer'
  | 'prepare'
  | 'preview'
  | 'reconciler'
  | 'redrive'
  | 'status'
  | 'submit'
  | 'webhooks'
  | 'worker';

/** A metric, and the functions that emit it: each makes a series of its own. */
export interface MetricDefinition<E extends Emitter = Emitter> {
  readonly name: string;
  readonly unit: MetricUnit;
  readonly by: readonly E[];
}

const count = <E extends Emitter>(name: string, ...by: readonly E[]): MetricDefinition<E> => ({
  name,
  unit: 'Count',
  by,
});
const milliseconds = <E extends Emitter>(name: string, ...by: readonly E[]): MetricDefinition<E> => ({
  name,
  unit: 'Milliseconds',
  by,
});

/** Dimension `lane` beside service and stage. */
export const LANE_METRICS = {
  recordsSucceeded: count('RecordsSucceeded', 'worker'),
  /** Ended by a permanent reason: mostly the customer's data. */
  recordsFailed: count('RecordsFailed', 'worker'),
  /** Ended by transient reasons, every attempt used up. */
  recordsDeadLettered: count('RecordsDeadLettered', 'worker'),
  /** Crash their worker whenever they run alone; the reconciler finds it out. */
  recordsCrashed: count('RecordsCrashed', 'reconciler'),
  recordsExpired: count('RecordsExpired', 'fan-out', 'reconciler'),
  recordsCancelled: count('RecordsCancelled', 'fan-out', 'reconciler'),
  attemptsFailed: count('AttemptsFailed', 'worker'),
  /** Waits that cost no attempt: for a slot, for a provider that is out or refuses, for our own platform. */
  deferralsForPace: count('DeferralsForPace', 'worker'),
  deferralsForProvider: count('DeferralsForProvider', 'worker'),
  deferralsForPlatform: count('DeferralsForPlatform', 'worker'),
  /** Messages that were acknowledged without being processed: copies, and those of records that have their outcome. */
  messagesDiscarded: count('MessagesDiscarded', 'worker'),
  /** Messages that were sent to the dead-letter queue unprocessed: unreadable, of no submission, or not of the one they name. */
  messagesDeadLettered: count('MessagesDeadLettered', 'worker'),
  /** Messages that a newer version wrote, sent back for it. */
  newerMessages: count('WorkerNewerMessages', 'worker'),
  /** Records that ran alone, because a worker crashed while it held them. */
  isolatedRuns: count('IsolatedRuns', 'worker'),
  recordsResent: count('RecordsResent', 'reconciler'),
  /** From a record's first message to its outcome: one value for every record that a worker finished. */
  recordAge: milliseconds('RecordAge', 'worker'),
  /** Defects of ours, by the lane whose worker met them. */
  workerErrors: count('WorkerErrors', 'worker'),
  /** Calls to AWS that failed and may succeed later. */
  workerDependencyFailures: count('WorkerDependencyFailures', 'worker'),
  /** Calls to AWS that are refused until a person acts: a permission, a key, a setting, a missing resource. */
  workerMisconfigurations: count('WorkerMisconfigurations', 'worker'),
  /** Measured by the reconciler every minute: records without an outcome, and how long the oldest open submission waits for its end. */
  openRecords: count('OpenRecords', 'reconciler'),
  oldestUnfinished: milliseconds('OldestUnfinishedAge', 'reconciler'),
  /** For how long a dead-letter queue has not been empty: never less than the age of its oldest message. */
  deadLettersAge: milliseconds('DeadLettersAge', 'reconciler'),
} as const;

/** Dimension `provider` beside service and stage. */
export const PROVIDER_METRICS = {
  /** Found, and known not to exist. */
  callsAnswered: count('ProviderCallsAnswered', 'worker'),
  /** Lookups that cost no call: an equal one of the same batch, or a kept answer, served them. */
  answersReused: count('ProviderAnswersReused', 'worker'),
  /** The values of the record were refused. */
  callsRejected: count('ProviderCallsRejected', 'worker'),
  /** 429. */
  callsThrottled: count('ProviderCallsThrottled', 'worker'),
  /** 401, 403: our credential, before and after it was read again. */
  callsUnauthorized: count('ProviderCallsUnauthorized', 'worker'),
  /** 5xx and connections that failed. */
  callsFailed: count('ProviderCallsFailed', 'worker'),
  callsTimedOut: count('ProviderCallsTimedOut', 'worker'),
  /** A body that is no answer. */
  callsUnusable: count('ProviderCallsUnusable', 'worker'),
  credentialsRefused: count('ProviderCredentialsRefused', 'worker'),
  breakerOpened: count('ProviderBreakerOpened', 'worker'),
  latency: milliseconds('ProviderLatency', 'worker'),
  pacerWait: milliseconds('ProviderPacerWait', 'worker'),
  /** Measured by the reconciler every minute, 0 or 1: the breaker lets no call through; the provider asked for a pause or refuses our credential. */
  breakerOpen: count('ProviderBreakerOpen', 'reconciler'),
  blocked: count('ProviderBlocked', 'reconciler'),
  /** Calls per second that the fleet grants itself, each minute: fewer than configured while calls are refused although paced. */
  grantedRate: count('ProviderGrantedRate', 'reconciler'),
  /** 0 or 1: the canary is known to be answered without data although records get data. */
  canaryDistrusted: count('ProviderCanaryDistrusted', 'reconciler'),
} as const;

/** The functions that count their own errors. */
const NOT_WORKERS = [
  'fan-out',
  'finalizer',
  'prepare',
  'preview',
  'reconciler',
  'redrive',
  'status',
  'submit',
  'webhooks',
] as const;

/** No dimension beside service and stage. */
export const SERVICE_METRICS = {
  submissionsAccepted: count('SubmissionsAccepted', 'submit'),
  /** Answers that took five seconds or more, without what the caller asked to wait. */
  slowAnswers: count('SlowAnswers', 'status', 'submit'),
  submissionsRejected: count('SubmissionsRejected', 'fan-out'),
  submissionsComplete: count('SubmissionsComplete', 'finalizer'),
  submissionsPartiallyFailed: count('SubmissionsPartiallyFailed', 'finalizer'),
  submissionsFailed: count('SubmissionsFailed', 'finalizer'),
  submissionsCancelled: count('SubmissionsCancelled', 'finalizer'),
  submissionsExpired: count('SubmissionsExpired', 'finalizer'),
  submissionsReopened: count('SubmissionsReopened', 'finalizer'),
  submissionDuration: milliseconds('SubmissionDuration', 'finalizer'),
  recordsFannedOut: count('RecordsFannedOut', 'fan-out'),
  fanOutsRestarted: count('FanOutsRestarted', 'reconciler'),
  outboxRelayed: count('OutboxRelayed', 'reconciler'),
  ledgerRepaired: count('LedgerRepaired', 'finalizer', 'reconciler'),
  /** Deliveries that ended without success, after every attempt. */
  webhooksGivenUp: count('WebhooksGivenUp', 'webhooks'),
  recordsRedriven: count('RecordsRedriven', 'redrive', 'reconciler'),
  /** Defects of ours; calls to AWS that failed; calls that are refused until a person acts. Those of workers are counted by lane. */
  unexpectedErrors: count('UnexpectedErrors', ...NOT_WORKERS),
  dependencyFailures: count('DependencyFailures', ...NOT_WORKERS),
  misconfigurations: count('Misconfigurations', ...NOT_WORKERS),
  /** Sources that are not what fan-out sent, or records that succeeded without an input: nothing is made of them. */
  unverifiedInputs: count('UnverifiedInputs', 'finalizer', 'reconciler', 'redrive', 'status'),
  /** Messages that only a newer version can read and that were handed back for a quarter of an hour. */
  newerMessages: count('NewerMessages', 'fan-out', 'finalizer', 'prepare', 'webhooks'),
  /** Runs of the reconciler that came to their end. */
  reconcilerRuns: count('ReconcilerRuns', 'reconciler'),
  /** Measured by the reconciler every minute: open submissions by state. */
  openAccepted: count('OpenSubmissionsAccepted', 'reconciler'),
  openProcessing: count('OpenSubmissionsProcessing', 'reconciler'),
  openFinalizing: count('OpenSubmissionsFinalizing', 'reconciler'),
  openCancelling: count('OpenSubmissionsCancelling', 'reconciler'),
  /** Providers whose calls are stopped, by an open breaker, a pause that they asked for, or a refused credential. */
  troubledProviders: count('TroubledProviders', 'reconciler'),
  stalledFanOuts: count('StalledFanOuts', 'reconciler'),
  stalledResults: count('StalledResults', 'reconciler'),
  /** Age of the oldest submission whose fan-out message is not known to be sent. */
  outboxAge: milliseconds('OutboxAge', 'reconciler'),
  /** As of the lanes. */
  prepareDeadLettersAge: milliseconds('PrepareDeadLettersAge', 'reconciler'),
  fanOutDeadLettersAge: milliseconds('FanOutDeadLettersAge', 'reconciler'),
  webhookDeadLettersAge: milliseconds('WebhookDeadLettersAge', 'reconciler'),
  finalizationDeadLettersAge: milliseconds('FinalizationDeadLettersAge', 'reconciler'),
  /** Outcomes beyond the end of a file: anything but 0 is a defect. Of open submissions every time one is looked after, and of those that end. */
  conservationDifference: count('ConservationDifference', 'finalizer', 'reconciler'),
} as const;
