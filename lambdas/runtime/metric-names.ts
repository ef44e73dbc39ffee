/*
 * Every metric that the functions emit, in one place: alarms and dashboards name them from here. All have the dimensions
 * `service` and `stage`, and by their kind `lane` or `provider`.
 */

export type MetricUnit = 'Count' | 'Milliseconds';

const count = (name: string) => ({ name, unit: 'Count' }) as const;
const milliseconds = (name: string) => ({ name, unit: 'Milliseconds' }) as const;

/** Dimension `lane` beside service and stage. */
export const LANE_METRICS = {
  recordsSucceeded: count('RecordsSucceeded'),
  recordsFailed: count('RecordsFailed'),
  recordsDeadLettered: count('RecordsDeadLettered'),
  recordsCancelled: count('RecordsCancelled'),
  attemptsFailed: count('AttemptsFailed'),
  recordsDeferred: count('RecordsDeferred'),
  /** Messages that were acknowledged unworked: copies, and what is over. */
  messagesDiscarded: count('MessagesDiscarded'),
  messagesParked: count('MessagesParked'),
  suspectsStarted: count('SuspectsStarted'),
  recordsResent: count('RecordsResent'),
  /** From a record's first message to its outcome. */
  recordAge: milliseconds('RecordAge'),
  /** Measured by the reconciler every minute: records without an outcome, and the age of the oldest submission that has any. */
  openRecords: count('OpenRecords'),
  oldestUnfinished: milliseconds('OldestUnfinishedAge'),
} as const;

/** Dimension `provider` beside service and stage. */
export const PROVIDER_METRICS = {
  callsAnswered: count('ProviderCallsAnswered'),
  callsFailed: count('ProviderCallsFailed'),
  callsThrottled: count('ProviderCallsThrottled'),
  credentialsRefused: count('ProviderCredentialsRefused'),
  breakerOpened: count('ProviderBreakerOpened'),
  breakerClosed: count('ProviderBreakerClosed'),
  latency: milliseconds('ProviderLatency'),
  pacerWait: milliseconds('ProviderPacerWait'),
} as const;

/** No dimension beside service and stage. */
export const SERVICE_METRICS = {
  submissionsAccepted: count('SubmissionsAccepted'),
  submissionsRejected: count('SubmissionsRejected'),
  submissionsFinished: count('SubmissionsFinished'),
  submissionsReopened: count('SubmissionsReopened'),
  submissionDuration: milliseconds('SubmissionDuration'),
  recordsFannedOut: count('RecordsFannedOut'),
  fanOutsRestarted: count('FanOutsRestarted'),
  outboxRelayed: count('OutboxRelayed'),
  ledgerRepaired: count('LedgerRepaired'),
  callbacksFailed: count('CallbacksFailed'),
  recordsRedriven: count('RecordsRedriven'),
  unexpectedErrors: count('UnexpectedErrors'),
  /** Measured by the reconciler every minute. */
  openSubmissions: count('OpenSubmissions'),
  stalledFanOuts: count('StalledFanOuts'),
  /** Age of the oldest submission whose fan-out message is not known to be sent. */
  outboxAge: milliseconds('OutboxAge'),
  /** Outcomes beyond the end of a file: anything but 0 is a defect. */
  conservationDifference: count('ConservationDifference'),
} as const;
