import type { Drill } from '../drill.ts';
import {
  dlqEmptied,
  distrustedCanary,
  fileAtFault,
  fileDeleted,
  foreign,
  ill,
  manyFiles,
  manyQuestions,
  oldDeadLetters,
  oneOutcomeTooMany,
  queuePurged,
  redrives,
  slower,
  together,
} from '../faults.ts';
import { good } from '../traffic.ts';

/** Permissions that were revoked. */
const DENIED: readonly Drill[] = [
  {
    fault: 'the small lane may not read submissions',
    lastsFor: 7,
    silentWithin: 16,
    rings: { 'SmallLane/Misconfigured': 8 },
    arrange: ill('small', { what: 'denied', port: 'submissions' }),
  },
  {
    fault: 'the bulk lane may not read submissions',
    lastsFor: 7,
    silentWithin: 16,
    rings: { 'BulkLane/Misconfigured': 8 },
    arrange: together(fileAtFault(good(61)), ill('bulk', { what: 'denied', port: 'submissions' })),
  },
  {
    fault: 'the fan-out may not update submissions',
    lastsFor: 12,
    silentWithin: 16,
    rings: { 'FanOut/Stalled': 9, 'FanOut/FanOut/Misconfigured': 8 },
    arrange: ill('fanOut', { what: 'denied', port: 'submissions' }),
  },
  {
    fault: 'the finalizer may not read records',
    lastsFor: 12,
    silentWithin: 16,
    rings: { 'Finalization/Finalizer/Misconfigured': 8 },
    arrange: ill('finalize', { what: 'denied', port: 'records' }),
  },
  {
    fault: 'nobody may send to the fan-out queue',
    lastsFor: 20,
    silentWithin: 16,
    fileEvery: 1,
    rings: {
      'Submission/OutboxWaits': 7,
      'Submission/Submit/Misconfigured': 8,
      'FanOut/Stalled': 9,
      'Reconciliation/Reconciler/Misconfigured': 8,
    },
    arrange: together(
      ill('submit', { what: 'denied', port: 'queues.fanOut' }),
      ill('reconciler', { what: 'denied', port: 'queues.fanOut' }),
    ),
  },
  {
    fault: 'the submit function may not write submissions',
    lastsFor: 12,
    silentWithin: 16,
    rings: { 'Api/ServerErrors': 4, 'Submission/Submit/Misconfigured': 8 },
    arrange: together(manyFiles(0.25), ill('submit', { what: 'denied', port: 'submissions' })),
  },
  {
    fault: 'the status function may not read submissions',
    lastsFor: 12,
    silentWithin: 16,
    rings: { 'Api/ServerErrors': 4, 'Status/Status/Misconfigured': 8 },
    arrange: together(manyQuestions, ill('status', { what: 'denied', port: 'submissions' })),
  },
  {
    fault: 'the redrive function may not read submissions',
    lastsFor: 12,
    silentWithin: 18,
    rings: { 'Redrive/Redrive/Errors': 3, 'Redrive/Redrive/Misconfigured': 8 },
    arrange: together(redrives(0.25), ill('redrive', { what: 'denied', port: 'submissions' })),
  },
];

/** Tables and queues that throttle for long. */
const FAILING: readonly Drill[] = [
  {
    fault: 'the small lane cannot read submissions',
    lastsFor: 7,
    silentWithin: 16,
    rings: { 'SmallLane/DependencyFailures': 9 },
    arrange: ill('small', { what: 'failing', port: 'submissions' }),
  },
  {
    fault: 'the bulk lane cannot read submissions',
    lastsFor: 7,
    silentWithin: 16,
    rings: { 'BulkLane/DependencyFailures': 9 },
    arrange: together(fileAtFault(good(61)), ill('bulk', { what: 'failing', port: 'submissions' })),
  },
  {
    fault: 'the fan-out cannot update submissions',
    lastsFor: 12,
    silentWithin: 16,
    rings: { 'FanOut/Stalled': 9, 'FanOut/FanOut/DependencyFailures': 11 },
    arrange: ill('fanOut', { what: 'failing', port: 'submissions' }),
  },
  {
    fault: 'the finalizer cannot read records',
    lastsFor: 20,
    silentWithin: 16,
    rings: { 'Finalization/Finalizer/DependencyFailures': 11, 'Finalization/ResultsStalled': 17 },
    arrange: ill('finalize', { what: 'failing', port: 'records' }),
  },
  {
    fault: 'nobody can send to the fan-out queue',
    lastsFor: 20,
    silentWithin: 16,
    fileEvery: 1,
    rings: { 'Submission/OutboxWaits': 7, 'FanOut/Stalled': 9, 'Reconciliation/Reconciler/DependencyFailures': 18 },
    arrange: together(
      ill('submit', { what: 'failing', port: 'queues.fanOut' }),
      ill('reconciler', { what: 'failing', port: 'queues.fanOut' }),
    ),
  },
  {
    fault: 'the submit function cannot write submissions',
    lastsFor: 12,
    silentWithin: 16,
    rings: { 'Api/ServerErrors': 4, 'Submission/Submit/DependencyFailures': 11 },
    arrange: together(manyFiles(0.25), ill('submit', { what: 'failing', port: 'submissions' })),
  },
  {
    fault: 'the status function cannot read submissions',
    lastsFor: 12,
    silentWithin: 16,
    rings: { 'Api/ServerErrors': 4, 'Status/Status/DependencyFailures': 11 },
    arrange: together(manyQuestions, ill('status', { what: 'failing', port: 'submissions' })),
  },
  {
    fault: 'the redrive function cannot read submissions',
    lastsFor: 12,
    silentWithin: 18,
    rings: { 'Redrive/Redrive/Errors': 3, 'Redrive/Redrive/DependencyFailures': 11 },
    arrange: together(redrives(0.25), ill('redrive', { what: 'failing', port: 'submissions' })),
  },
];

/** Defects of ours. */
const DEFECTIVE: readonly Drill[] = [
  {
    fault: 'a defect writes no outcomes in the small lane',
    breaks: ['no defect'],
    lastsFor: 6,
    silentWithin: 16,
    rings: { 'SmallLane/UnexpectedErrors': 3 },
    arrange: ill('small', { what: 'defective', port: 'records', methods: ['put'] }),
  },
  {
    fault: 'a defect writes no outcomes in the bulk lane',
    breaks: ['no defect'],
    lastsFor: 6,
    silentWithin: 16,
    rings: { 'BulkLane/UnexpectedErrors': 5 },
    arrange: together(fileAtFault(good(61)), ill('bulk', { what: 'defective', port: 'records', methods: ['put'] })),
  },
  {
    fault: 'a defect of the fan-out sends no records',
    breaks: ['no defect'],
    lastsFor: 4,
    silentWithin: 25,
    rings: { 'FanOut/FanOut/UnexpectedErrors': 3 },
    arrange: ill('fanOut', { what: 'defective', port: 'queues.small' }),
  },
  {
    fault: 'a defect of the finalizer reads no records',
    breaks: ['no defect'],
    lastsFor: 6,
    silentWithin: 25,
    rings: { 'Finalization/Finalizer/UnexpectedErrors': 3 },
    arrange: ill('finalize', { what: 'defective', port: 'records' }),
  },
  {
    fault: 'a defect of the reconciler saves no figures',
    breaks: ['no defect'],
    lastsFor: 4,
    silentWithin: 16,
    rings: { 'Reconciliation/Reconciler/Errors': 3, 'Reconciliation/Reconciler/UnexpectedErrors': 3 },
    arrange: ill('reconciler', { what: 'defective', port: 'admission' }),
  },
  {
    fault: 'a defect of the submit function stores no submission',
    breaks: ['no defect'],
    lastsFor: 6,
    silentWithin: 16,
    rings: { 'Submission/Submit/UnexpectedErrors': 3 },
    arrange: ill('submit', { what: 'defective', port: 'submissions' }),
  },
  {
    fault: 'a defect of the status function finds no submissions',
    breaks: ['no defect'],
    lastsFor: 8,
    silentWithin: 16,
    rings: { 'Status/Status/UnexpectedErrors': 3, 'Api/ServerErrors': 4 },
    arrange: together(manyQuestions, ill('status', { what: 'defective', port: 'submissions' })),
  },
  {
    fault: 'a defect of the redrive function finds no submissions',
    breaks: ['no defect'],
    lastsFor: 6,
    silentWithin: 18,
    rings: { 'Redrive/Redrive/Errors': 3, 'Redrive/Redrive/UnexpectedErrors': 3 },
    arrange: together(redrives(2), ill('redrive', { what: 'defective', port: 'submissions' })),
  },
  {
    fault: 'a file is deleted before its results are written',
    lastsFor: 10,
    silentWithin: 25,
    rings: { 'Finalization/UnverifiedInputs': 5 },
    arrange: fileDeleted(10),
  },
  {
    fault: 'an outcome too many is counted in a file that stays open for minutes (marked by the drill)',
    breaks: ['row before ledger', 'conservation'],
    lastsFor: 6,
    silentWithin: 20,
    rings: { 'Reconciliation/Unconserved': 4 },
    // Shorter than any alarm waits for a lane.
    arrange: oneOutcomeTooMany(6),
  },
  {
    fault: 'an outcome too many is counted in a file that ends before anybody looks after it (marked by the drill)',
    breaks: ['row before ledger', 'conservation'],
    lastsFor: 2,
    silentWithin: 20,
    rings: { 'Reconciliation/Unconserved': 3 },
    arrange: oneOutcomeTooMany(0.02),
  },
];

const QUEUES: readonly Drill[] = [
  {
    fault: 'a record of the small lane fails on every attempt',
    lastsFor: 6,
    rings: { 'SmallLane/Records/DeadLetters': 4 },
    arrange: together(fileAtFault(['sick', 'good']), dlqEmptied('small')),
  },
  {
    fault: 'a record of the bulk lane fails on every attempt',
    lastsFor: 6,
    rings: { 'BulkLane/Records/DeadLetters': 4 },
    arrange: together(fileAtFault(['sick', ...good(61)]), dlqEmptied('bulk')),
  },
  {
    fault: 'dead letters have lain in every dead-letter queue for eight days (put there by the drill)',
    lastsFor: 10,
    rings: Object.fromEntries(
      [
        'SmallLane/Records',
        'BulkLane/Records',
        'PrepareRequests',
        'FanOut/Requests',
        'Finalization/Requests',
        'Webhooks/Requests',
      ].flatMap((queue) => [
        [`${queue}/DeadLetters`, 3],
        [`${queue}/DeadLettersExpiring`, 7],
      ]),
    ),
    arrange: together(
      oldDeadLetters,
      dlqEmptied('small'),
      dlqEmptied('bulk'),
      dlqEmptied('prepare'),
      dlqEmptied('fanOut'),
      dlqEmptied('finalize'),
      dlqEmptied('webhooks'),
    ),
  },
  {
    fault: 'somebody receives messages of every queue and deletes none (figures set by the drill)',
    lastsFor: 9,
    rings: {
      'SmallLane/Records/InFlight': 7,
      'BulkLane/Records/InFlight': 7,
      'PrepareRequests/InFlight': 7,
      'FanOut/Requests/InFlight': 7,
      'Finalization/Requests/InFlight': 7,
      'Webhooks/Requests/InFlight': 7,
    },
    arrange: foreign({
      small: { inFlight: 97_000 },
      bulk: { inFlight: 97_000 },
      prepare: { inFlight: 97_000 },
      fanOut: { inFlight: 97_000 },
      finalize: { inFlight: 97_000 },
      webhooks: { inFlight: 97_000 },
    }),
  },
  {
    fault: 'both lanes hold more than the providers can answer in time (figures set by the drill)',
    lastsFor: 8,
    rings: { 'SmallLane/Backlog': 7, 'BulkLane/Backlog': 7 },
    arrange: foreign({ small: { visible: 1_500_000 }, bulk: { visible: 1_500_000 } }),
  },
];

const PROVIDERS: readonly Drill[] = (['company', 'geo'] as const).flatMap((provider): Drill[] => [
  {
    fault: `the provider ${provider} is out`,
    lastsFor: 8,
    rings: { [`Providers/${provider}/BreakerOpen`]: 7 },
    outages: [{ provider, trouble: 'unavailable' }],
  },
  {
    fault: `the provider ${provider} is out for half an hour, with work for both lanes`,
    lastsFor: 30,
    // Work waits, and nobody has to get up for it before the promise is broken.
    rings: { [`Providers/${provider}/BreakerOpen`]: 7 },
    outages: [{ provider, trouble: 'unavailable' }],
    arrange: fileAtFault(good(120)),
  },
  {
    fault: `the provider ${provider} answers 429 and asks for a long pause`,
    lastsFor: 2,
    silentWithin: 25,
    rings: { [`Providers/${provider}/CallsThrottled`]: 3, [`Providers/${provider}/BreakerOpen`]: 6 },
    outages: [{ provider, trouble: 'throttled' }],
    arrange: fileAtFault(good(120)),
  },
  {
    fault: `the provider ${provider} grants a tenth of the configured rate (figures set by the drill)`,
    lastsFor: 20,
    rings: { [`Providers/${provider}/PaceLowered`]: 12 },
    silentWithin: 20,
    arrange: slower(provider),
  },
  {
    fault: `the canary of ${provider} is answered without data, records with data (figures set by the drill)`,
    lastsFor: 15,
    rings: { [`Providers/${provider}/CanaryRefused`]: 3 },
    arrange: distrustedCanary(provider),
  },
  {
    fault: `the credential of ${provider} is revoked`,
    lastsFor: 8,
    silentWithin: 18,
    rings: { [`Providers/${provider}/CredentialRefused`]: 4, [`Providers/${provider}/BreakerOpen`]: 7 },
    outages: [{ provider, trouble: 'unauthorized' }],
  },
]);

/** What the pipeline mends by itself, before anybody has to know. */
const UNNOTICED: readonly Drill[] = [
  {
    fault: 'the queue of the small lane is purged',
    lastsFor: 1,
    silentWithin: 30,
    rings: {},
    arrange: together(fileAtFault(good(50)), queuePurged('small', 0.2)),
  },
  {
    fault: 'a record kills its workers, time and again',
    lastsFor: 35,
    rings: { 'SmallLane/Records/DeadLetters': 35 },
    arrange: together(fileAtFault(['poison', 'good']), dlqEmptied('small')),
  },
];

/** What is in the way of the work: permissions, defects, records, queues and providers. */
export const WORK_DRILLS: readonly Drill[] = [
  ...DENIED,
  ...FAILING,
  ...DEFECTIVE,
  ...QUEUES,
  ...PROVIDERS,
  ...UNNOTICED,
];
